"""What is learned from notes: how a model's words become facts, and which of them are let in."""
