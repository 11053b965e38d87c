"""What ``clawmem --backend acme`` finds: words in JSON files, vectors inside of the vault."""

from __future__ import annotations

import shutil
from pathlib import Path

from acme_memory.lexical_index import JsonLexicalIndex

from clawmem.ports.indexes import Backend, IndexPlace


def open_lexical(place: IndexPlace) -> JsonLexicalIndex:
    """The lexical index in the folder of *place*."""
    return JsonLexicalIndex(Path(place.folder))


def discard(place: IndexPlace) -> None:
    """Delete the folder of *place*, if there is one."""
    if Path(place.folder).exists():
        shutil.rmtree(place.folder)


BACKEND = Backend("acme", lexical=open_lexical, discard=discard)
