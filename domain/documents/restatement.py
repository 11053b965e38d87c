"""Detection of a text that a note states already."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.documents.likeness import likeness
from clawmem.domain.documents.tokens import words

# Share of three-word phrases: one other word in a sentence of fifteen words, which is often the news, is below it.
LEAST_LIKENESS = 0.85
# Signs that change what a text states: "C++", "-5 degrees", "50 €", "x < 5", "#3".
_SIGN = re.compile(r"[+<>=%&@€$£¥°±×÷^]|#(?=\w)|(?<!\w)[-−](?=\d)")
_QUOTE_MARK = re.compile(r"^[ \t]*>[ \t>]*|^[ \t]*\+[ \t]", re.MULTILINE)  # of a quotation or a list
_MOST_LONGER = 2  # a part of more than twice the length states more


def restating_line(text: str, body: str) -> int | None:
    """
    Return the 1-based line where *body* states *text*, nearly in the same words; ``None`` if it does not.

    Compared are the whole body, its paragraphs and its lines. Punctuation, blanks and capitals do not count; every number
    and every sign such as ``+``, ``<`` or ``€`` must be the same, because a note with another one is news.
    """
    asked, signs = words(text), _signs(text)
    for line, part in _parts(body):
        if len(text) > _MOST_LONGER * len(part) or len(part) > _MOST_LONGER * len(text) + len("- [ ] "):
            continue
        if _signs(part) != signs:
            continue
        found = words(part)
        if found == asked and (asked or part.strip() == text.strip()):
            return line
        if _numbers(found) == _numbers(asked) and likeness(text, part) >= LEAST_LIKENESS:
            return line
    return None


def _parts(body: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, paragraphs and at last the whole of *body*, with the line where each begins."""
    lines, first = body.split("\n"), 1
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            yield number, line
        else:
            if number - first > 1:
                yield first, "\n".join(lines[first - 1 : number - 1])
            first = number + 1
    yield next((number for number, line in enumerate(lines, 1) if line.strip()), 1), body


def _numbers(found: list[str]) -> list[str]:
    return sorted(word for word in found if any(map(str.isdigit, word)))


def _signs(text: str) -> list[str]:
    return sorted(_SIGN.findall(_QUOTE_MARK.sub("", text)))
