"""Notes that moved, some of them edited: which new file is which note whose file is gone."""

from collections.abc import Iterable
from posixpath import basename
from typing import NamedTuple

from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.likeness import edit_similarity
from clawmem.ports.records import Document, SourceFile

LEAST_MOVED = 0.6  # share of the phrases of a note that a new file has, if it is the note


class PossibleMove(NamedTuple):
    """A note whose file is gone, a new file with the hash of its text, and the likeness of both texts."""

    likeness: float
    note: Document
    file: SourceFile
    hash: str


def changed_at(file: SourceFile) -> str:
    """Return the time of change of *file*."""
    return iso_utc(file.stamp.mtime_ns // 1_000_000)


def nearness(note: Document, file: SourceFile) -> tuple[bool, bool, float]:
    """Return whether *note* has the time of *file*, which a move keeps, and its name, and the likeness of their paths."""
    is_namesake = basename(note.path) == basename(file.path)
    return note.modified_at == changed_at(file), is_namesake, edit_similarity(note.path, file.path)


def moved_notes(possible: Iterable[PossibleMove]) -> dict[str, Document]:
    """
    Return the notes that moved by the path of their file, the likest first.

    A note or a file that has several equally like counterparts with different texts has not moved.
    """
    moves = [move for move in possible if move.likeness >= LEAST_MOVED]
    moves.sort(key=lambda move: (move.likeness, nearness(move.note, move.file)), reverse=True)
    moved = {}
    while moves:
        best = moves[0]
        others = [move for move in moves if move.file is best.file or move.note is best.note]
        if len({(move.hash, move.note.hash) for move in others if move.likeness == best.likeness}) == 1:
            moved[best.file.path] = best.note
        moves = [move for move in moves if move.file is not best.file and move.note is not best.note]
    return moved
