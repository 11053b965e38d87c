"""Chunks of a memory file: whole lines up to a size, with an overlap of whole lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clawmem.ports.records import Fragment, FragmentKind

CHARS_PER_TOKEN = 4
CHUNK_TOKENS = 400
OVERLAP_TOKENS = 80


class Chunk(NamedTuple):
    """Text of consecutive lines of a file, from the character ``start``; lines count from 1, and ``end_line`` is included."""

    start_line: int
    end_line: int
    text: str
    start: int


class _Piece(NamedTuple):
    """A line, or a part of a line that is longer than a chunk."""

    line: int
    text: str
    start: int

    @property
    def size(self) -> int:
        return len(self.text) + 1  # with its line break


def chunked(text: str, tokens: int = CHUNK_TOKENS, overlap: int = OVERLAP_TOKENS) -> list[Chunk]:
    """
    Return the chunks of *text*; none if it has only blanks.

    A chunk has at most *tokens* tokens of 4 characters, line breaks included. It begins with the last whole lines
    of the chunk before it, as many as fit into *overlap* tokens. A line that is longer than a chunk is cut.

    Raises:
        ValueError: *tokens* is not positive, or *overlap* is negative or not less than *tokens*.
    """
    if tokens <= 0 or not 0 <= overlap < tokens:
        raise ValueError(f"A chunk of {tokens} tokens cannot overlap by {overlap}.")
    most, shared = tokens * CHARS_PER_TOKEN, overlap * CHARS_PER_TOKEN
    chunks: list[Chunk] = []
    kept: list[_Piece] = []
    size = 0
    for piece in _pieces(text, most):
        if kept and size + piece.size > most:
            chunks.append(_chunk(kept))
            kept = _tail(kept, min(shared, most - piece.size))
            size = sum(one.size for one in kept)
        kept.append(piece)
        size += piece.size
    if kept:
        chunks.append(_chunk(kept))
    return [chunk for chunk in chunks if chunk.text.strip()]


def chunk_fragments(
    body: str, first_line: int = 1, *, tokens: int = CHUNK_TOKENS, overlap: int = OVERLAP_TOKENS
) -> list[Fragment]:
    """
    Return the chunks of *body*, whose first line is *first_line* of its file, as passages without context.

    Fragment 0 is the document; it has no text, so that only chunks are searched and embedded.

    Raises:
        ValueError: As `chunked`.
    """
    before = first_line - 1
    last = before + body.count("\n") + 1
    return [
        Fragment(0, FragmentKind.DOCUMENT, first_line, last, 0, 0, ""),
        *(
            Fragment(
                seq=seq,
                kind=FragmentKind.PASSAGE,
                start_line=before + chunk.start_line,
                end_line=before + chunk.end_line,
                start=chunk.start,
                end=chunk.start + len(chunk.text),
                text=chunk.text,
            )
            for seq, chunk in enumerate(chunked(body, tokens, overlap), start=1)
        ),
    ]


def _pieces(text: str, most: int) -> Iterator[_Piece]:
    width, begin = most - 1, 0
    for number, line in enumerate(text.split("\n"), start=1):
        for start in range(0, max(1, len(line)), width):
            yield _Piece(number, line[start : start + width], begin + start)
        begin += len(line) + 1


def _tail(pieces: Sequence[_Piece], most: int) -> list[_Piece]:
    """Return the last of *pieces* that have at most *most* characters together."""
    size, first = 0, len(pieces)
    while first and size + pieces[first - 1].size <= most:
        first -= 1
        size += pieces[first].size
    return list(pieces[first:])


def _chunk(pieces: Sequence[_Piece]) -> Chunk:
    text = "\n".join(piece.text for piece in pieces)
    return Chunk(pieces[0].line, pieces[-1].line, text, pieces[0].start)
