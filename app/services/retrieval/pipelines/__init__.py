"""The pipelines, each a sequence of stages."""
