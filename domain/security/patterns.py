"""Regular expressions compiled on first use; many hook calls end before they need one."""

from __future__ import annotations

import re
from functools import cached_property


class Pattern:
    """
    Regular expression that is compiled on first use, with a cheap substring test before it.

    ``needs`` defines the test: groups separated by ``&``, each with substrings separated by ``|``. A text that
    contains no substring of some group cannot match. Without ``needs`` the test always passes.
    """

    def __init__(self, source: str, needs: str = "", flags: int = 0) -> None:
        self._source = source
        self._needs = [group.strip().split("|") for group in needs.split("&")] if needs else []
        self._flags = flags

    def may_match(self, text: str) -> bool:
        """Whether *text* contains at least one substring of every group of ``needs``."""
        # Plain loops: this runs for every rule and text, and generator expressions would double its time.
        for group in self._needs:
            for piece in group:
                if piece in text:
                    break
            else:
                return False
        return True

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Compiled expression."""
        return re.compile(self._source, self._flags)


class AnyCase(Pattern):
    """Case-insensitive `Pattern`; its ``needs`` are written in lower case."""

    def __init__(self, source: str, needs: str = "", flags: int = 0) -> None:
        super().__init__(source, needs, flags | re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in *text*; ``None`` if there is none."""
        # Non-ASCII characters may match ASCII letters case-insensitively (Kelvin sign and k), so skip the test for them.
        if text.isascii() and not self.may_match(text.lower()):
            return None
        return self.compiled.search(text)
