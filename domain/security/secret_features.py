"""
Features of a candidate for a secret: its shape, the characters around it, and the words of its neighbourhood.

A feature is a tuple of strings. One tuple of a word stands for several weights, those of its stems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import log2
from zlib import crc32

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_candidates import NUMBER, PHRASE, Candidate
from clawmem.domain.security.secret_words import TELLING, class_of

BITS = 18
Feature = tuple[str, ...]

_PIECE = Pattern(
    r"[A-Za-z]{0,30}\d[A-Za-z0-9]*|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\x00-\u036f\U00010000-\U0010ffff]|[^\w\s]"
)
_ANY_VALUE = "#"
_LINE_REACH = 160
_ROW_REACH = 400
_ROWS = 12
_LINES_ABOVE = 3
_MOST_WORDS = 16
_FEW_WORDS = 6
_DISTANCES = (1, 2, 4, 8, 16)
_HASH_LENGTHS = (7, 8, 12, 16, 20, 32, 36, 40, 64, 128)
_MASK = (1 << BITS) - 1


@lru_cache(50_000)
def places(feature: Feature) -> tuple[int, ...]:
    """Return the numbers of the weights of *feature*."""
    if feature[0] != "word":
        return (_place(feature),)
    _, word, where, form = feature
    return tuple(_place(("word", stem, where, *more)) for stem in _stems(word) for more in ((), (form,)))


def _place(feature: Feature) -> int:
    return crc32("\x1f".join(feature).encode()) & _MASK


def _stems(word: str) -> list[str]:
    """Return *word*, its beginning, its end, and the groups of letters of a long one."""
    found = [word]
    if len(word) > 5:
        found += (word[:5] + "-", "-" + word[-4:])
    if len(word) > 8:
        found += (f"~{word[i : i + 5]}" for i in range(len(word) - 4))
    return found


def shape(value: str, form: str) -> Iterator[Feature]:
    """Yield the features of a value by itself."""
    yield ("any",)
    yield "form", form
    for name in _names_of_shape(value, form):
        yield "shape", form, name


def _run(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return character if character in "-_./+=:@#$%&*!?~^\\ " else "."


def _names_of_shape(value: str, form: str) -> Iterator[str]:
    signature = "".join(map(_run, value))
    short = signature[:1] + "".join(b for a, b in pairwise(signature) if a != b)
    length, digits, lower = len(value), signature.count("0"), value.lower()
    yield f"length {min(length, 13) + sum(length > limit for limit in (16, 24, 32, 48))}"
    yield f"short {short[:6]}"
    if len(short) > 3:
        yield f"runs {min(9, len(short))}"
        yield f"runs per length {8 * len(short) // length}"
    yield f"digits {min(9, digits)}"
    yield f"share {5 * digits // length}"
    if length < 14:
        yield f"signature {signature}"
    yield from (f"has {symbol}" for symbol in sorted(set(short) - set("0aA")))
    if all(character in "0123456789abcdef-" for character in lower):
        yield f"hex {length if length in _HASH_LENGTHS else 0}"
    if form == PHRASE:
        yield from _names_of_words(lower.split())
    elif form == NUMBER:
        yield from _names_of_number(value)
    else:
        yield from _names_of_string(value, signature)


def _names_of_words(words: list[str]) -> Iterator[str]:
    yield f"words {min(8, len(words))}"
    for word in words:
        if len(word) <= 3:
            yield f"small {word}"
            yield "small word"
        yield f"word {word[:6]}"


def _names_of_number(value: str) -> Iterator[str]:
    digits = [character for character in value if character.isdigit()]
    if len(value) > 8:
        return
    yield f"distinct {len(set(digits))}"
    if value.endswith("00"):
        yield f"round {value[-3:]}"
    if len(value) == 4 and value < "2400" and value[2] < "6":
        yield "time"
    if len(digits) > 3 and value[:2] in ("19", "20"):
        yield "year"


def _names_of_string(value: str, signature: str) -> Iterator[str]:
    lower = value.lower()
    letters = max("".join(c if c.isalpha() else " " for c in lower).split() or [""], key=len)
    rough = sum(a not in "aeiouy" and b not in "aeiouy" for a, b in pairwise(letters))
    yield f"prefix {lower[:3]}"
    yield f"suffix {signature[-3:]}"
    yield f"entropy {int(2 * _entropy(value))}"
    yield f"vowels {6 * sum(c in 'aeiouy' for c in letters) // max(1, len(letters))}"
    yield f"consonants {min(6, rough)} {min(12, len(letters))}"
    yield f"letters {letters[:5]}"
    yield f"value {lower[:24]}"


def _entropy(value: str) -> float:
    total = len(value)
    return -sum(count / total * log2(count / total) for count in Counter(value).values())


def in_line(text: str, candidate: Candidate) -> Iterator[Feature]:
    """Yield the features of what is around *candidate* in its line."""
    start, end, form = candidate
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end, end + _LINE_REACH)
    left = pieces(text[max(line, start - _LINE_REACH) : start])[::-1]
    right = pieces(text[end : end + _LINE_REACH if stop < 0 else stop])
    yield from _syntax(left, right, form)
    yield from _classes(left, right, form)
    yield from _words(left, "L", form)
    yield from _words(right, "R", form)
    yield "seam", text[start - 1 : start], text[end : end + 1], form
    yield "before", text[max(0, start - 2) : start], form
    yield "after", text[end : end + 2], form


def above(text: str, candidate: Candidate) -> Iterator[Feature]:
    """Yield the features of the lines above *candidate*."""
    start, _, form = candidate
    line = text.rfind("\n", 0, start) + 1
    is_alone = not text[max(line, start - _LINE_REACH) : start].strip()
    yield from _lines_above(text, line - 1, is_alone, form)
    yield from _header(text, line, start, form)


def _lines_above(text: str, at: int, is_alone: bool, form: str) -> Iterator[Feature]:
    """Yield the words of the lines that end at offset *at* and above."""
    alone = "alone" if is_alone else ""
    seen = blank = 0
    while at > 0 and seen < _LINES_ABOVE and blank < 4:
        before = text.rfind("\n", 0, at)
        words = pieces(text[max(before + 1, at - _LINE_REACH) : at])[::-1]
        at = before
        if not words:
            blank += 1
            continue
        seen += 1
        if seen == 1:
            yield "above ends", *words[:1], form, "blank" if blank else "", alone
            yield "above ends", *words[:2], form, alone
            yield from _bag(words, "PA", form)
        yield from _bag(words, f"P{seen}{alone}", form)


def _header(text: str, line: int, start: int, form: str) -> Iterator[Feature]:
    """Yield the words of the cell above *start* in the first row of its table."""
    row = text[max(line, start - _ROW_REACH) : start]
    mark = next((mark for mark in "|\t;," if mark in row), "")
    top = end = line - 1
    for _ in range(_ROWS):
        up = text.rfind("\n", max(0, top - _ROW_REACH), max(0, top))
        above_it = text[up + 1 : max(0, top)]
        if top <= 0 or not above_it.strip() or (mark and mark not in above_it):
            break
        top, end = up, top
    else:
        return
    if top == line - 1:
        return
    head = text[top + 1 : end]
    cells = head.split(mark) if mark else [cell for cell in head.split("  ") if cell.strip()]
    column = row.count(mark) if mark else len([cell for cell in row.split("  ") if cell.strip()])
    if column < len(cells):
        name = [piece for piece in pieces(cells[column]) if piece[0].isalpha()]
        yield "header", form
        yield from (("column", form, *name[-size:]) for size in (1, 2, 3))
        yield from _bag(name, "H", form)


@lru_cache(500)
def pieces(text: str) -> list[str]:
    """Return the words of *text* in lower case, its signs, and a mark for everything with digits."""
    return [
        _ANY_VALUE if any(map(str.isdigit, piece)) else piece.lower()
        for piece in _PIECE.compiled.findall(text)
    ]


def _syntax(left: list[str], right: list[str], form: str) -> Iterator[Feature]:
    left, right = [*left[:4], *["^"] * 4], [*right[:3], *["$"] * 3]
    yield from (("left", form, *left[:size]) for size in (1, 2, 3))
    yield from (("right", form, *right[:size]) for size in (1, 2))
    yield "both", form, left[0], right[0]
    signs = "".join("w" if piece[0].isalnum() else piece for piece in left[:4])
    yield "signs", form, signs
    yield "signs both", form, signs[:2], "w" if right[0][0].isalnum() else right[0]


def _classes(left: list[str], right: list[str], form: str) -> Iterator[Feature]:
    """Yield the classes of the neighbours, and the classes that say most on each side, wherever they stand."""
    before = [*map(class_of, left[:_MOST_WORDS]), "^", "^", "^"]
    after = [*map(class_of, right[:_FEW_WORDS]), "$", "$"]
    yield "classes left", form, before[0]
    yield "classes left", form, before[0], before[1]
    yield "classes right", form, after[0]
    yield "classes", form, before[0], after[0]
    yield "classes", form, before[0], before[1], after[0]
    telling = [name for name in before if name in TELLING]
    later = next((name for name in after if name in TELLING), "")
    yield "telling", form, *telling[:2]
    yield "telling both", form, *telling[:1], "|", later
    yield from (("class", name, form) for name in sorted(set(telling)))


def _words(found: list[str], side: str, form: str) -> Iterator[Feature]:
    words = [piece for piece in found if piece[0].isalpha()][:_MOST_WORDS]
    for distance, word in enumerate(words, 1):
        near = next(bucket for bucket in _DISTANCES if distance <= bucket)
        yield "word", word, f"{side}{near}", form
        yield "word", word, side, form
        yield "word", word, "A", form
    for first, second in pairwise(words):
        yield "pair", side, first[:6], second[:6]
        yield "pair", first[:6], second[:6], form


def _bag(found: list[str], place: str, form: str) -> Iterator[Feature]:
    for word in [piece for piece in found if piece[0].isalpha()][:_MOST_WORDS]:
        yield "word", word, place, form
