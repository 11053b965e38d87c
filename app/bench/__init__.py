"""Retrieval benchmarks on judged collections."""
