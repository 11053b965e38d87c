"""Receipts: how an answer came about, in enough detail to explain each rank and to repeat the question."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

FORMAT = 1
LEVEL = 4  # compression level; level 9 is 3 % smaller and takes 50 % longer

_NONE: Mapping[str, Any] = MappingProxyType({})


# Named tuples instead of dataclasses: every cold start loads them, and JSON serializes them directly.


class RetrieverRank(NamedTuple):
    """Rank of a result in a retriever, from 1, and its raw score there."""

    rank: int
    score: float


class ReceiptItem(NamedTuple):
    """
    One result. ``legs`` holds its ranks in the retrievers that found it, ``parts`` their contributions to its
    relevance, and ``terms`` the terms of the score, from relevance and metadata (their sum is the score).
    ``confidence`` is the probability that it answers the question, ``None`` if no stage computed it.
    """

    document_id: int
    docid: str
    file: str
    start_line: int
    end_line: int
    score: float
    relevance: float
    legs: Mapping[str, RetrieverRank] = _NONE
    parts: Mapping[str, float] = _NONE
    terms: Mapping[str, float] = _NONE
    confidence: float | None = None


class ReceiptDrop(NamedTuple):
    """A candidate that a stage dropped."""

    document_id: int
    score: float
    reason: str


class ReceiptStage(NamedTuple):
    """One stage: candidates in and out, milliseconds, notes, and dropped candidates by reason."""

    name: str
    came_in: int
    went_out: int
    ms: float
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, int] = _NONE
    drops: tuple[ReceiptDrop, ...] = ()


class Receipt(NamedTuple):
    """
    Explanation of one answer.

    ``asked`` holds the parameters that differ from their defaults, ``hits`` the number of hits per retriever, and
    ``degraded`` the missing retrievers with the reasons. ``model`` names the embedding space, ``version`` the clawmem that answered.
    ``answered`` is the probability that any result answers the question, ``None`` if no stage computed it.
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
    """Return *receipt* as compressed JSON, with positions instead of field names; about 1 kB for ten results."""
    written = json.dumps([FORMAT, receipt], separators=(",", ":"), default=dict)
    return zlib.compress(written.encode(), LEVEL)


def unpack(content: bytes) -> Receipt:
    """
    Return the receipt that `pack` serialized.

    Raises:
        ValueError: it is damaged, or was written by a later clawmem.
    """
    try:
        version, fields = json.loads(zlib.decompress(content))
        if version == FORMAT:
            return _receipt(Receipt(*fields))
    except (zlib.error, TypeError, AttributeError) as error:
        raise ValueError(f"no receipt can be read from these {len(content)} bytes: {error}") from error
    raise ValueError(f"receipt format {version} is of another clawmem version")


def _receipt(read: Receipt) -> Receipt:
    """Return *read* with the types that JSON lacks restored."""
    items = (ReceiptItem(*row) for row in read.items)
    stages = (ReceiptStage(*row) for row in read.stages)
    return read._replace(items=tuple(map(_item, items)), stages=tuple(map(_stage, stages)))


def _item(read: ReceiptItem) -> ReceiptItem:
    return read._replace(legs={name: RetrieverRank(*found) for name, found in read.legs.items()})


def _stage(read: ReceiptStage) -> ReceiptStage:
    drops = tuple(ReceiptDrop(*row) for row in read.drops)
    return read._replace(notes=tuple(read.notes), drops=drops)
