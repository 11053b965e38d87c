"""Bundles and other exports, and the vaults that are made from them."""
