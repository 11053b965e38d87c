"""The ways to ask, each a row of stages."""
