from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class SalvageReport(NamedTuple):
    """
    Report on the records saved from a damaged vault.

    ``kept`` counts the rows saved from each table, ``lost`` the rows that could not be read, None if their
    number is unknown. ``notes`` are documents whose text is lost, as ``collection/path``; ``spoilt`` are
    documents whose text is partly damaged. ``nameless`` is the number of texts that were left out, because the names of
    their documents are lost.
    """

    kept: Mapping[str, int]
    lost: Mapping[str, int | None]
    notes: tuple[str, ...] = ()
    spoilt: tuple[str, ...] = ()
    nameless: int = 0
