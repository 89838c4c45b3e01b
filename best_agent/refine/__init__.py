"""The loop that improves a solution from measured feedback."""
