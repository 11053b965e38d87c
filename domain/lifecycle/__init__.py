"""Life cycle of stored documents: pinned, snoozed, archived, forgotten."""
