"""The lexical index of large vaults in tantivy; records and vectors stay in the vault."""
