"""Knowledge derived from notes: entities, triples and enrichments, with checks of what a model proposes."""
