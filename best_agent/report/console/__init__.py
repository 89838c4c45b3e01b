"""Terminal output; the only importer of rich."""
