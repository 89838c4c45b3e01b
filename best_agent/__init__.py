"""best-agent: time and memory of a change, measured against a baseline."""

__version__ = "0.1.0"
