"""The user's own code: targets, inputs, interpreters, workers."""
