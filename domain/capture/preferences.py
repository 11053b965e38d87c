"""
Cue phrases of preferences, in English and German.

Separate from the other cues, because every prompt is checked for preferences and this module loads fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

OPENERS = (
    r"^(?:(?:ok(?:ay)?|k|yes|yeah|yep|right|fine|good|great|nice|cool|alright|agreed|true|perfect|understood|noted|"
    r"ah|ha|hm+|wow|phew|and|so|but|then|well|super|gut|ja|genau|dann|also|"
    r"(?:thanks|thank you|danke|hi|hello|hallo)(?: \w+(?=[,.!:;—-]))?)\b[\s,.!:;—-]*)*"
)

ASKED = (
    r"\?[\"')\]]*$",
    (
        rf"{OPENERS}(?:should|could|would|can|may|might|shall|must|do|does|did|is|are|was|were|has|have|will)"
        r" (?:i|we|you|they|it|he|she|that|this|these|those|there|the|a|an|our|my|your|anyone|somebody)\b"
    ),
    rf"{OPENERS}(?:what|which|who|whom|why|how|when|where)(?:'s|'re)?\b(?! matters| counts)",
    r"^(?:soll|sollen|sollte|kann|können|könnte|wer|wie|was|wann|warum|welche[rs]?)\b",
)

PREFERRED_EVEN_WITHIN_A_QUESTION = (
    r"\bi(?: really| generally| usually| strongly| much)? prefer\b|\bmy preference\b|\bich bevorzuge\b",
)

PREFERRED = (
    r"\bi(?: really)? (?:hate|dislike|can't stand|love it when)\b|\bi (?:like|love) (?!it\b|this\b|that\b|the\b|your\b)",
    r"\bi (?:do not|don't|never|always) (?:ever )?(?:want|like|need to see)\b|\bich (?:will|möchte|mag) (?:kein|nie|immer)",
    r"\b(?:always|never|immer|niemals?)\b(?!.*\b(?:was|were|has|had)\b).*\bplease\b|\bplease\b.*\b(?:always|never|don't|do not)\b",
    rf"{OPENERS}(?:please )?(?:always|never|do not|don't|avoid) (?!worry|know|think|forget|bother|mind)\w+",
    r"(?<!\bas)(?<!\blike),? always[.!]?$|\bnever guess\b|\bevery time you\b|\bstop \w+ing\b",
    r"\bi(?:'d| would) rather\b.*\bthan\b|\bich hätte lieber\b",
    r"\bno [\w-]+ please\b|\bplease no [\w-]+|\bin plain \w+ please\b",
    rf"{OPENERS}keep \S+ (?:short|simple|small|brief|plain)\b",
    r"\bi want (?:it|you|them|everything|all) to\b.*\b(?:never|always|and)\b",
)


@cache
def compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern that matches any of *patterns*, ignoring case."""
    return re.compile("|".join(f"(?:{one})" for one in patterns), re.IGNORECASE)


def is_like(patterns: Iterable[str], sentence: str) -> bool:
    """Whether one of *patterns* occurs in *sentence*."""
    return compiled(tuple(patterns)).search(sentence.replace("’", "'")) is not None


def is_preference(sentence: str) -> bool:
    """Whether the user states a preference in *sentence*; other kinds are not distinguished."""
    if is_like(PREFERRED_EVEN_WITHIN_A_QUESTION, sentence):
        return True
    return is_like(PREFERRED, sentence) and not is_like(ASKED, sentence)
