"""The summary in a client's report of a compacted conversation."""

from __future__ import annotations

import re

# A tag within backticks is a quotation, not markup.
_OPENING = re.compile(r"(?<!`)<analysis\b[^<>]*>", re.IGNORECASE)
_CLOSING = re.compile(r"</analysis\s*>", re.IGNORECASE)
_OPEN_SCRATCHPAD = re.compile(
    r"(?<!`)<analysis\b[^<>]*>.*?(?=(?<!`)<summary\b|\Z)", re.DOTALL | re.IGNORECASE
)
_SUMMARY = re.compile(r"(?<!`)<summary\b[^<>]*>", re.IGNORECASE)
_SUMMARY_END = re.compile(r"</summary\s*>", re.IGNORECASE)


def summary_part(reported: str) -> str:
    """
    Return the summary in *reported*, without the scratchpad of its author.

    The scratchpad is the content of ``<analysis>`` elements; an unclosed one ends at a ``<summary>`` or at the end of
    the text. If the text has a ``<summary>`` element, only its content is returned. The result is empty if the text
    is nothing but a scratchpad.
    """
    told = _OPEN_SCRATCHPAD.sub("", _without_scratchpads(reported))
    if found := _SUMMARY.search(told):
        told = told[found.end() :]
    ends = [found.start() for found in _SUMMARY_END.finditer(told)]
    if ends and told[max(0, ends[-1] - 1)] != "`":
        told = told[: ends[-1]]
    return told.strip()


def _without_scratchpads(text: str) -> str:
    """Return *text* without its closed scratchpads, in one pass that stops at the first scratchpad without an end."""
    kept: list[str] = []
    at = 0
    while (opening := _OPENING.search(text, at)) and (closing := _CLOSING.search(text, opening.end())):
        kept.append(text[at : opening.start()])
        at = closing.end()
    kept.append(text[at:])
    return "".join(kept)
