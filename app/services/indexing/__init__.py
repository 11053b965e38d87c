"""From files to records, words and vectors."""
