"""The ``lancedb`` backend: lexical and vector index in LanceDB tables; records stay in the vault."""

import shutil
from importlib import import_module
from threading import Lock
from typing import Any

from clawmem.ports.errors import ExtraMissing
from clawmem.ports.indexes import Backend, IndexPlace

# The modules of LanceDB import each other, so a second thread would see them half initialized.
_IMPORTING = Lock()


def _module(name: str) -> Any:
    """Import a module of this package. Raises `ExtraMissing` if LanceDB is not installed."""
    try:
        with _IMPORTING:
            return import_module(f"clawmem.adapters.lancedb.{name}")
    except ModuleNotFoundError as error:
        raise ExtraMissing("lancedb", extra="lancedb") from error


def discard(place: IndexPlace) -> None:
    """Delete a generation of either index permanently, even if it is damaged."""
    if place.options.get("uri"):
        _module("derived_index").store_at(place).discard()
    else:
        shutil.rmtree(place.folder, ignore_errors=True)


BACKEND = Backend(
    "lancedb",
    lexical=lambda place: _module("lexical_index").LanceLexicalIndex(place),
    vectors=lambda place: _module("vector_index").LanceVectorIndex(place),
    discard=discard,
)
