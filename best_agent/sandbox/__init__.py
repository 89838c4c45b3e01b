"""Running untrusted programs: isolation, the measured call, meters."""
