"""Secrets that a text shows a second time, where nothing announces them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_values import Span, mixes_kinds

_LONG = 12
_SHORTEST = 6
_WORD = Pattern(r"[^\s\"'`<>|,;=()\[\]{}«»„“”]{6,300}")
_AROUND = ".,:;*_…()[]{}<>\"'`«»„“”"


def repeats(text: str, found: Sequence[Span]) -> Iterator[tuple[Span, int]]:
    """
    Find the other words of *text* that equal a secret of *found*; with each the index of that secret.

    A short word of letters alone is not searched for: elsewhere it is an ordinary word.
    """
    values = {text[start:end].strip(_AROUND): number for number, (start, end) in enumerate(found)}
    telling = {value: number for value, number in values.items() if _is_telling(value)}
    if not telling:
        return
    for match in _WORD.compiled.finditer(text):
        word = match[0].strip(_AROUND)
        value = word if word in telling else word.rstrip("!?")
        if value in telling:
            start = match.start() + match[0].index(value)
            yield (start, start + len(value)), telling[value]


def _is_telling(value: str) -> bool:
    return len(value) >= _LONG or (len(value) >= _SHORTEST and mixes_kinds(value))
