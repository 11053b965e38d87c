"""Vectors in memory-mapped files beside the vault: for vaults of more fragments than ``vec0`` is quick for."""
