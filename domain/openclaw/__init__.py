"""Policies of OpenClaw's own memory: chunks of its files, hybrid ranking, flush before compaction, pruning."""
