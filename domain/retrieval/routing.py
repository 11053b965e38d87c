"""
Routing of a question to the search method that suits it, by whole words: the first matching rule decides.

Words with a second, everyday meaning ("setting up", "file a ticket", "would you like this") match in the intended one.
"""

import re
from enum import StrEnum

from clawmem.domain.retrieval.planning import has_several_topics

MAX_KEYWORD_LENGTH = 50  # characters, exclusive
SHOUTED_WORDS = 3  # a question of so many words, all in capitals, is shouted: capitals mark no name


class Route(StrEnum):
    """Search methods, in the order in which their rules are tried; `HYBRID` is the default."""

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
    r"""(?:last|prior|previous|cross|recent)[\s-](?:\w+\s)?sessions? | yesterday | last\s+time\s+we | from\s+last\s+time
    | hand-?offs? | what\s+happened\s+last | what\s+did\s+we\s+do | earlier\s+today | this\s+morning
    | what\s+we\s+discussed | when\s+we\s+last | last\s+thing\s+(?:we|i|you)\s+did | catch\s+me\s+up
    | (?:left|leave)\s+off | what(?:['’]?s|\s+is)\s+next\b(?=\W*\Z) | where\s+(?:were\s+we|was\s+i|did\s+(?:we|i)\s+stop) | what\s+(?:were\s+we|was\s+i)\s+(?:doing|working)"""
)
_CAUSAL = re.compile(
    r"""\A\W*why\b | \b(?:why\s+(?:did|was|were) | what\s+(?:caused|led\s+to) | reasons?\s+(?:for|why) | decided\s+to
    | decisions?\s+(?:about|to) | trade-?offs? | instead\s+of | chose\s+to | because\s+we)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_DISCOVERY = _words(
    r"""similar\s+to | related\s+to | what\s+(?:else|other) | reminds?\s+me\s+of | comparable | neighbou?rs(?!['’])
    | (?<!would\s)(?<!\bdo\s)(?<!\byou\s)(?<!\bwe\s)(?<!\bi\s)(?<!\bto\s)(?<!['’]d\s)like\s+this"""
)
_SEMANTIC = _words(
    r"how\s+does | explain(?:s|ed|ing)? | concepts? | overviews? | underst(?:and|anding|ood) | meaning\s+of"
    r"| what\s+is\s+the\s+purpose"
)
# A name in capitals or in code, a file name, or a word for technical data.
_KEYWORD = re.compile(
    r"""\b(?:[A-Z][A-Z0-9_]{2,} | [A-Za-z0-9]+_\w+ | [a-z]{3,}[A-Z]\w+)\b | \w\(\)
    | (?<![@\w])[\w-]*\w\.(?:[a-z][a-z0-9]{1,3}|[A-Z]{2,4})\b(?!\.\s*[a-z])
    | \b(?i:configs? | settings?(?!\s+(?:up|out|off|aside|a|an|the)\b) | errors? | paths? | ports? | urls?
    | (?<!\bto\s)files?(?!\s+(?:a|an|for|my|our|the|your)\b))\b""",
    re.VERBOSE,
)


def route(query: str) -> Route:
    """
    Return the first route whose rule matches *query*.

    `KEYWORD` is for questions under fifty characters that contain a name in capitals (unless the whole question is in
    capitals), a name in code, a file name, or a word for technical data: config, error, path …
    """
    if _TIMELINE.search(query):
        return Route.TIMELINE
    if _CAUSAL.search(query):
        return Route.CAUSAL
    if _DISCOVERY.search(query):
        return Route.DISCOVERY
    if has_several_topics(query):
        return Route.COMPLEX
    is_shouted = query == query.upper() and len(query.split()) >= SHOUTED_WORDS
    if len(query) < MAX_KEYWORD_LENGTH and _KEYWORD.search(query.lower() if is_shouted else query):
        return Route.KEYWORD
    return Route.SEMANTIC if _SEMANTIC.search(query) else Route.HYBRID
