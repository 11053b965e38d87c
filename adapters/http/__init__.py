"""Models behind HTTP: a local llama.cpp server or a provider."""
