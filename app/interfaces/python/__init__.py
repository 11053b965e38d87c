"""Python API."""
