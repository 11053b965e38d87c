"""MCP server: tools, resources and prompts of the Model Context Protocol."""
