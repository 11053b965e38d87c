"""Type of an entry point in the group ``clawmem.backends``: the engines that store a vault's indexes."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.vector_index import VectorIndex

GROUP = "clawmem.backends"


class IndexPlace(NamedTuple):
    """
    Storage location of one generation of one index.

    ``folder`` is next to the vault file and is used by this generation only; it may not exist yet. ``name``
    is unique among all vaults and generations, for engines that store their data elsewhere. ``options`` come
    from the config file, as text.
    """

    folder: str
    name: str
    read_only: bool = False
    options: Mapping[str, str] = MappingProxyType({})


OpenLexical = Callable[[IndexPlace], LexicalIndex]
OpenVectors = Callable[[IndexPlace], VectorIndex]
Discard = Callable[[IndexPlace], None]


class Backend(NamedTuple):
    """
    Engine factories by index role. The vault file's own index serves a role that is ``None``.

    Opening creates a missing index, empty and without a marker, unless ``read_only``. It raises
    `IndexDamaged` for an unusable index and `IndexUnavailable` for an unreachable one. ``discard`` deletes a
    generation permanently, regardless of its state; deleting a missing generation is not an error.
    """

    name: str
    lexical: OpenLexical | None = None
    vectors: OpenVectors | None = None
    discard: Discard = lambda place: None


class Capability(StrEnum):
    """Guarantee that a backend may declare. A canonical backend declares all of them."""

    PREFIX = "prefix"  # a term can match every word that begins with it
    PHRASE = "phrase"  # a term with spaces matches only adjacent words
    BM25 = "bm25"  # scores are the formula of `clawmem.ports.lexical_index` over the present entries
    STEMMING = "stemming"  # inflections of an English word match each other
    EXACT = "exact"  # vector search is exact at any number of vectors
    TRANSACTIONS = "transactions"  # records and indexes change atomically
    DURABILITY = "durability"  # acknowledged writes survive the end of the process


ALL = frozenset(Capability)
