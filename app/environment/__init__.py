"""This machine: paths, private files and processes."""
