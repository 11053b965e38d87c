"""What is known of documents beside their words: notes, names, links."""
