"""What sessions leave behind: reading their transcripts at the end of a turn, and storing what is worth it."""
