"""Where proposals come from: a model, a command, a folder, the rules."""
