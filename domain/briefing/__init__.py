"""What a session is told about itself: at its start, after its conversation was compacted, before a file is changed."""
