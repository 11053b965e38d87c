"""Reader for the header of a GGUF file; it does not need llama.cpp."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_ENTRIES = 1 << 20  # a header that claims more entries is damaged
_ALIGNMENT = 32

# struct's format letters for the numeric types of values, except strings and arrays.
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9

_RANK = 4  # pooling type of rerankers in llama.cpp: one score per pair of texts
_POOLED = frozenset({1, 2, 3})  # mean, first, last: one vector per text
_RANKING_HEAD = "cls."
_ENCODERS = ("bert", "embedding")  # parts of the names of architectures that only produce vectors


class Role(StrEnum):
    """The task of a model."""

    EMBED = "embed"
    GENERATE = "generate"
    RERANK = "rerank"


class NotGguf(Exception):
    """The file has another format or is damaged; the message gives the reason."""


class Header(NamedTuple):
    """
    The fields of a GGUF header that clawmem uses.

    ``context`` is the context length in tokens that the model was trained for, ``width`` the length of its
    vectors. ``title`` is the name given by its authors, often empty.
    """

    architecture: str
    title: str
    role: Role
    context: int
    width: int


def read_header(path: Path) -> Header:
    """
    Return the header of the file at *path*.

    Raises:
        NotGguf: the file has another format, is damaged, or is truncated.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise NotGguf("it is not a GGUF file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            try:
                return _header(_Reader(content))
            except (struct.error, UnicodeDecodeError, KeyError, IndexError, OverflowError) as error:
                raise NotGguf("its header is damaged, or the file was cut off") from error


class _Reader:
    """Sequential reader of the values of a GGUF header."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content = content
        self.place = len(_MAGIC)

    def number(self, letter: str) -> Any:
        (value,) = struct.unpack_from(f"<{letter}", self.content, self.place)
        self.place += struct.calcsize(f"<{letter}")
        return value

    def count(self) -> int:
        count: int = self.number("Q")
        if count > _MOST_ENTRIES:
            raise IndexError(count)
        return count

    def text(self) -> str:
        length = self.number("Q")
        if self.place + length > len(self.content):
            raise IndexError(length)
        raw = self.content[self.place : self.place + length]
        self.place += length
        return raw.decode("utf-8")

    def value(self, kind: int) -> Any:
        """Read a number or string; skip an array and return None, because no array is needed here."""
        if kind == _TEXT:
            return self.text()
        if kind == _ARRAY:
            return self._skip_array()
        return self.number(_NUMBERS[kind])

    def _skip_array(self) -> None:
        kind, count = self.number("I"), self.count()
        if kind in _NUMBERS:
            self.place += count * struct.calcsize(f"<{_NUMBERS[kind]}")
            return
        for _ in range(count):
            if kind == _TEXT:
                self.place += 8 + struct.unpack_from("<Q", self.content, self.place)[0]
            else:
                self.value(kind)


def _header(reader: _Reader) -> Header:
    version = reader.number("I")
    if version not in _VERSIONS:
        raise NotGguf(f"its format is {version}, not one of {_VERSIONS}")
    tensors, entries = reader.count(), reader.count()
    facts = {reader.text(): reader.value(reader.number("I")) for _ in range(entries)}
    offsets = dict(_tensor(reader) for _ in range(tensors))
    _refuse_cut_off(reader, facts, offsets)
    architecture = str(facts["general.architecture"])
    width = facts.get(f"{architecture}.embedding_length_out") or facts[f"{architecture}.embedding_length"]
    context = facts.get(f"{architecture}.context_length", 0)
    title = str(facts.get("general.name", ""))
    return Header(architecture, title, _role(architecture, facts, offsets), int(context), int(width))


def _tensor(reader: _Reader) -> tuple[str, int]:
    """Return the name of a tensor, and its offset in the data section."""
    name, dimensions = reader.text(), reader.number("I")
    reader.place += 8 * dimensions + 4  # skips shape and type
    return name, reader.number("Q")


def _refuse_cut_off(reader: _Reader, facts: Mapping[str, Any], offsets: Mapping[str, int]) -> None:
    # The end of the last tensor depends on its type, so only its start is checked; llama.cpp detects the
    # rest.
    alignment = facts.get("general.alignment") or _ALIGNMENT
    begin = -(-reader.place // alignment) * alignment
    if begin + max(offsets.values(), default=0) >= len(reader.content):
        raise NotGguf(f"it was cut off after {len(reader.content)} bytes")


def _role(architecture: str, facts: Mapping[str, Any], offsets: Mapping[str, int]) -> Role:
    pooling = facts.get(f"{architecture}.pooling_type")
    if pooling == _RANK or any(name.startswith(_RANKING_HEAD) for name in offsets):
        return Role.RERANK
    if pooling in _POOLED or any(part in architecture for part in _ENCODERS):
        return Role.EMBED
    return Role.GENERATE
