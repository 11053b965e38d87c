"""Rejoining of long values that a mail client, a terminal or an editor has wrapped over several lines."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.domain.security.disguise import Unmasked
from clawmem.domain.security.patterns import Pattern

_CONTINUED = Pattern(
    r"\n(?:[ \t>]{0,12}\r?\n){0,2}[ \t>\"'+]{0,12}(?P<tail>[A-Za-z0-9_+/.-]{8,4000}+={0,2})"
    r"(?=[\"',;)]{0,3}(?:[ \t]{1,4}(?P<more>\S)|\s|$))"
)
_HEAD = Pattern(r"[A-Za-z0-9_+/=.~-]{12,300}\Z")
_END_OF_LINE = "\"' \t\\\r"
_LONGEST_HEAD = 300
_HEX = Pattern(r"^[0-9a-f]+$")


def unwrapped(seen: Unmasked) -> Unmasked:
    """Return *seen* with wrapped generated values joined; offsets still refer to the original text."""
    text = seen.text
    joints = list(_joints(text)) if "\n" in text else []
    if not joints:
        return seen
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for start, end in joints:
        parts.append(text[done:start])
        places += seen.places[done:start]
        done = end
    parts.append(text[done:])
    places += seen.places[done:]
    return Unmasked("".join(parts), places)


def _joints(text: str) -> Iterator[tuple[int, int]]:
    """Yield the gaps between the parts of wrapped values: from the end of one part to the start of the next."""
    for match in _CONTINUED.compiled.finditer(text):
        tail = match["tail"]
        if not _is_generated(tail) or (match["more"] and not _has_three_kinds(tail)):
            continue
        line_end = match.start()
        while line_end and text[line_end - 1] in _END_OF_LINE:
            line_end -= 1
        head = _HEAD.compiled.search(text[max(0, line_end - _LONGEST_HEAD) : line_end])
        if head and _is_generated(head[0]) and not (_is_hex(head[0]) and _is_hex(tail)):
            yield line_end, match.start("tail")


def _is_generated(token: str) -> bool:
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token) and "." not in token[:3]


def _has_three_kinds(token: str) -> bool:
    return (
        any(c.isdigit() for c in token)
        and any(c.isupper() for c in token)
        and any(c.islower() for c in token)
    )


def _is_hex(token: str) -> bool:
    return _HEX.compiled.search(token) is not None
