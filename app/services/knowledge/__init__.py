"""Knowledge about documents: notes, entities, facts and links."""
