"""Pure scoring: pass@k, time@k, space@k, dual@k and their intervals."""
