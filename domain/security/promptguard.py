"""Prompt-injection guard: scores how much a text reads like an instruction to its reader."""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import NamedTuple

from clawmem.domain.security.disguise import CYRILLIC_LOOKALIKES, SELECTORS, TAGS, Unmasked, unmask
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.promptguard_hints import HINTS
from clawmem.domain.security.promptguard_rules import DECISIVE

DROP_AT = 0.6
DISGUISE = 0.7
INSPECTED = 2000  # characters; callers that surface more of a text pass a higher limit
PLACEHOLDER = "[content filtered for security]"

_LEAST_MIXED_WORD = 3  # letters
_MOST_COMPATIBILITY = 0.05  # of all characters
_LEAST_COMPATIBILITY = 8  # characters; a single full-width bracket or squared sign is harmless

_DISGUISED_AS_LATIN = "".join(CYRILLIC_LOOKALIKES) + "οινΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
_MIXED_PAIR = Pattern(f"[a-zA-Z][{_DISGUISED_AS_LATIN}]|[{_DISGUISED_AS_LATIN}][a-zA-Z]")
_MIXED_WORD = Pattern(f"[a-zA-Z{_DISGUISED_AS_LATIN}]{{{_LEAST_MIXED_WORD},}}")
_COMPATIBILITY = Pattern("[\uff21-\uff5a\U0001d400-\U0001d7ff\u24b6-\u24e9\U0001f130-\U0001f189]")
_UNSPACED_SCRIPT = Pattern("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SPACED_LETTERS = Pattern(r"\b\w(?:[ .\-_*]{1,3}\w\b){7,}")
_SPACED_OUT = ("ignore", "disregard", "forget", "instruction", "systemprompt", "jailbreak", "override")
_DIGITS_AS_LETTERS = str.maketrans("013457@$", "oieastas")
_SPELT_WITH_DIGITS = ("ignore", "disregard", "forget", "override", "bypass", "you are now", "system prompt")
_HIDDEN = (
    (
        "has invisible characters inside words",
        Pattern("(?<=[a-zA-Z])[\u200b-\u200d\u2060-\u2064\ufeff]+(?=[a-zA-Z])"),
    ),
    (
        # After a black flag emoji, tag characters name a region.
        "carries text that no font shows",
        Pattern(f"(?<!\U0001f3f4)(?<![{TAGS}])[{TAGS}]+"),
    ),
    ("carries values that no font shows, or reverses text", Pattern(f"[{SELECTORS}]{{2,}}|[\u202d\u202e]")),
)


class Verdict(NamedTuple):
    """
    Score from 0 to 1 of how much a text looks like an order to its reader, with the rule that matched.

    ``start`` and ``end`` (exclusive) are offsets in the original text. If no rule matches, ``rule`` and the span are
    empty.
    """

    score: float
    rule: str = ""
    reason: str = ""
    start: int = 0
    end: int = 0

    @property
    def dropped(self) -> bool:
        """Whether the text must be left out: a score of 0.6 or more."""
        return self.score >= DROP_AT


def inspect(text: str, *, limit: int = INSPECTED) -> Verdict:
    """
    Return the highest-scoring verdict of all rules on the first *limit* characters of *text*.

    The text is normalised first: full-width, circled and mathematical letters, Cyrillic and Greek look-alikes,
    invisible characters, accents, mark-up between words, and digits used as letters. Hints, which are common in
    honest notes, count only in combination: ``1 - product(1 - hint)``.
    """
    return _verdict(text[:limit])


def guarded(text: str, *, limit: int = INSPECTED) -> str:
    """Return *text*, or `PLACEHOLDER` if the verdict on it is to drop it."""
    return PLACEHOLDER if inspect(text, limit=limit).dropped else text


@lru_cache(1024)  # the same texts are checked several times per prompt, and surfaced repeatedly
def _verdict(part: str) -> Verdict:
    unmasked = unmask(part)
    verdicts = [
        _decisive(unmasked),
        _hinted(unmasked),
        _disguised(part),
        _spaced_out(unmasked),
        _digits_for_letters(unmasked),
    ]
    return max(verdicts, key=lambda verdict: verdict.score)


def _decisive(unmasked: Unmasked) -> Verdict:
    for rule in DECISIVE:
        if found := rule.find(unmasked.text):
            return Verdict(rule.score, rule.name, rule.reason, *unmasked.span(*found.span()))
    return Verdict(0.0)


def _hinted(unmasked: Unmasked) -> Verdict:
    found = [(rule, match) for rule in HINTS if (match := rule.find(unmasked.text))]
    if not found:
        return Verdict(0.0)
    score = 1 - prod(1 - rule.score for rule, _ in found)
    start, end = min(match.start() for _, match in found), max(match.end() for _, match in found)
    names = "+".join(rule.name for rule, _ in found)
    reasons = " and ".join(rule.reason for rule, _ in found)
    return Verdict(round(score, 4), names, reasons, *unmasked.span(start, end))


def _disguised(text: str) -> Verdict:
    if text.isascii():
        return Verdict(0.0)
    for reason, pattern in _HIDDEN:
        if found := pattern.compiled.search(text):
            return Verdict(DISGUISE, "hidden-characters", reason, *found.span())
    return _mixed_scripts(text) or _in_fancy_letters(text)


def _mixed_scripts(text: str) -> Verdict | None:
    if not _MIXED_PAIR.compiled.search(text):
        return None
    for word in re.finditer(r"[^\W\d_]+", text):
        if _MIXED_WORD.compiled.fullmatch(word[0]) and _MIXED_PAIR.compiled.search(word[0]):
            return Verdict(DISGUISE, "mixed-scripts", "mixes Latin letters with look-alikes", *word.span())
    return None


def _in_fancy_letters(text: str) -> Verdict:
    """
    Return a verdict on letters in compatibility forms.

    Full-width letters are common in Chinese, Japanese and Korean text, but are a disguise in other text.
    """
    found = [match.start() for match in _COMPATIBILITY.compiled.finditer(text)]
    enough = len(found) >= _LEAST_COMPATIBILITY and len(found) > _MOST_COMPATIBILITY * len(text)
    if not enough or _UNSPACED_SCRIPT.compiled.search(text):
        return Verdict(0.0)
    return Verdict(DISGUISE, "fancy-letters", "writes plain letters in another form", found[0], found[-1] + 1)


def _spaced_out(unmasked: Unmasked) -> Verdict:
    for run in _SPACED_LETTERS.compiled.finditer(unmasked.text):
        joined = re.sub(r"\W|_", "", run[0])
        if any(word in joined for word in _SPACED_OUT):
            return Verdict(
                DISGUISE, "spaced-letters", "spaces out the letters of an order", *unmasked.span(*run.span())
            )
    return Verdict(0.0)


def _digits_for_letters(unmasked: Unmasked) -> Verdict:
    spelt = unmasked.text.replace("11", "ll").translate(_DIGITS_AS_LETTERS)
    if any(word in spelt and word not in unmasked.text for word in _SPELT_WITH_DIGITS):
        return _decisive(Unmasked(spelt, unmasked.places))
    return Verdict(0.0)
