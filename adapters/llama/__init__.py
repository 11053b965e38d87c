"""GGUF models that llama.cpp runs in this process, without a server (package ``xllamacpp``)."""
