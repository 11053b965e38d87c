"""Rules for the text of forgotten notes: recognisable bodies and earlier versions of the same note."""

from __future__ import annotations

from clawmem.domain.lifecycle.marks import sentences_of

LEAST_CHARACTERS = 40
_LEAST_SHARED = 0.5  # of the sentences of the older text


def is_recognisable(body: str) -> bool:
    """
    Whether *body* of a forgotten note identifies it in other files: at least 40 characters, blanks collapsed.

    Empty notes and short templates are the same in many unrelated files.
    """
    return len(" ".join(body.split())) >= LEAST_CHARACTERS


def is_earlier_version(older: str, newer: str) -> bool:
    """Whether at least half of the sentences of *older* occur in *newer*."""
    said = sentences_of(older)
    return bool(said) and sum(one in newer for one in said) >= _LEAST_SHARED * len(said)
