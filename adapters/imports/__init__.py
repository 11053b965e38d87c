"""Readers of the stores of other memory tools, which are opened for reading only."""
