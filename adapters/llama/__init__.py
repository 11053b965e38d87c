"""GGUF models run by llama.cpp in this process, without a server: package ``xllamacpp``."""
