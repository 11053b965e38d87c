"""The lexical index of large vaults, in tantivy; records and vectors stay where they are."""
