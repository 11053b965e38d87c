"""The reference adapters: every port in plain Python, over dictionaries. Read these first."""
