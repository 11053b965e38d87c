"""Lifecycle of documents: pinning, snoozing, archiving and forgetting."""
