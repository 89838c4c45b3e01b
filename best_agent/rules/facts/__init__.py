"""What one pass over a syntax tree learns, and what rules may ask of it."""
