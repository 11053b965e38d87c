"""What clawmem does, one package a room; given ports, never fetching an adapter."""
