"""Briefing of a session: at its start, after a compaction, and before a file is changed."""
