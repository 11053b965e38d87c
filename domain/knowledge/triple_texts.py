"""Triples as language models write them: nearly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.domain.knowledge.entities import name_words
from clawmem.domain.knowledge.triples import LITERAL, PREDICATES, Statement
from clawmem.domain.retrieval.query_forms import STOP_WORDS
from clawmem.domain.security.escaping import unescape
from clawmem.domain.security.patterns import Pattern

MOST = 5  # of one observation
SHORTEST, LONGEST_SUBJECT, LONGEST_OBJECT = 2, 80, 120
MOST_DEPTH = 4  # of lists within lists

_PARTS = ("subject", "predicate", "object")
_ELEMENT = Pattern(
    r"<triple\b(?P<head>[^<>]*)>(?P<rest>.*?)(?=<triple\b|</triples?\s*>|\Z)", flags=re.DOTALL | re.IGNORECASE
)
_PART = Pattern(r"<(subject|predicate|object)\b[^<>]*>([^<]*)", flags=re.IGNORECASE)
_ATTRIBUTE = Pattern(r"\b(subject|predicate|object)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", flags=re.IGNORECASE)
_BETWEEN = r"[][()\s|,;:=→>\"'*-]+"
_LINE = Pattern(
    rf"^\W*(?P<subject>[^\W_].*?){_BETWEEN}(?P<predicate>{'|'.join(PREDICATES).replace('_', '[ _-]')})"
    rf"{_BETWEEN}(?P<object>.*[^\s|,;)\]\"'*.])\W*$",
    flags=re.IGNORECASE,
)
_LONGEST_LINE = LONGEST_SUBJECT + LONGEST_OBJECT + 80
_PLACEHOLDER = Pattern(
    r"\{\{|<!--|\$\{|^\W*$|^\W*(?:n/?a|none|null|unknown|todo|tbd|subject|predicate|object|entity|name|literal|value"
    r"|(?:subject|object|entity|canonical)[ _-](?:name|entity)|(?:entity|name)[ _-]or[ _-]literal)\W*$",
    flags=re.IGNORECASE,
)


def read_triples(said: Any) -> list[Statement]:
    """
    What a model wrote as triples, in whichever form: at most five, each once; nothing raises.

    Read are ``<triple>`` elements, with their parts as elements or attributes, and where there are none, lines of
    ``subject predicate object`` however they are parted; and lists of such texts, of objects with these members,
    and of lists of three. Dropped is what has an unknown predicate, a placeholder, a name that is too short, too
    long or nothing but stop words.
    """
    found = (statement for parts in _offered(said) if (statement := _statement(*parts)))
    return list(dict.fromkeys(found))[:MOST]


def are_offered(said: Any) -> bool:
    """Whether there is anything that was meant to be read."""
    return bool(said.strip() if isinstance(said, str) else said)


def _offered(said: Any, depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """The three parts of everything that looks like a triple."""
    if isinstance(said, str):
        yield from _written(said)
    elif isinstance(said, Mapping):
        yield from _of_mapping(said, depth)
    elif isinstance(said, list) and _are_parts(said):
        yield said[0], said[1], said[2]
    elif isinstance(said, list) and depth < MOST_DEPTH:
        for one in said:
            yield from _offered(one, depth + 1)


def _of_mapping(said: Mapping[Any, Any], depth: int) -> Iterator[tuple[str, str, str]]:
    parts = [said.get(name) for name in _PARTS]
    if all(isinstance(part, str) for part in parts):
        yield str(parts[0]), str(parts[1]), str(parts[2])
    for name in ("triples", "triple"):
        if name in said and depth < MOST_DEPTH:
            yield from _offered(said[name], depth + 1)


def _are_parts(said: list[Any]) -> bool:
    """Whether a list is one triple; three texts of which each is one are not."""
    are_texts = len(said) == len(_PARTS) and all(isinstance(part, str) for part in said)
    return are_texts and next(_written(said[0]), None) is None


def _written(text: str) -> Iterator[tuple[str, str, str]]:
    elements = list(_ELEMENT.compiled.finditer(text))
    for one in elements:
        parts = {
            name.lower(): value or other for name, value, other in _ATTRIBUTE.compiled.findall(one["head"])
        }
        parts |= {name.lower(): value for name, value in _PART.compiled.findall(one["rest"])}
        if parts.keys() >= set(_PARTS):
            yield parts["subject"], parts["predicate"], parts["object"]
    for line in () if elements else text.splitlines():
        if len(line) <= _LONGEST_LINE and (found := _LINE.compiled.match(line)):
            yield found["subject"], found["predicate"], found["object"]


def _statement(subject: str, predicate: str, object_: str) -> Statement | None:
    one = Statement(_flat(subject), re.sub(r"[\s-]+", "_", _flat(predicate).lower()), _flat(object_))
    is_name = one.predicate not in LITERAL
    if (
        one.predicate in PREDICATES
        and SHORTEST <= len(one.subject) <= LONGEST_SUBJECT
        and SHORTEST <= len(one.object) <= LONGEST_OBJECT
        and not any(_PLACEHOLDER.compiled.search(part) for part in (one.subject, one.object))
        and _names_something(one.subject)
        and (_names_something(one.object) or not is_name)
    ):
        return one
    return None


def _names_something(name: str) -> bool:
    """``it`` and ``the other one`` are words for something that only the conversation knows."""
    return bool(set(name_words(name)) - STOP_WORDS)


def _flat(text: str) -> str:
    return " ".join(unescape(text).split()).strip("\"'`")
