"""Commands that run other interfaces in their process: hooks, MCP, the server and the watcher."""
