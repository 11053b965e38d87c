"""How the vault is doing."""
