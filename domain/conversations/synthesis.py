"""Memories that are drawn from imported conversations: the question to a model, and links between the memories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clawmem.domain.briefing.blocks import TITLE_CHARS
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import Note, note_body
from clawmem.domain.capture.observations import OBSERVATION, observer_prompt
from clawmem.domain.knowledge.llm_answer import (
    NUMBER,
    TEXT,
    ModelTask,
    enum_schema,
    list_schema,
    object_schema,
)
from clawmem.domain.security.injections import has_injection
from clawmem.domain.text.words import words
from clawmem.ports.knowledge import EVERY_KIND, Relation, RelationKind
from clawmem.ports.records import Document

WRITER = "mine-synthesis"
SHOWN = 3_000  # characters of a conversation that a model is shown
CONFIDENCE = 0.7
KINDS = (Kind.DECISION, Kind.PREFERENCE, Kind.MILESTONE, Kind.PROBLEM)
LINK_KINDS = sorted(EVERY_KIND - {RelationKind.USAGE, RelationKind.LINKS_TO})
_LINK = object_schema(
    "targetTitle relationType", targetTitle=TEXT, relationType=enum_schema(LINK_KINDS), weight=NUMBER
)
_OBSERVATION = object_schema("type title quote", **OBSERVATION, links=list_schema(_LINK))
TASK = ModelTask(WRITER, object_schema("observations", observations=list_schema(_OBSERVATION)), 0.3, 1200)
ASKED = (
    'An observation may have "links" to others, also of other conversations: [{"targetTitle", "relationType", "weight" '
    f"from 0 to 1}}]; relationType is one of {', '.join(LINK_KINDS)}. "
)
# A line of a memory with a link; its target may be drawn from a later conversation.
_RELATED = re.compile(r"^Related \((\w+), ([\d.]+)\): (.+)$", re.MULTILINE)


def synthesis_prompt(conversation: str) -> str:
    """Return the prompt that asks a model for the observations of a *conversation*, and for their links."""
    return ASKED + observer_prompt(conversation[:SHOWN])


def memory_notes(notes: Iterable[Note]) -> list[Note]:
    """
    Return the *notes* of kinds that are drawn from a conversation, without orders.

    Their titles differ, whatever the case: one that repeats a title gets its quote, too.
    """
    by_title: dict[str, Note] = {}
    for note in notes:
        if note.kind in KINDS and not has_injection(note_body(note)):
            is_repeated = note.title.lower() in by_title
            title = f"{note.title}: {note.quote}"[:TITLE_CHARS] if is_repeated else note.title
            by_title[title.lower()] = replace(note, title=title)
    return [*by_title.values()]


def read_links(answer: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the lines of the links in a model's answer by the title of their observation, without orders."""
    links: dict[str, list[str]] = {}
    for entry in answer["observations"]:
        title = " ".join(entry["title"].split())[:TITLE_CHARS]
        for link in entry.get("links", ()):
            weight = min(1.0, max(0.01, link.get("weight", 0.6)))
            target = " ".join(link["targetTitle"].split())[:TITLE_CHARS]
            line = f"Related ({link['relationType']}, {weight:.2f}): {target}"
            links.setdefault(title, []).extend([] if has_injection(target) else [line])
    return links


def memory_relations(drawn: Sequence[tuple[Document, str]], now: str) -> tuple[list[Relation], int]:
    """
    Return the relations that links in memories, each with its text, state, and the number of unresolved links.

    A link leads to the one memory with the words of its title; there may be none yet, or several.
    """
    ids: dict[tuple[str, ...], list[int]] = {}
    for document, _ in drawn:
        ids.setdefault(tuple(words(document.title)), []).append(document.id)
    relations, unresolved = list[Relation](), 0
    for document, body in drawn:
        for kind, weight, title in _RELATED.findall(body):
            targets = ids.get(tuple(words(title)), [])
            if kind not in LINK_KINDS or len(targets) != 1 or targets == [document.id]:
                unresolved += 1
            else:
                edge = Relation(document.id, targets[0], RelationKind(kind), float(weight), WRITER, now)
                relations.append(edge)
    return relations, unresolved
