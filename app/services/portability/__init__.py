"""Bundles and other exports, vaults made from bundles, and imported memories of other tools."""
