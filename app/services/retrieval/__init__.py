"""Retrieval: from a question to ranked and explained results."""
