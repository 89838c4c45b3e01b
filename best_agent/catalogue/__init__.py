"""Tasks: locating, loading, validating, and importing other task sets."""
