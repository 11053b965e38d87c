"""Context that hooks add to a session unasked: at its start, after a compaction, before an edit."""
