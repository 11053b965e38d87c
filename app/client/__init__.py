"""Client of a running server: where it is announced, and how a request reaches it."""
