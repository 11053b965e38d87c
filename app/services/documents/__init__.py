"""Access to documents: addresses, references, successions and timelines."""
