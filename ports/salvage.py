from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Salvaged(NamedTuple):
    """
    What became of the records of a damaged vault.

    ``kept`` counts the rows of each table, ``lost`` those that could not be read, None where nobody knows how many.
    ``notes`` are documents whose text is lost, as ``collection/path``; of ``spoilt`` ones part of the text is damaged.
    """

    kept: Mapping[str, int]
    lost: Mapping[str, int | None]
    notes: tuple[str, ...] = ()
    spoilt: tuple[str, ...] = ()
