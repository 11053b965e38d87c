"""Settings of AI agents: their hooks, MCP servers and plugins."""
