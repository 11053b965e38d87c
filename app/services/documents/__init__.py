"""Documents by name."""
