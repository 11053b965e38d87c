"""The summary in the report of a client that compacted a conversation."""

from __future__ import annotations

import re

# A tag within backticks is a quotation and marks nothing.
_SCRATCHPAD = re.compile(r"(?<!`)<analysis\b[^<>]*>.*?</analysis\s*>", re.DOTALL | re.IGNORECASE)
_OPEN_SCRATCHPAD = re.compile(
    r"(?<!`)<analysis\b[^<>]*>.*?(?=(?<!`)<summary\b|\Z)", re.DOTALL | re.IGNORECASE
)
_SUMMARY = re.compile(r"(?<!`)<summary\b[^<>]*>(.*)", re.DOTALL | re.IGNORECASE)
_END = re.compile(r"(?<!`)</summary\s*>(?!.*</summary\s*>).*", re.DOTALL | re.IGNORECASE)


def summary_part(reported: str) -> str:
    """
    Return the summary in *reported*, without the scratchpad that its author thought in.

    The scratchpad is the content of ``<analysis>`` elements; one that is not closed ends where a ``<summary>``
    begins, or with the text. Of a text with a ``<summary>`` element only its content counts. Empty for a text that
    is a scratchpad only.
    """
    told = _OPEN_SCRATCHPAD.sub("", _SCRATCHPAD.sub("", reported))
    if found := _SUMMARY.search(told):
        told = found[1]
    return _END.sub("", told).strip()
