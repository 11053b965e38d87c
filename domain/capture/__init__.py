"""Capture of notes from conversations: extraction, kinds, handoffs and later contradictions."""
