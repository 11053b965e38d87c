"""The graph between documents: making it, and following it."""
