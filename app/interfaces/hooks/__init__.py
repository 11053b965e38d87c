"""Hooks of clients: one event on standard input, one answer on standard output."""
