"""Pure judging: are outputs equal, what is the verdict, which cells are passed."""
