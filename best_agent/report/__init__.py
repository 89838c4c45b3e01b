"""Results for readers: terminal, JSON."""
