"""The names of a note: its title, its file name, and the aliases that it declares."""

from __future__ import annotations

from clawmem.domain.documents.title import EXTENSION
from clawmem.ports.records import Document


def file_name(path: str) -> str:
    """Return the last part of *path* without ``.md`` or ``.txt``."""
    return EXTENSION.sub("", path.rstrip("/").rpartition("/")[2])


def document_names(document: Document) -> tuple[str, ...]:
    """Return the title, the file name and the aliases of *document*, each once, whatever the case of its letters."""
    names: dict[str, str] = {}
    for name in (document.title, file_name(document.path), *document.aliases):
        names.setdefault(name.casefold(), name)
    return tuple(filter(None, names.values()))
