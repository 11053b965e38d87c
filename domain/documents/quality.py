"""Quality score of a document by its form."""

from __future__ import annotations

import re

HEADING = re.compile(r"^## ", re.MULTILINE)
BULLET = re.compile(r"^[ \t]*[-*][ \t]", re.MULTILINE)
# A word of decision contains one of the first, a word of correction one of the second. Looking for these takes a tenth
# of the time of an expression that begins anywhere; folding also finds the letters that IGNORECASE takes for others.
DECISION_PARTS = ("decide", "chose", "will", "switching", "going", "selected", "adopted")
CORRECTION_PARTS = ("fix", "bug", "resolved", "corrected", "patched", "root")
DECISION = re.compile(
    r"\b(?:decided?\s+to|chose|will\s+use|switching\s+to|going\s+with|selected|adopted)\b", re.IGNORECASE
)
CORRECTION = re.compile(r"\b(?:fix|fixed|bug|resolved|corrected|patched|root\s+cause)\b", re.IGNORECASE)

BASE = 30  # in hundredths, so that the sum is exact
LONGER_THAN_200 = 10
LONGER_THAN_500 = 10
SHORTER_THAN_50 = -10
WITH_HEADING = 10
WITH_BULLET = 5
WITH_DECISION = 15
WITH_CORRECTION = 10
PER_FACT = 5


def quality_score(body: str, *, has_tags: bool, has_domain: bool, has_workstream: bool) -> float:
    """
    Return the quality of a document by its form alone, from 0 to 1 in hundredths.

    Starts at 0.30. Adds 0.10 above 200 characters and 0.10 more above 500, 0.10 for a second-level heading, 0.05 for
    a ``-`` or ``*`` bullet, 0.15 for a word of decision, 0.10 for a word of correction and 0.05 for each declared
    fact. Subtracts 0.10 below 50 characters. Only whole words and phrases match, ignoring case, and a phrase may span
    a line end. The maximum sum of 1.05 is clamped to 1.
    """
    folded = body.casefold()
    points = (
        BASE
        + LONGER_THAN_200 * (len(body) > 200)
        + LONGER_THAN_500 * (len(body) > 500)
        + SHORTER_THAN_50 * (len(body) < 50)
        + WITH_HEADING * bool(HEADING.search(body))
        + WITH_BULLET * bool(BULLET.search(body))
        + WITH_DECISION * (any(map(folded.__contains__, DECISION_PARTS)) and bool(DECISION.search(body)))
        + WITH_CORRECTION
        * (any(map(folded.__contains__, CORRECTION_PARTS)) and bool(CORRECTION.search(body)))
        + PER_FACT * (has_tags + has_domain + has_workstream)
    )
    return max(0, min(100, points)) / 100
