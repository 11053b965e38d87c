"""all-MiniLM-L6-v2 in process: fetched and checked, written once as int8 ONNX, run without torch."""
