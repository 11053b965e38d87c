"""Chunks of a memory file: whole lines up to a size, with an overlap of whole lines."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.ports.records import Fragment, FragmentKind

CHARS_PER_TOKEN = 4
CHUNK_TOKENS = 400
OVERLAP_TOKENS = 80


class _Piece(NamedTuple):
    """A line, or a part of a line that is longer than a chunk, by the characters of the text."""

    line: int
    start: int
    end: int


def chunk_fragments(
    body: str, first_line: int = 1, *, tokens: int = CHUNK_TOKENS, overlap: int = OVERLAP_TOKENS
) -> list[Fragment]:
    """
    Return the chunks of *body*, whose first line is *first_line* of its file, as passages without context.

    A chunk has at most *tokens* tokens of 4 characters, line breaks included. It begins with the last whole lines
    of the chunk before it, as many as fit into *overlap* tokens. A line that is longer than a chunk is cut. Chunks of
    blanks are left out. Fragment 0 is the document; it has no text, so that only chunks are searched and embedded.

    Raises:
        ValueError: *tokens* is not positive, or *overlap* is negative or not less than *tokens*.
    """
    if tokens <= 0 or not 0 <= overlap < tokens:
        raise ValueError(f"A chunk of {tokens} tokens cannot overlap by {overlap}.")
    most, shared = tokens * CHARS_PER_TOKEN, overlap * CHARS_PER_TOKEN
    pieces, begin = list[_Piece](), 0
    for number, line in enumerate(body.split("\n"), start=first_line):
        for start in range(0, max(1, len(line)), most - 1):
            pieces.append(_Piece(number, begin + start, begin + min(start + most - 1, len(line))))
        begin += len(line) + 1
    runs: list[list[_Piece]] = [[]]
    for piece in pieces:
        run = runs[-1]
        if run and piece.end + 1 - run[0].start > most:
            room = min(shared, most - (piece.end + 1 - piece.start))
            runs.append([shorter for shorter in run if run[-1].end + 1 - shorter.start <= room])
        runs[-1].append(piece)
    fragments = [Fragment(0, FragmentKind.DOCUMENT, first_line, pieces[-1].line, 0, 0, "")]
    for run in runs:
        first, last = run[0], run[-1]
        text = body[first.start : last.end]
        if text.strip():
            fragments.append(
                Fragment(
                    len(fragments), FragmentKind.PASSAGE, first.line, last.line, first.start, last.end, text
                )
            )
    return fragments
