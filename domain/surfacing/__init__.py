"""Rules for context surfacing: when to add context to a prompt, which candidates, how much, and in which form."""
