"""What can be read of a damaged vault without SQLite's help, and a new vault made of it."""
