"""The summary in the report of a client that compacted a conversation."""

from __future__ import annotations

import re

# A tag within backticks is a quotation and marks nothing.
_OPENING = re.compile(r"(?<!`)<analysis\b[^<>]*>", re.IGNORECASE)
_CLOSING = re.compile(r"</analysis\s*>", re.IGNORECASE)
_OPEN_SCRATCHPAD = re.compile(
    r"(?<!`)<analysis\b[^<>]*>.*?(?=(?<!`)<summary\b|\Z)", re.DOTALL | re.IGNORECASE
)
_SUMMARY = re.compile(r"(?<!`)<summary\b[^<>]*>", re.IGNORECASE)
_SUMMARY_END = re.compile(r"</summary\s*>", re.IGNORECASE)


def summary_part(reported: str) -> str:
    """
    Return the summary in *reported*, without the scratchpad that its author thought in.

    The scratchpad is the content of ``<analysis>`` elements; one that is not closed ends where a ``<summary>``
    begins, or with the text. Of a text with a ``<summary>`` element only its content counts. Empty for a text that
    is a scratchpad only.
    """
    told = _OPEN_SCRATCHPAD.sub("", _without_scratchpads(reported))
    if found := _SUMMARY.search(told):
        told = told[found.end() :]
    ends = [found.start() for found in _SUMMARY_END.finditer(told)]
    if ends and told[max(0, ends[-1] - 1)] != "`":
        told = told[: ends[-1]]
    return told.strip()


def _without_scratchpads(text: str) -> str:
    """Return *text* without its closed scratchpads, in one pass: without an end for one there is none for the next."""
    kept: list[str] = []
    at = 0
    while (opening := _OPENING.search(text, at)) and (closing := _CLOSING.search(text, opening.end())):
        kept.append(text[at : opening.start()])
        at = closing.end()
    kept.append(text[at:])
    return "".join(kept)
