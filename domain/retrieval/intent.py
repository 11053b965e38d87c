from __future__ import annotations

import re

_RECENCY = re.compile(
    r"""\b(?:
        recent(?:ly)? | latest | yesterday | today | continue
        | last\s+(?:session|time|week|month|few\s+days)
        | left\s+off | pick\s+up
        | where\s+(?:was|were)\s+(?:we|i)
        | what\s+(?:was|were)\s+(?:we|i)\s+(?:doing|working)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def has_recency_intent(query: str) -> bool:
    """
    Whether the question asks for what happened lately: "latest", "yesterday", "where were we", "pick up" …

    Whole words only, in any case; words of a phrase may be apart by any white space. "current" is not
    among them: it asks for what holds now, which may be old.
    """
    return _RECENCY.search(query) is not None
