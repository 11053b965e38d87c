"""The forms that orders to a reader take, and how each is looked for only where it can be."""

from __future__ import annotations

import re
from functools import cached_property

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.promptguard_words import WORDS
from clawmem.ports.named_tuple import NamedTuple

GAP = r"(?:[\s*_`>\"'~,]+)"
_LONGEST_BEFORE = 40  # characters
# Asked of what was found: a pattern that begins with letters is searched ten times faster.
_WORD_BEGINS = r"\b"


class Form(NamedTuple):
    """
    A shape of words: what it needs (see `Pattern`), and a pattern in the notation of `phrase`.

    ``after`` names the words that must end right before it, which is asked last: it is slow to begin with.
    """

    needs: str
    pattern: str
    after: str = ""


class Rule:
    """One way of giving orders: a name, a score from 0 to 1, a reason for people, and the forms it takes."""

    def __init__(self, name: str, score: float, reason: str, *forms: Form) -> None:
        self.name = name
        self.score = score
        self.reason = reason
        self._forms = [_Form(form) for form in forms]

    def find(self, text: str) -> re.Match[str] | None:
        """The first place in unmasked *text* where this rule holds."""
        return next(filter(None, (form.find(text) for form in self._forms)), None)


class _Form:
    def __init__(self, form: Form) -> None:
        source = form.pattern.removeprefix(_WORD_BEGINS)
        self._begins_a_word = source != form.pattern
        self._phrase = Phrase(source, form.needs)
        self._before = Phrase(rf"(?:{{{form.after}}})\Z") if form.after else None

    def find(self, text: str) -> re.Match[str] | None:
        if not self._phrase.may_match(text):
            return None
        return next(
            (found for found in self._phrase.compiled.finditer(text) if self._is_led_up_to(found)), None
        )

    def _is_led_up_to(self, found: re.Match[str]) -> bool:
        start, text = found.start(), found.string
        if self._begins_a_word and start and text[start - 1].isalnum():
            return False
        if not self._before:
            return True
        return self._before.compiled.search(text, max(0, start - _LONGEST_BEFORE), start) is not None


class Phrase(Pattern):
    """A pattern in the notation of `phrase`."""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression that the notation stands for."""
        return re.compile(phrase(self._source), re.MULTILINE)


def phrase(pattern: str) -> str:
    """
    The regular expression that *pattern* stands for.

    ``{name}`` is filled in from `WORDS`, a space is any run of white space and mark-up, ``...`` up to four words.
    """
    filled = re.sub(r"\{([a-z_]+)\}", lambda name: WORDS[name[1]], pattern)
    few_words = rf"{GAP}(?:[\w'’-]+{GAP}){{0,4}}?"
    return filled.replace("...", few_words).replace(" ", GAP)
