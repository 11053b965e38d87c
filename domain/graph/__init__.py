"""Walking the relations between documents."""
