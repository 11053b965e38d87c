"""Lexical and vector index in LanceDB tables, in a local folder or an object store; LanceDB is imported on use."""
