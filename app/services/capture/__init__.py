"""Capture of memories from sessions: reading transcripts at the end of a turn, and storing relevant memories."""
