"""Patterns that cost nothing until they are needed: a hook may end before it meets one."""

from __future__ import annotations

import re
from functools import cached_property


class Pattern:
    """
    A regular expression that is compiled at first use, and asked only where it can match.

    ``needs`` is the cheap question: groups parted by ``&``, of which each has pieces of text parted by ``|``.
    A text that lacks every piece of some group cannot match. Nothing needed means that it is always asked.
    """

    def __init__(self, source: str, needs: str = "", flags: int = 0) -> None:
        self._source = source
        self._needs = [group.strip().split("|") for group in needs.split("&")] if needs else []
        self._flags = flags

    def may_match(self, text: str) -> bool:
        """Whether every group of needs has a piece in *text*."""
        # Plain loops: this is asked of every rule for every text, and generators would double the price.
        for group in self._needs:
            for piece in group:
                if piece in text:
                    break
            else:
                return False
        return True

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself."""
        return re.compile(self._source, self._flags)


class AnyCase(Pattern):
    """The same in any case; what it needs is written in lower case."""

    def __init__(self, source: str, needs: str = "", flags: int = 0) -> None:
        super().__init__(source, needs, flags | re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place in *text*."""
        # Beyond ASCII a letter may stand for another, the Kelvin sign for a k: there nothing is ruled out.
        if text.isascii() and not self.may_match(text.lower()):
            return None
        return self.compiled.search(text)
