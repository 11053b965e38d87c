"""What a backend can do, as data: a contract test that needs more is deselected by name, never skipped in silence."""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """One promise a backend may declare. A canonical backend lacks none."""

    PREFIX = "prefix"  # a term can stand for every word that begins with it
    PHRASE = "phrase"  # a term with spaces matches only adjacent words
    STEMMING = "stemming"  # English inflections meet
    EXACT = "exact"  # the nearest vectors, whatever their number, are the true ones
    TRANSACTIONS = "transactions"  # records and indexes change together or not at all
    DURABILITY = "durability"  # what is acknowledged survives the process


ALL = frozenset(Capability)
