"""Readers of files that are attached to notes: PDF, Word, web pages, canvases; pictures and recordings by name."""
