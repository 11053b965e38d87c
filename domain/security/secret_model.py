"""Secrets that a linear model recognises by their shape and their neighbourhood; ``tests/data/fit_secrets.py`` fits it."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator
from functools import lru_cache
from pkgutil import get_data

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_candidates import WORD, Candidate, candidates
from clawmem.domain.security.secret_features import Feature, above, in_line, places, shape
from clawmem.domain.security.secret_values import Span
from clawmem.domain.security.secret_words import class_of

_FILE = "secret_weights.bin"
UNIT = 1 / 16  # a weight is a whole number of units
THRESHOLDS = {WORD: 2.0}
THRESHOLD = 0.5  # chosen on harmless lines and on programs; a lower one finds more secrets and changes more clean lines
SHORT = 3  # characters; values as short as "200" and "403" are secrets only where a word announces them
BEFORE, AFTER = 160, 80  # characters around a value in which such a word is looked for
SHORTLY_BEFORE = 50
_ANNOUNCING = frozenset(("label", "lock", "opens"))
_WORD = Pattern(r"[^\W\d_]+")
_KIND = Pattern(r"(?<![^\W\d_])(?P<noun>[^\W\d_]{1,40}) type \Z")
# Words right before a number that name it: "Plate RK 30 512", "Kennzeichen: M AB 1234".
_PLATE = Pattern(
    r"\b(?:(?:number ?|licen[cs]e ?)?plates?|registration(?: mark| number)?|reg(?: no)?|kennzeichen|immatriculation|plaque|matricula|targa|kenteken)"
    r"\b\.?(?:\s(?:is|was|reads|number|no\.?|ist|lautet|est|es|e)\b)?[:,]?\s{1,2}(?:\w{1,4}[ -]){0,3}\Z"
)
HOPELESS = (
    -4.0,
    -2.0,
)  # scores of the shape, and of shape and line, below which nothing above makes a secret


_models: list[array[int]] = []


def weights() -> array[int]:
    """Return the weights of the model, in units."""
    if not _models:
        data = get_data(__package__, _FILE)
        assert data is not None
        _models.append(array("b", zlib.decompress(data)))
    return _models[0]


def use(data: bytes) -> None:
    """Use the model of *data* instead of the one in the package."""
    _models[:] = [array("b", zlib.decompress(data))]
    _weight.cache_clear()
    _score_of_shape.cache_clear()


@lru_cache(50_000)
def _weight(feature: Feature) -> float:
    known = weights()
    return sum(known[place] for place in places(feature)) * UNIT


@lru_cache(10_000)
def _score_of_shape(value: str, form: str) -> float:
    return sum(map(_weight, shape(value, form)))


def likely(text: str, lower: str) -> Iterator[Span]:
    """Find the parts of *text* that the model takes for secrets; of overlapping ones, the likeliest."""
    found: list[tuple[float, int, int]] = []
    for candidate in candidates(text, lower):
        if not _is_announced(lower, candidate):
            continue
        score = _score(text, candidate)
        if score > THRESHOLDS.get(candidate.form, THRESHOLD):
            found.append((score, candidate.start, candidate.end))
    yield from _apart(found)


def _is_announced(lower: str, candidate: Candidate) -> bool:
    """Whether a word around *candidate* names a lock or secret, if it is short or of a kind ("varnish type 2320")."""
    if _PLATE.compiled.search(lower, max(0, candidate.start - SHORTLY_BEFORE), candidate.start):
        return False
    kind = _KIND.compiled.search(lower, max(0, candidate.start - BEFORE), candidate.start)
    if kind and class_of(kind["noun"]) == "word":
        classes = _ANNOUNCING - {"opens"}
    elif candidate.end - candidate.start <= SHORT:
        classes = _ANNOUNCING
    else:
        return True
    words = _WORD.compiled.findall(lower, max(0, candidate.start - BEFORE), candidate.end + AFTER)
    return any(class_of(word) in classes for word in words)


def _score(text: str, candidate: Candidate) -> float:
    score = _score_of_shape(text[candidate.start : candidate.end], candidate.form)
    for more, least in zip((in_line, above), HOPELESS, strict=True):
        if score < least:
            break
        score += sum(map(_weight, more(text, candidate)))
    return score


def _apart(found: list[tuple[float, int, int]]) -> Iterator[Span]:
    """Yield the spans of *found*; of a chain of overlapping ones only the best."""
    best: tuple[float, int, int] | None = None
    last = -1
    for one in sorted(found, key=lambda scored: scored[1:]):
        if best is None or one[1] >= last:
            if best:
                yield best[1:]
            best = one
        elif one[0] > best[0]:
            best = one
        last = max(last, one[2])
    if best:
        yield best[1:]
