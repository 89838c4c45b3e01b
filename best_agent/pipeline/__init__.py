"""Puts the layers together: from a task and a source to a verdict."""
