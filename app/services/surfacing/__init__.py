"""From a prompt to the block that it carries."""
