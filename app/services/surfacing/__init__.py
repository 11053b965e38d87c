"""Context surfacing: build the context block that is added to a prompt."""
