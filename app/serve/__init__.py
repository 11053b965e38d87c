"""Server process that keeps a vault open for all clients: discovery, start and shutdown."""
