"""all-MiniLM-L6-v2 in this process: downloaded and verified, converted once to int8 ONNX, and run without torch."""
