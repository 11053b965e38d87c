"""The graph of relations between documents: construction, traversal and export."""
