"""What is kept of how an answer came about: enough to say why each document stood there, and to ask again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from clawmem.ports.named_tuple import NamedTuple

FORMAT = 1
LEVEL = 4  # of compression; 9 is 3 % smaller and takes half as long again

_NONE: Mapping[str, Any] = MappingProxyType({})


# Tuples, not dataclasses: every cold question loads them, and they are written as they are.


class LegRank(NamedTuple):
    """What a leg said of an answer: at which rank, from 1, and with which score of its own."""

    rank: int
    score: float


class ReceiptItem(NamedTuple):
    """
    One answer. ``legs`` holds the legs that found it, ``parts`` what each was worth to its relevance, ``terms``
    what the ranking policy made of relevance and metadata (their sum is the score). ``confidence`` is the
    probability that it answers, ``None`` where nobody judged.
    """

    document_id: int
    docid: str
    file: str
    start_line: int
    end_line: int
    score: float
    relevance: float
    legs: Mapping[str, LegRank] = _NONE
    parts: Mapping[str, float] = _NONE
    terms: Mapping[str, float] = _NONE
    confidence: float | None = None


class ReceiptDrop(NamedTuple):
    """A candidate that a stage let go."""

    document_id: int
    score: float
    reason: str


class ReceiptStage(NamedTuple):
    """One stage: candidates in and out, milliseconds, what it wanted said, and what it let go by reason."""

    name: str
    came_in: int
    went_out: int
    ms: float
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, int] = _NONE
    drops: tuple[ReceiptDrop, ...] = ()


class Receipt(NamedTuple):
    """
    How one answer came about.

    ``asked`` are the parameters that were not the usual ones, ``hits`` how many each leg found, ``degraded``
    what was missing and why. ``model`` names the space of the vectors, ``version`` the clawmem that answered,
    ``answered`` is the probability that anything that was found answers, ``None`` where nobody judged.
    """

    verb: str
    question: str
    asked_at: str
    took_ms: float
    version: str = ""
    model: str | None = None
    asked: Mapping[str, Any] = _NONE
    items: tuple[ReceiptItem, ...] = ()
    stages: tuple[ReceiptStage, ...] = ()
    hits: Mapping[str, int] = _NONE
    degraded: Mapping[str, str] = _NONE
    answered: float | None = None


def pack(receipt: Receipt) -> bytes:
    """*receipt* as compressed JSON, with positions instead of field names; about 1 kB for ten answers."""
    written = json.dumps([FORMAT, receipt], separators=(",", ":"), default=dict)
    return zlib.compress(written.encode(), LEVEL)


def unpack(content: bytes) -> Receipt:
    """
    The receipt that `pack` wrote.

    Raises:
        ValueError: it is damaged, or was written by a later clawmem.
    """
    try:
        version, fields = json.loads(zlib.decompress(content))
        if version == FORMAT:
            return _receipt(Receipt(*fields))
    except (zlib.error, TypeError, AttributeError) as error:
        raise ValueError(f"no receipt can be read from these {len(content)} bytes: {error}") from error
    raise ValueError(f"format {version} is of another clawmem")


def _receipt(read: Receipt) -> Receipt:
    """The same with the kinds that JSON does not know."""
    items = (ReceiptItem(*row) for row in read.items)
    stages = (ReceiptStage(*row) for row in read.stages)
    return read._replace(items=tuple(map(_item, items)), stages=tuple(map(_stage, stages)))


def _item(read: ReceiptItem) -> ReceiptItem:
    return read._replace(legs={name: LegRank(*found) for name, found in read.legs.items()})


def _stage(read: ReceiptStage) -> ReceiptStage:
    drops = tuple(ReceiptDrop(*row) for row in read.drops)
    return read._replace(notes=tuple(read.notes), drops=drops)
