"""
Which way of looking things up a question calls for.

The rules are read in order and the first that fits decides. They hold whole words, and where a word has an
everyday meaning too ("setting up", "file a ticket", "would you like this") only the one that is meant.
"""

from __future__ import annotations

import re
from enum import StrEnum

from clawmem.domain.retrieval.planning import has_several_topics

MAX_KEYWORD_LENGTH = 50  # characters, exclusive
SHOUTED_WORDS = 3


class Route(StrEnum):
    """The ways in, in the order in which their rules are read; `HYBRID` is for everything else."""

    TIMELINE = "timeline"
    CAUSAL = "causal"
    DISCOVERY = "discovery"
    COMPLEX = "complex"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE | re.VERBOSE)


_TIMELINE = _words(
    r"""(?:last|prior|previous|cross)[\s-]sessions? | yesterday | last\s+time\s+we | hand-?offs?
    | what\s+happened\s+last | what\s+did\s+we\s+do | earlier\s+today | this\s+morning
    | what\s+we\s+discussed | when\s+we\s+last"""
)
_CAUSAL = _words(
    r"""why\s+(?:did|was|were) | what\s+(?:caused|led\s+to) | reasons?\s+for | decided\s+to | decisions?\s+about
    | trade-?offs? | instead\s+of | chose\s+to | because\s+we"""
)
_BEGINS_WITH_WHY = re.compile(r"\W*why\b", re.IGNORECASE)
_DISCOVERY = _words(
    r"""similar\s+to | related\s+to | what\s+(?:else|other) | reminds?\s+me\s+of
    | (?<!would\s)(?<!\bdo\s)(?<!\byou\s)(?<!\bwe\s)(?<!\bi\s)(?<!\bto\s)(?<!['’]d\s)like\s+this
    | comparable | neighbou?rs?"""
)
_SEMANTIC = _words(
    r"""how\s+does | explain(?:s|ed|ing)? | concepts? | overviews? | underst(?:and(?:s|ing)?|ood) | meaning\s+of
    | what\s+is\s+the\s+purpose"""
)
_PLACE_OF_SETTINGS = _words(
    r"""configs? | settings? (?!\s+(?:up|out|off|aside|a|an|the)\b) | errors? | paths? | ports? | urls?
    | (?<!\bto\s) files? (?!\s+(?:a|an|for|my|our|the|your)\b)"""
)
_FILE_NAME = re.compile(r"(?<![@\w])[\w-]*\w\.(?:[a-z][a-z0-9]{1,3}|[A-Z]{2,4})\b(?!\.\s*[a-z])")
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")


def route(query: str) -> Route:
    """
    The first route whose rule fits *query*.

    Keywords are for questions under fifty characters that hold a name in capitals (where not everything is),
    a file name, or one of the words that stand for where something is kept: config, error, path …
    """
    if _TIMELINE.search(query):
        return Route.TIMELINE
    if _CAUSAL.search(query) or _BEGINS_WITH_WHY.match(query):
        return Route.CAUSAL
    if _DISCOVERY.search(query):
        return Route.DISCOVERY
    if has_several_topics(query):
        return Route.COMPLEX
    if len(query) < MAX_KEYWORD_LENGTH and _names_a_thing(query):
        return Route.KEYWORD
    return Route.SEMANTIC if _SEMANTIC.search(query) else Route.HYBRID


def _names_a_thing(query: str) -> bool:
    capitals = not _is_shouted(query) and _CAPITALS.search(query)
    return bool(capitals or _FILE_NAME.search(query) or _PLACE_OF_SETTINGS.search(query))


def _is_shouted(query: str) -> bool:
    """Whether all of several words are in capitals, so that capitals say nothing."""
    return query == query.upper() and len(query.split()) >= SHOUTED_WORDS
