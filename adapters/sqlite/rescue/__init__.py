"""Salvage of a damaged vault: reads its pages without SQLite and writes a new vault."""
