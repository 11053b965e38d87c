"""What becomes of documents after they were written: pinned, snoozed, archived, forgotten."""
