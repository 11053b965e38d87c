"""Conformance tests for other implementations of the policies."""
