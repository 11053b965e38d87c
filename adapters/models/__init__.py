"""Models: static vectors, ONNX and GGUF files in this process, and models behind HTTP."""
