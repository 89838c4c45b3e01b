"""Other people's benchmarks, read as their public checkouts are."""
