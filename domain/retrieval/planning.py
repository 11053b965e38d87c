"""
Routes and plans of a search: the method that suits a question, and the questions that one about several topics becomes.

Words with a second, everyday meaning ("setting up", "file a ticket") choose a route only in the intended one.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clawmem.domain.retrieval.intent import GRAPH_INTENTS, classify_intent
from clawmem.domain.text.vocabulary import function_words
from clawmem.domain.text.words import is_unspaced, words
from clawmem.ports.models import JsonSchema

MAX_CLAUSES = 4

# The patterns are unambiguous, so that long texts are matched in linear time.
_ASKS = r"(?:is|are|was|were|do|does|did|has|have|had|can|will|should)"
_ASKED_ON = rf"and\s+(?=(?:what|how|why)\b|(?:when|where|who|which)\s+{_ASKS}\b)"
_SAID_ON = r"(?:and\s+also|additionally|as\s+well\s+as|along\s+with)\b"
_JOIN = re.compile(rf"\b(?:{_SAID_ON}|{_ASKED_ON})", re.IGNORECASE)
_QUESTION_END = re.compile(r"(?<=[?？])(?=[^\w?？]*\w)")
_SEVERAL_TOPICS = re.compile(
    rf"\b(?:{_SAID_ON}|{_ASKED_ON}|both\s.{{1,200}}?\sand\s+\S)|[?？][^\w?？]*\w[^?？]*[?？]",
    re.IGNORECASE | re.DOTALL,
)

TEMPERATURE = 0.3
MAX_TOKENS = 300
_PROMPT = """\
Somebody asks a question of their own notes. Take it apart into 2 to 4 short questions that can be looked up
one by one, and say for each how:
- "bm25": by its words; names, identifiers, exact terms
- "vector": by its meaning; described in other words than the notes may use
- "graph": along causes, decisions and people; why something happened, who it has to do with
Priority 1 is the most important, 5 the least. Keep names and terms as they are written. Add nothing that
was not asked.
{context}
Question: {query}

Answer with JSON only:
{{"clauses": [{{"type": "bm25", "query": "...", "priority": 1}}, ...]}}"""


class ClauseKind(StrEnum):
    """Retriever that answers a clause."""

    LEXICAL = "bm25"
    VECTOR = "vector"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Clause:
    """One question of a plan; ``priority`` ranges from 1, the highest, to 5. ``result_count`` counts its results."""

    type: ClauseKind
    query: str
    priority: int
    result_count: int = 0


_CLAUSE: JsonSchema = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": [kind.value for kind in ClauseKind]},
        "query": {"type": "string"},
        "priority": {"type": "integer"},
    },
    "required": ["type", "query", "priority"],
}
SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {"clauses": {"type": "array", "items": _CLAUSE}},
    "required": ["clauses"],
}


def is_simple(query: str) -> bool:
    """Whether *query* is searched undivided: at most five words of three letters or more, or no conjunction."""
    # Shorter words are mostly function words and do not make a question complex.
    long_words = [word for word in words(query) if len(word) >= 3 or is_unspaced(word)]
    return len(long_words) <= 5 or not _SEVERAL_TOPICS.search(query)


def plan(query: str) -> tuple[Clause, ...]:
    """
    Return the clauses to search for *query*, two to four, most important first.

    A simple question, and each of two parts, is searched lexically (in the graph if it asks why or who) and, with lower
    priority, by vectors. Of more parts, the third one contains all remaining ones; each is searched lexically and the
    whole question by vectors. A complex question that cannot be split is searched undivided in both ways.
    """
    parts = [query]
    if not is_simple(query):
        split = (
            part.strip(" ,;:.\n\t")
            for sentence in _QUESTION_END.split(query)
            for part in _JOIN.split(sentence)
        )
        parts = [part for part in dict.fromkeys(split) if set(words(part)) - function_words(words(part))]
        if len(parts) < 2:
            return (Clause(ClauseKind.LEXICAL, query, 1), Clause(ClauseKind.VECTOR, query, 2))
    by_meaning = parts
    if len(parts) > 2:
        parts, by_meaning = [*parts[: MAX_CLAUSES - 2], " ".join(parts[MAX_CLAUSES - 2 :])], [query]
    asks_graph = [classify_intent(part).intent in GRAPH_INTENTS for part in parts]
    kinds = (ClauseKind.GRAPH if is_graph else ClauseKind.LEXICAL for is_graph in asks_graph)
    by_words = (Clause(kind, part, 1) for kind, part in zip(kinds, parts, strict=True))
    return (*by_words, *(Clause(ClauseKind.VECTOR, part, 3) for part in by_meaning))


def decomposition_prompt(query: str, context: str = "") -> str:
    """Return the prompt for decomposing *query*; the first 300 characters of *context* name the session's subject."""
    about = context.strip()[:300]
    return _PROMPT.format(query=query, context=f"\nThe session is about: {about}\n" if about else "")


