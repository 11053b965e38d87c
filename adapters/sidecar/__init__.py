"""Vectors in memory-mapped files next to the vault, for vaults with too many fragments for an exact scan of the vault."""
