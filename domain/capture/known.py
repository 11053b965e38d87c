"""Texts that a note states already, and whether the note still holds what it states."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.domain.retrieval.excerpts import later_update
from clawmem.domain.text.likeness import restating_line
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import words


class Statement(NamedTuple):
    """The 1-based line of a note that states a text, and the last later line that updates it."""

    line: int
    updated_by: int | None = None


def statement_of(text: str, body: str) -> Statement | None:
    """
    Return where *body* states *text*; ``None`` if it does not.

    A statement that no later line updates is preferred, because a fact that was outdated may have become true again.
    """
    subject = [word for word in words(text) if word not in STOP_WORDS and not any(map(str.isdigit, word))]
    outdated: Statement | None = None
    after = 0  # lines that were looked at
    lines = body.split("\n")
    while (found := restating_line(text, "\n".join(lines[after:]))) is not None:
        line = after + found
        start = sum(len(one) + 1 for one in lines[: line - 1])
        update = later_update(body, (start, start + len(lines[line - 1])), subject) if subject else None
        if update is None:
            return Statement(line)
        outdated = outdated or Statement(line, 1 + body.count("\n", 0, update[0]))
        after = line
    return outdated