def read_clauses(answer: Any) -> tuple[Clause, ...]:
    """
    Return the clauses of an answer by the `SCHEMA`, most important first, at most four; none if malformed.

    A clause of an unknown type or without words is dropped, and so are duplicates. A priority is clamped to 1..5; one
    that is not an integer counts as 5.
    """
    distinct: dict[tuple[str, str], Clause] = {}
    items = answer.get("clauses") if isinstance(answer, dict) else answer
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        kind, query, priority = (item.get(key) for key in ("type", "query", "priority"))
        if kind in tuple(ClauseKind) and isinstance(query, str) and query.strip():
            level = priority if isinstance(priority, int) and not isinstance(priority, bool) else 5
            clause = Clause(ClauseKind(kind), query.strip(), min(max(level, 1), 5))
            key = clause.type, clause.query.casefold()
            distinct[key] = min(distinct.get(key, clause), clause, key=lambda clause: clause.priority)
    return tuple(sorted(distinct.values(), key=lambda clause: clause.priority)[:MAX_CLAUSES])


MAX_KEYWORD_LENGTH = 50  # characters, exclusive


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
    | what\s+we\s+discussed | when\s+we\s+last | last\s+thing\s+(?:we|i|you)\s+did | (?:catch|bring)\s+me\s+up
    | (?:left|leave)\s+off | what(?:['’]?s|\s+is)\s+next\b(?=\W*\Z) | where\s+(?:were\s+we|was\s+i|did\s+(?:we|i)\s+stop)
    | (?:where\s+(?:we\s+were|i\s+was|are\s+we) | wo\s+(?:waren\s+wir|wir\s+waren|war\s+ich)(?:\s+gerade)?)(?=\W*\Z)
    | what\s+(?:were\s+we|was\s+i|have\s+(?:we|i)\s+been)\s+(?:doing|working)
    | was\s+(?:haben\s+wir|habe\s+ich)\s+zuletzt | woran\s+(?:\w+\s+){2,3}gearbeitet"""
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
    capitals), a name in code, a file name, or a word for technical data: config, error, path … `COMPLEX` is for questions
    joined by "and also", "and what", "both … and", "as well as" or two question marks with words between.
    """
    if _TIMELINE.search(query):
        return Route.TIMELINE
    if _CAUSAL.search(query):
        return Route.CAUSAL
    if _DISCOVERY.search(query):
        return Route.DISCOVERY
    if _SEVERAL_TOPICS.search(query):
        return Route.COMPLEX
    is_shouted = query == query.upper() and len(query.split()) >= 3  # capitals mark no name
    if len(query) < MAX_KEYWORD_LENGTH and _KEYWORD.search(query.lower() if is_shouted else query):
        return Route.KEYWORD
    return Route.SEMANTIC if _SEMANTIC.search(query) else Route.HYBRID
