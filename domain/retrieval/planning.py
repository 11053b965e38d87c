"""Plans of a search: a question about several topics is split into several questions, by rules or by a language model.

"What did we decide about caching as well as logging, and why did we drop the queue?" becomes three questions. A part
that is no complete question ("logging") gets the beginning of the first part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clawmem.domain.retrieval.intent import Intent, classify_intent
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import is_unspaced, words
from clawmem.ports.models import JsonSchema

MAX_SIMPLE_WORDS = 5
LONG_WORD = 3  # letters; shorter words are mostly function words and do not make a question complex
MAX_CLAUSES = 4
FIRST, SECOND, THIRD = 1, 2, 3  # priorities
MOST_IMPORTANT, LEAST_IMPORTANT = 1, 5
WEIGHT = 6  # weight of a clause is this minus its priority

# The patterns are unambiguous, so that long texts are matched in linear time.
_ASKS = r"(?:is|are|was|were|do|does|did|has|have|had|can|will|should)"
_ASKED_ON = rf"and\s+(?=(?:what|how|why)\b|(?:when|where|who|which)\s+{_ASKS}\b)"
_SAID_ON = r"(?:and\s+also|additionally|as\s+well\s+as|along\s+with)\b"
_PLUS = r"(?<!\d\s)(?<!\bc\s)(?<!\bplus\s)plus\b(?!\s+(?:\d|plus\b))"  # neither a sum nor "C plus plus"
_JOIN = re.compile(rf"\b(?:{_SAID_ON}|{_ASKED_ON}|{_PLUS})", re.IGNORECASE)
_TWO_QUESTIONS = r"[?？][^\w?？]*\w[^?？]*[?？]"
_QUESTION_END = re.compile(r"(?<=[?？])(?=[^\w?？]*\w)")
_FAR = 200  # maximum characters between "both" and its "and"
_BOTH = re.compile(
    rf"\bboth\s+(?P<one>[^\s,;.?][^,;.?]{{0,{_FAR}}}?)\s+and\s+(?P<other>[^\s,;.?][^,;.?]*)", re.IGNORECASE
)
_SEVERAL_TOPICS = re.compile(
    rf"\b(?:{_SAID_ON}|{_ASKED_ON}|both\s.{{1,{_FAR}}}?\sand\s+\S)|{_TWO_QUESTIONS}",
    re.IGNORECASE | re.DOTALL,
)
_PLUS_TOPIC = re.compile(rf"\b{_PLUS}", re.IGNORECASE)

_ASKS_ITSELF = re.compile(
    r"(?:what|how|why|who|whom|whose|when|where|which|is|are|was|were|do|does|did|can|could|should|would|will|has"
    r"|have|had|show|find|list|tell|give|explain|compare|summari[sz]e)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"\A.*\b(?:about|for|on|with|of|in|to|from|between|at|by|regarding)\s+(?=\S)", re.IGNORECASE
)
_PREPOSITION = re.compile(r"\A(?:about|for|on|with|of|in|to|from|at|by|regarding)\s+", re.IGNORECASE)

TEMPERATURE = 0.3
MAX_TOKENS = 300
MAX_CONTEXT = 300  # characters of the session's subject
# Schema for reading: one wrong clause does not affect the others, and many models omit the wrapping object.
READABLE: JsonSchema = {
    "type": ["object", "array"],
    "properties": {"clauses": {"type": "array"}},
    "required": ["clauses"],
}
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
    """One question of a plan; ``priority`` ranges from 1, the highest, to 5."""

    kind: ClauseKind
    query: str
    priority: int

    @property
    def weight(self) -> int:
        """Weight of its ranking among those of the other clauses: 6 minus the priority, 5 to 1."""
        return WEIGHT - self.priority


_CLAUSE = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": [kind.value for kind in ClauseKind]},
        "query": {"type": "string"},
        "priority": {"type": "integer"},
        "reasoning": {"type": "string"},
    },
    "required": ["type", "query", "priority"],
}
SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {"clauses": {"type": "array", "items": _CLAUSE}},
    "required": ["clauses"],
}


def has_several_topics(query: str) -> bool:
    """
    Whether *query* joins several questions.

    It does if it contains "and also", "and what / how / why", "and when / where / who / which" with an interrogative
    verb, "both … and", two question marks with words between them, "additionally", "as well as" or "along with". Whole
    words only, ignoring case.
    """
    return _SEVERAL_TOPICS.search(query) is not None


def is_simple(query: str) -> bool:
    """
    Whether *query* is searched undivided: at most five words of three letters or more, or no conjunction.

    "Plus" also counts as a conjunction here, except between numbers and in the names of languages.
    """
    long_words = [word for word in words(query) if len(word) >= LONG_WORD or is_unspaced(word)]
    if len(long_words) <= MAX_SIMPLE_WORDS:
        return True
    return not has_several_topics(query) and _PLUS_TOPIC.search(query) is None


def plan(query: str) -> tuple[Clause, ...]:
    """
    Return the clauses to search for *query*, two to four, most important first; none for a blank query.

    A simple question, and each part of a question of two, is searched lexically (in the graph if it asks why or who)
    and, with lower priority, by vectors. Of three or more parts each is searched lexically and the whole question by
    vectors; the third part then contains all remaining ones. A complex question that cannot be split is searched
    undivided in both ways.
    """
    if not query.strip():
        return ()
    if is_simple(query):
        return _both_ways(query)
    parts = question_parts(query)
    if len(parts) < 2:
        return (Clause(ClauseKind.LEXICAL, query, FIRST), Clause(ClauseKind.VECTOR, query, SECOND))
    if len(parts) == 2:
        clauses = [clause for part in parts for clause in _both_ways(part)]
        return tuple(sorted(clauses, key=lambda clause: clause.priority))
    return (*(_by_words(part) for part in _folded(parts)), Clause(ClauseKind.VECTOR, query, THIRD))


def question_parts(query: str) -> list[str]:
    """Return the questions that *query* joins, in order, each once and complete; *query* alone if it joins none."""
    parts: list[str] = []
    for sentence in _QUESTION_END.split(query):
        parts += _completed(part for joined in _JOIN.split(sentence) for part in _both_apart(joined))
    return list(dict.fromkeys(parts))


def _both_ways(query: str) -> tuple[Clause, Clause]:
    return _by_words(query), Clause(ClauseKind.VECTOR, query, THIRD)


def _by_words(query: str) -> Clause:
    asks_graph = classify_intent(query).intent in (Intent.WHY, Intent.ENTITY)
    return Clause(ClauseKind.GRAPH if asks_graph else ClauseKind.LEXICAL, query, FIRST)


def _folded(parts: list[str]) -> list[str]:
    most = MAX_CLAUSES - 1
    return [*parts[: most - 1], " ".join(parts[most - 1 :])]


def _both_apart(part: str) -> Iterator[str]:
    """Yield one part for A and one for B of "both A and B rest"; B is assumed to have as many words as A."""
    both = _BOTH.search(part)
    if both is None:
        yield part
        return
    other = both["other"].split()
    size = len(both["one"].split())
    rest = " ".join(other[size:]) + part[both.end() :]
    for name in (both["one"], " ".join(other[:size])):
        yield f"{part[: both.start()]}{name} {rest}".strip()


def _completed(parts: Iterable[str]) -> Iterator[str]:
    """Yield parts with content; a part that is no question itself gets the beginning of its sentence's first part."""
    first = ""
    for part in (part.strip(" ,;:.\n\t") for part in parts):
        if not first:
            first = part
            if part:
                yield part
        elif _has_content(part):
            yield part if _ASKS_ITSELF.match(part) else _begun_as(first, part)
        elif part:
            yield f"{part.rstrip('?？ ')} {first}"


