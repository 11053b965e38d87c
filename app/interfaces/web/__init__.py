"""The local page: what the memory holds, what prompts received and why, and buttons that change it."""
