"""Stdlib-only code that runs in the user's interpreter (CPython 3.9 to 3.14)."""