def _begun_as(first: str, part: str) -> str:
    lead = _LEAD.match(first)
    return lead[0] + _PREPOSITION.sub("", part, count=1) if lead else part


def _has_content(part: str) -> bool:
    return any(word not in STOP_WORDS for word in words(part))


def decomposition_prompt(query: str, context: str = "") -> str:
    """Return the prompt for decomposing *query*; the first 300 characters of *context* name the session's subject."""
    about = context.strip()[:MAX_CONTEXT]
    return _PROMPT.format(query=query, context=f"\nThe session is about: {about}\n" if about else "")


def read_clauses(answer: Any) -> tuple[Clause, ...]:
    """
    Return the clauses of an answer with the schema `READABLE`, most important first, at most four; none if malformed.

    A clause of an unknown type or without words is dropped, and so are duplicates. A priority is clamped to 1..5; one
    that is not an integer counts as 5.
    """
    given = answer.get("clauses") if isinstance(answer, dict) else answer
    read = [_clause(one) for one in given] if isinstance(given, list) else []
    distinct: dict[tuple[ClauseKind, str], Clause] = {}
    for clause in sorted(filter(None, read), key=lambda clause: clause.priority):
        distinct.setdefault((clause.kind, clause.query.casefold()), clause)
    return tuple(distinct.values())[:MAX_CLAUSES]


def _clause(given: Any) -> Clause | None:
    if not isinstance(given, dict):
        return None
    kind, query = given.get("type"), given.get("query")
    if kind not in tuple(ClauseKind) or not isinstance(query, str) or not query.strip():
        return None
    return Clause(ClauseKind(kind), query.strip(), _priority(given.get("priority")))


def _priority(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        return LEAST_IMPORTANT
    return min(max(given, MOST_IMPORTANT), LEAST_IMPORTANT)
