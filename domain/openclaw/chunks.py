"""Chunks of a memory file: whole lines up to a size, with an overlap of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
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
    """A line, or a part of a line that is longer than a chunk, by the characters of the text."""

    line: int
    start: int
    end: int


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
    runs: list[list[_Piece]] = [[]]
    for piece in _pieces(text, most - 1):
        run = runs[-1]
        if run and piece.end + 1 - run[0].start > most:
            room = min(shared, most - (piece.end + 1 - piece.start))
            runs.append([shorter for shorter in run if run[-1].end + 1 - shorter.start <= room])
        runs[-1].append(piece)
    chunks = [
        Chunk(run[0].line, run[-1].line, text[run[0].start : run[-1].end], run[0].start) for run in runs
    ]
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


def _pieces(text: str, width: int) -> Iterator[_Piece]:
    begin = 0
    for number, line in enumerate(text.split("\n"), start=1):
        for start in range(0, max(1, len(line)), width):
            yield _Piece(number, begin + start, begin + min(start + width, len(line)))
        begin += len(line) + 1
