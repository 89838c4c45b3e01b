"""Rules for Python, one file each."""
