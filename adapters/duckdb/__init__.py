"""Statistics over a whole vault in DuckDB, loaded through Arrow. Requires the extra ``duckdb``."""
