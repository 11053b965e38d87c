"""The interfaces: command line, hooks, MCP and REST. Each parses, calls one operation and renders."""
