"""What an entry point of the group ``clawmem.backends`` names: the engines that keep a vault's indexes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.vector_index import VectorIndex

GROUP = "clawmem.backends"


class IndexPlace(NamedTuple):
    """
    Where one generation of one index may live.

    ``folder`` is beside the vault file and this generation's alone; it need not exist. ``name`` is unique
    among all vaults and generations, for engines that keep their data elsewhere. ``options`` are those of
    the config file, as text.
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
    Engines by role. What is ``None`` the vault does itself, inside its own file.

    Opening makes what is missing, empty and without a marker, unless ``read_only``. It raises `IndexDamaged` for what
    cannot be used and `IndexUnavailable` for what cannot be reached. ``discard`` deletes a generation for good,
    whatever its state; one that is not there is no error.
    """

    name: str
    lexical: OpenLexical | None = None
    vectors: OpenVectors | None = None
    discard: Discard = lambda place: None
