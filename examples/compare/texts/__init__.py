"""Texts, for the example."""
