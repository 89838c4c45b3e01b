"""Frozen values that every layer speaks in: tasks, programs, runs, measurements, verdicts, scores."""
