"""Installation of clawmem in clients, and its removal."""
