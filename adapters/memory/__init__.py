"""Reference implementation of every port in plain Python over dictionaries. Read these adapters first."""
