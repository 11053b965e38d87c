"""
Detection of instructions to an assistant ("orders", prompt injection) in texts of others.

Line ends, list markers, headings, quotes and table cells are treated as whitespace, so that an order split over several
lines is found. Cues (see `order_cues`) close to each other form an order. Encoded runs are decoded and checked in the
same way; an encoded order needs fewer cues.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.domain.security.disguise import Unmasked, unmask
from clawmem.domain.security.order_cues import COMBINATIONS, CUES, HIDDEN_COMBINATIONS
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.promptguard import inspect

NEAR = 160  # characters between two cues of one order
AROUND = 1000  # characters of context around a span; several times `NEAR`, because layout is removed before matching
MOST_READ = 100_000  # characters of one text

_BLANKS = " \t\n\r\v\f\x1c\x1d\x1e\x85\u00a0\u2028\u2029|*`"
_LINE_MARKER = r"[ \t]{0,40}(?:[-*+>]{1,3}(?=\s)|#{1,6}(?=\s)|\d{1,3}[.)](?=\s)|[-:| ]{3,80}(?=\n|$))?"
_LAYOUT = Pattern(rf"[\n\r\x85\u2028\u2029]{_LINE_MARKER}|[{_BLANKS}]{{1,400}}")
_SENTENCE_END = Pattern(r"[.!?](?=\s)|[。！？]")

Combinations = Mapping[str, Sequence[Sequence[str]]]
Place = tuple[int, int]


class Order(NamedTuple):
    """Detected order: its kind, and its start and end (exclusive) in the original text."""

    kind: str
    start: int
    end: int


def orders_in(text: str) -> list[Order]:
    """Return the orders to an assistant in the first `MOST_READ` characters of *text*, in no particular order."""
    return list(_orders(text[:MOST_READ]))


def all_orders_in(text: str) -> list[Order]:
    """Return the orders to an assistant in all of *text*, which is read in overlapping windows."""
    step = MOST_READ - 2 * AROUND
    found = []
    for start in range(0, len(text), step):
        first = max(0, start - AROUND)
        stretch = text[first : start + step + AROUND]
        found += [one._replace(start=one.start + first, end=one.end + first) for one in orders_in(stretch)]
    return found


def gives_orders(text: str) -> bool:
    """Whether *text* gives an order to an assistant."""
    return next(_orders(text[:MOST_READ]), None) is not None


def orders_within(text: str, start: int, end: int) -> bool:
    """
    Whether an order in *text* overlaps the span from *start* to *end* (exclusive).

    The surrounding text is read as well, because an order may be split over several list items or table cells.
    """
    first = max(0, start - AROUND)
    found = orders_in(text[first : end + AROUND])
    return any(one.start + first < end and start < one.end + first for one in found)


def _orders(text: str) -> Iterator[Order]:
    yield from _guarded_orders(text)
    yield from _Reading(text).orders(COMBINATIONS)
    for part in decoded_parts(text):
        hidden = _Reading(part.text)
        if next(_guarded_orders(part.text), None) or next(hidden.orders(HIDDEN_COMBINATIONS), None):
            yield Order("encoded", part.start, part.end)


def _guarded_orders(text: str) -> Iterator[Order]:
    flat = _flattened(text)
    verdict = inspect(flat.text, limit=MOST_READ)
    if verdict.dropped:
        yield Order(verdict.rule, *flat.span(verdict.start, verdict.end))


class _Reading:
    """Text without layout and disguise, with a cache of the cues found in it."""

    def __init__(self, text: str) -> None:
        self._flat = _flattened(text)
        self._plain = unmask(self._flat.text)
        self._found: dict[str, list[Place]] = {}

    def orders(self, combinations: Combinations) -> Iterator[Order]:
        for kind, every in combinations.items():
            for names in every:
                for start, end in self._together(names):
                    yield Order(kind, *self._flat.span(start, end))

    def _together(self, names: Iterable[str]) -> Iterator[Place]:
        """Yield the spans in which all cues called *names* occur close together."""
        lists = []
        for name in names:
            if not (places := self._places(name)):
                return
            lists.append(places)
        anchors, *others = sorted(lists, key=len)
        for anchor in anchors:
            around = [_nearest(anchor[0], places) for places in others]
            if all(abs(one[0] - anchor[0]) <= NEAR for one in around):
                together = [anchor, *around]
                yield self._whole(min(start for start, _ in together), max(end for _, end in together))

    def _whole(self, start: int, end: int) -> Place:
        """Return the span from *start* to *end* extended to whole sentences, at most `NEAR` characters on each side."""
        text = self._flat.text
        before = [one.end() for one in _SENTENCE_END.compiled.finditer(text, max(0, start - NEAR), start)]
        after = _SENTENCE_END.compiled.search(text, end, end + NEAR)
        first = before[-1] if before else max(0, start - NEAR)
        return first, after.end() if after else min(len(text), end + NEAR)

    def _places(self, name: str) -> list[Place]:
        if name not in self._found:
            cue = CUES[name]
            spans = [self._plain.span(*match.span()) for match in cue.words.finditer(self._plain.text)]
            if cue.unspaced and not self._flat.text.isascii():
                spans += [match.span() for match in cue.unspaced.finditer(self._flat.text)]
            self._found[name] = sorted(spans)
        return self._found[name]


def _nearest(start: int, places: Sequence[Place]) -> Place:
    at = bisect_left(places, (start, 0))
    return min(places[max(0, at - 1) : at + 1], key=lambda one: abs(one[0] - start))


def _flattened(text: str) -> Unmasked:
    """Return *text* on one line, with each run of layout characters replaced by one space."""
    parts: list[str] = []
    places: list[int] = []
    done = 0

    def take(until: int) -> None:
        parts.append(text[done:until])
        places.extend(range(done, until))

    for match in _LAYOUT.compiled.finditer(text):
        take(match.start())
        if places and text[places[-1]] not in _BLANKS:
            parts.append(" ")
            places.append(match.start())
        done = match.end()
    take(len(text))
    places.append(len(text))
    return Unmasked("".join(parts), places)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROTATED = str.maketrans(
    _LETTERS + _LETTERS.lower(), _LETTERS[13:] + _LETTERS[:13] + _LETTERS[13:].lower() + _LETTERS[:13].lower()
)
_SIX_BITS = {letter: value for value, letter in enumerate(f"{_LETTERS}{_LETTERS.lower()}0123456789+/")}
_MOST_ENCODED = 4000  # characters of one run
_READABLE = 0.9  # minimum share of letters, digits, whitespace and punctuation

_BASE64 = Pattern(rf"[A-Za-z0-9+/_-]{{24,{_MOST_ENCODED}}}={{0,2}}")
_HEX = Pattern(rf"(?:[0-9a-fA-F]{{2}}[ :]?){{16,{_MOST_ENCODED // 2}}}")
_PERCENT = Pattern(rf"(?:%[0-9a-fA-F]{{2}}|[\w+.-]){{8,{_MOST_ENCODED}}}")
_ESCAPES = Pattern(
    rf"(?:\\u[0-9a-fA-F]{{4}}|\\x[0-9a-fA-F]{{2}}|&#x?[0-9a-fA-F]{{2,6}};|[ ]){{8,{_MOST_ENCODED}}}"
)
_ESCAPE = Pattern(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|&#x([0-9a-fA-F]{2,6});|&#([0-9]{2,6});")
_ROT13 = Pattern(r"\b(?:gur|naq|nyy|lbhe|vafgehpgvbaf|cebzcg|frperg|hfre)\b", flags=re.IGNORECASE)
_REVERSED = Pattern(r"\b(?:eht|dna|ruoy|lla|snoitcurtsni|tpmorp|resu|drowssap)\b", flags=re.IGNORECASE)


class DecodedPart(NamedTuple):
    """Decoded text, and the offsets of its encoded form (*end* exclusive)."""

    text: str
    start: int
    end: int


def decoded_parts(text: str) -> Iterator[DecodedPart]:
    """Yield every run of *text* that decodes to readable text."""
    for pattern, decode in _DECODERS:
        for match in pattern.compiled.finditer(text):
            decoded = decode(match[0])
            if decoded and decoded != match[0] and _is_readable(decoded):
                yield DecodedPart(decoded, *match.span())
    if _counts(_ROT13, text):
        yield DecodedPart(text.translate(_ROTATED), 0, len(text))
    if _counts(_REVERSED, text):
        yield DecodedPart(text[::-1], 0, len(text))


def _counts(words: Pattern, text: str) -> bool:
    found = words.compiled.finditer(text)
    return next(found, None) is not None and next(found, None) is not None


def _from_base64(run: str) -> str:
    plain = run.translate(str.maketrans("-_", "+/")).rstrip("=")
    bits = "".join(f"{_SIX_BITS[letter]:06b}" for letter in plain)
    size = len(bits) // 8
    return _utf8(lambda: int(bits[: size * 8], 2).to_bytes(size, "big"))


def _from_hex(run: str) -> str:
    return _utf8(lambda: bytes.fromhex(run.replace(":", " ")))


def _from_percent(run: str) -> str:
    if "%" not in run:
        return ""
    return _utf8(lambda: re.sub(rb"%([0-9a-fA-F]{2})", lambda m: bytes.fromhex(m[1].decode()), run.encode()))


def _from_escapes(run: str) -> str:
    return _ESCAPE.compiled.sub(_escaped_character, run) if "\\" in run or "&#" in run else ""


def _escaped_character(match: re.Match[str]) -> str:
    unicode_, byte, entity, number = match.groups()
    code = int(number) if number else int(unicode_ or byte or entity, 16)
    return chr(code) if code < 0x110000 else ""


def _utf8(decode: Callable[[], bytes]) -> str:
    try:
        return decode().decode("utf-8")
    except ValueError:  # binary data, or not encoded at all
        return ""


def _is_readable(text: str) -> bool:
    plain = sum(one.isalnum() or one in " \n\t.,;:!?'\"/()@=_-~" for one in text)
    return len(text) >= 8 and plain >= _READABLE * len(text) and " " in text.strip()


_DECODERS: tuple[tuple[Pattern, Callable[[str], str]], ...] = (
    (_BASE64, _from_base64),
    (_HEX, _from_hex),
    (_PERCENT, _from_percent),
    (_ESCAPES, _from_escapes),
)
