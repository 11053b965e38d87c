"""
Capabilities of a backend, declared as data.

A contract test that needs a missing capability is skipped with a reason that names the capability.
"""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """Guarantee that a backend may declare. A canonical backend declares all of them."""

    PREFIX = "prefix"  # a term can match every word that begins with it
    PHRASE = "phrase"  # a term with spaces matches only adjacent words
    STEMMING = "stemming"  # inflections of an English word match each other
    EXACT = "exact"  # vector search is exact at any number of vectors
    TRANSACTIONS = "transactions"  # records and indexes change atomically
    DURABILITY = "durability"  # acknowledged writes survive the end of the process


ALL = frozenset(Capability)
