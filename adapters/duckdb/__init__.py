"""Figures over a whole vault: DuckDB, fed through Arrow. Needs the extra ``duckdb``."""
