"""Stages that process candidates, one module per stage."""
