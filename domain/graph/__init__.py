"""Graph search along the relations between documents."""
