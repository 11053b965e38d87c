"""Memories of other tools as documents of the vault."""
