"""Proper names in a short text such as a question."""

from __future__ import annotations

import re

# Capitalised after another word of the sentence, or with a genitive ("Priya's number").
_NAME = re.compile(r"(?<=[^\s.?!:]\s)[A-ZÀ-Þ](?:-?\w)[\w'’-]{0,40}|(?<!\S)[A-ZÀ-Þ][a-zà-ÿ]{1,30}(?=['’]s\b)")
_POSSESSOR = re.compile(r"(?<!\S)[a-zà-ÿ]{3,30}(?=['’]s\b)")


def proper_names(text: str) -> list[str]:
    """Return the words of *text* that are written like names; without capitals, those with a genitive."""
    return (_NAME if text != text.lower() else _POSSESSOR).findall(text)
