"""Sentence splitting for the prose in Markdown, without code, quotations and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.text.vocabulary import MONTHS

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_NOT_SAID = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_LIST_MARK = re.compile(
    r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|^#{1,6}[ \t]+", re.MULTILINE
)
_END = re.compile(
    rf"(?!(?<=\d)\.\s+(?:[a-zäöü]|(?i:{'|'.join(MONTHS)})\b))"  # ordinal numbers: "zum 1. Mai", "am 3. des Monats"
    r"(?<![\s(][a-zA-Z])(?<![\[])(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bca)(?<!\bz\.B)(?<!\betc)"
    r"(?:[.!?。！？]{1,9}[\"')\]»”]{0,9}(?=\s)|[。！？])\s*"
)


def sentences(text: str) -> Iterator[str]:
    """
    Yield the sentences of *text* in order, each on one line, without list marks and emphasis.

    The end of a list item, heading or paragraph ends a sentence. Fenced code, quoted lines and tables are left out.
    """
    for block in re.split(r"\n\s*\n", _LIST_MARK.sub("\n\n", spoken_text(text))):
        flat = " ".join(block.replace("**", "").replace("__", "").split())
        start = 0
        for end in _END.finditer(flat):
            yield flat[start : end.end()].strip()
            start = end.end()
        if rest := flat[start:].strip():
            yield rest


def spoken_text(text: str) -> str:
    """Return *text* without fenced code, quoted lines and tables."""
    return _NOT_SAID.sub("", _FENCED.sub("\n\n", text))
