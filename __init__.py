"""clawmem: a memory for AI agents that people can trust."""
