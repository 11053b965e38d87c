"""Rules for the text of forgotten notes: which bodies are recognised, and which older notes are the same note."""

from __future__ import annotations

from clawmem.domain.lifecycle.marks import sentences_of

LEAST_CHARACTERS = 40
_LEAST_SHARED = 0.5  # of the sentences of the older one


def is_recognisable(body: str) -> bool:
    """
    Whether a forgotten *body* is recognised in other files: it has 40 characters or more, runs of blanks counted as one.

    Empty notes and short templates are the same in many files that have nothing to do with each other.
    """
    return len(" ".join(body.split())) >= LEAST_CHARACTERS


def is_earlier_version(older: str, newer: str) -> bool:
    """Whether half of the sentences of the text *older*, or more of them, occur in the text *newer*."""
    said = sentences_of(older)
    return bool(said) and sum(one in newer for one in said) >= _LEAST_SHARED * len(said)
