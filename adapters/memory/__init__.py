"""Reference implementations of a clock, indexes and models in plain Python. Read these adapters first."""
