"""Models behind HTTP: a llama.cpp server of one's own, or a provider."""
