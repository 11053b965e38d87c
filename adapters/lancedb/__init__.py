"""Words and vectors in LanceDB tables, in a local folder or in an object store; the engine is imported when used."""
