"""Rules: one file per rule; `registry` lists them by hand."""
