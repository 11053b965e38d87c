"""Detection of payment card numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.security.patterns import Pattern

_CARD_LENGTHS = range(13, 20)
_CARD = Pattern(
    r"(?<![\w.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3[47]\d{2}([ -]?)\d{6}\2\d{5}|3[068]\d{2}([ -]?)\d{6}\3\d{4})(?![\w-]|\.\d)"
)
_IN_FOURS = Pattern(r"\d{4}[ -]?\d{4}")
_CARD_BEGINNING = Pattern(r"4|5[1-5]|2[2-7]|6(?:011|4|5)|3[47]|3[068]")
_RARER_BEGINNING = Pattern(r"35|62|50|5[678]|63|67")  # JCB, UnionPay, Maestro: only next to a word for cards
_CARD_WORDS = ("card", "visa", "amex", "mastercard", "karte", "tarjeta", "carte", "cc", "pan")


def cards(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of card numbers in *text*: valid check digit, and digit groups or a card word nearby."""
    if not _IN_FOURS.compiled.search(text):
        return
    for match in _CARD.compiled.finditer(text):
        if _is_card(match, text):
            yield match.span()


def _is_card(match: re.Match[str], text: str) -> bool:
    digits = re.sub(r"\D", "", match[0])
    spoken_of = set(re.findall(r"[a-z]+", text[max(0, match.start() - 40) : match.end() + 20].lower()))
    if digits == match[0] and not spoken_of.intersection(_CARD_WORDS):
        return False
    beginning = _CARD_BEGINNING.compiled.match(digits) or (
        spoken_of.intersection(_CARD_WORDS) and _RARER_BEGINNING.compiled.match(digits)
    )
    return len(digits) in _CARD_LENGTHS and bool(beginning) and len(set(digits)) > 2 and luhn(digits)


def luhn(digits: str) -> bool:
    """Whether the last of *digits* is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0
