"""Settings: the whole configuration for commands, and single lines of it for hooks."""
