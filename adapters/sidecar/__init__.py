"""Vectors in memory-mapped files next to the vault, for vaults with too many fragments for ``vec0``."""
