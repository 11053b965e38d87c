"""
Routing of a question to the search method that suits it.

The rules are tried in order and the first match decides. They match whole words. Words with a second, everyday
meaning ("setting up", "file a ticket", "would you like this") only match in the intended meaning.
"""

from __future__ import annotations

import re
from enum import StrEnum

from clawmem.domain.retrieval.planning import has_several_topics

MAX_KEYWORD_LENGTH = 50  # characters, exclusive
SHOUTED_WORDS = 3


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
    r"""(?:last|prior|previous|cross|recent|latest|past)[\s-](?:\w+\s)?sessions? | yesterday | last\s+time\s+we
    | hand-?offs? | what\s+happened\s+last | what\s+did\s+we\s+do | earlier\s+today | this\s+morning
    | what\s+we\s+discussed | when\s+we\s+last | (?:left|leave|leaving)\s+off
    | where\s+(?:were\s+we|was\s+i|(?:did|have)\s+(?:we|i|you)\s+(?:stop(?:ped)?|g[eo]t\s+to))
    | (?:continue|resume|go\s+on|carry\s+on|pick\s+(?:it\s+|things\s+)?up|start)\s+(?:from\s+)?where
    | (?:what(?:['’]?s|\s+is|\s+comes|\s+was)\s+(?:up\s+)?next|what\s+(?:do|should)\s+(?:i|we)\s+do\s+next
      |what(?:['’]?s|\s+is|\s+are)\s+(?:the|my|our)\s+next\s+steps?)
      (?=\s*(?:[?!.]*\s*$|(?:here|now|today|for\s+(?:me|us))\b))
    | what\s+(?:were\s+we|was\s+i)\s+(?:doing|working) | from\s+last\s+time | catch\s+me\s+up
    | last\s+thing\s+(?:we|i|you)\s+did
    | been\s+(?:doing|working\s+on)\s+(?:lately|recently)"""
)
_CAUSAL = _words(
    r"""why\s+(?:did|was|were) | how\s+come
    | what\s+(?:caused|led\s+to|(?:made|convinced|prompted)\s+(?:us|me|you|him|her|them))
    | reasons?\s+(?:for|why|we|that\s+we) | reasoning\s+behind | rationale | motivations?\s+(?:for|behind)
    | deciding\s+factors? | decided\s+to | decisions?\s+(?:about|to) | trade-?offs? | instead\s+of | chose\s+to
    | because\s+we
    | how\s+did\s+\w+\s+end\s+up"""
)
_BEGINS_WITH_WHY = re.compile(r"\A\W*why\b", re.IGNORECASE)
# After an article, a possessive or "new", "neighbours" means people.
_NEIGHBOURS = r"""
    (?<!\bthe\s)(?<!\bour\s)(?<!\bmy\s)(?<!\byour\s)(?<!\btheir\s)(?<!\bnew\s) neighbou?rs (?!['’])
    | neighbou?rs\s+of"""
_DISCOVERY = _words(
    rf"""similar | related\s+(?:to|notes?|documents?|pages?|material|work) | what\s+(?:else|other)
    | (?:other|more)\s+notes | reminds?\s+me\s+of | (?:any|some|every)thing\s+else | see\s+also
    | along\s+the\s+same\s+lines
    | (?<!would\s)(?<!\bdo\s)(?<!\byou\s)(?<!\bwe\s)(?<!\bi\s)(?<!\bto\s)(?<!['’]d\s)like\s+this
    | comparable | {_NEIGHBOURS}"""
)
_SEMANTIC = _words(
    r"""how\s+does | how\s+do\s+(?!(?:i|we|you)\b)\S.{0,60}\bwork | explain(?:s|ed|ing)? | concepts?
    | overviews? | underst(?:and(?:s|ing)?|ood) | meaning\s+of | what\s+is\s+the\s+purpose
    | what\s+do(?:es)?\s.{1,60}\bmean
    | big\s+picture | walk\s+me\s+through | introduction\s+to | idea\s+behind"""
)
_PLACE_OF_SETTINGS = _words(
    r"""configs? | settings? (?!\s+(?:up|out|off|aside|a|an|the)\b) | errors? | paths? | ports? | urls?
    | (?<!\bto\s) files? (?!\s+(?:a|an|for|my|our|the|your)\b)"""
)
# Identifiers of programs: a_name, aName, a.dotted.name, call(), --flag, #482, SomethingError.
_IDENTIFIER = re.compile(
    r"""\b(?: [A-Za-z0-9]+_\w+ | [a-z]{3,}[A-Z][a-z]\w* | [A-Za-z]\w+(?:\.[A-Za-z]\w+){2,}
    | \w+(?:Error|Exception|Warning) )\b | \w\(\) | (?<!\S)--[a-z] | (?<!\S)\#[0-9]+\b""",
    re.VERBOSE,
)
_FILE_NAME = re.compile(r"(?<![@\w])[\w-]*\w\.(?:[a-z][a-z0-9]{1,3}|[A-Z]{2,4})\b(?!\.\s*[a-z])")
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")


def route(query: str) -> Route:
    """
    Return the first route whose rule matches *query*.

    `KEYWORD` is for questions under fifty characters that contain a name in capitals (unless the whole question is in
    capitals), another identifier of a program, a file name, or a word for technical data: config, error, path …
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
    name = capitals or _IDENTIFIER.search(query) or _FILE_NAME.search(query)
    return bool(name or _PLACE_OF_SETTINGS.search(query))


def _is_shouted(query: str) -> bool:
    """Whether the question has three words or more, all in capitals, so that capitals do not mark names."""
    return query == query.upper() and len(query.split()) >= SHOUTED_WORDS
