"""Indexes outside of the records: which one serves, how it catches up, and how another takes its place."""
