"""Indexing: from files to records, lexical entries and vectors."""
