"""Retrievers: each searches one index for candidates."""
