"""The composition root: the only package of the application that imports adapters."""
