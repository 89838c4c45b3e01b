"""Results of models over task sets: reading, storing, scoring."""
