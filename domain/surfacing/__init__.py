"""What is put before a model with a prompt: whether, which of it, how much, and in which words."""
