"""Words, names, dates and likeness of texts: the one place that knows about languages."""
