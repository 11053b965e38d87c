"""What a session is told without asking: at its start, after a compaction, before an edit."""
