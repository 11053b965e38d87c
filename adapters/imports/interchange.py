"""Interchange files: Portable AI Memory, the reference memory server, and agent files of Letta."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clawmem.adapters.imports.reading import found_in, json_of, share, store_of, text, text_of, words
from clawmem.ports.imports import (
    ForeignFact,
    ForeignMemory,
    ForeignRelation,
    StoreUnreadable,
    Unmatched,
)

PAM, LINES, LETTA = "pam", "memory-jsonl", "letta"
_TYPES = {"preference": "preference", "project": "project"}
_INACTIVE = ("retracted", "deprecated")


def _pam(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield the memories of a store; retracted ones and the index of conversations have no counterpart."""
    file = found_in(PAM, place, "memory-store.json")
    store = json_of(PAM, file)
    memories = store.get("memories") if isinstance(store, dict) else None
    if not isinstance(memories, list) or store.get("schema") != "portable-ai-memory":
        raise StoreUnreadable(
            PAM, str(file), 'it lacks "schema": "portable-ai-memory" or a list of "memories"'
        )
    related = defaultdict(list)
    for one in filter(_is_object, store.get("relations") or ()):
        related[str(one.get("from"))].append(
            ForeignRelation(str(one.get("to")), text(one, "type"), share(one.get("confidence"), 1.0))
        )
    for one in filter(_is_object, memories):
        if one.get("status") in _INACTIVE or not text(one, "content").strip():
            yield Unmatched(f"{one.get('status') or 'empty'} memory")
        else:
            yield _pam_memory(one, tuple(related[str(one.get("id"))]))
    yield from [Unmatched("conversation")] * len(store.get("conversations_index") or ())


def _pam_memory(one: Mapping[str, Any], related: tuple[ForeignRelation, ...]) -> ForeignMemory:
    metadata, temporal, confidence = (_object(one, name) for name in ("metadata", "temporal", "confidence"))
    kind = text(one, "custom_type") or text(one, "type")
    return ForeignMemory(
        text(one, "id"),
        text(one, "content"),
        text(one, "summary"),
        text(metadata, "content_type") or _TYPES.get(kind, "note"),
        text(temporal, "created_at"),
        (*words(one.get("tags")), kind),
        share(confidence.get("current", confidence.get("initial")), 0.5),
        project=text(metadata, "domain") or text(_object(one, "provenance"), "platform"),
        relations=related,
    )


def _lines(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield the entities of a memory file with their relations as facts; lines that are no JSON are counted."""
    file = found_in(LINES, place, "memory.jsonl", "memory.json")
    entities: dict[str, Mapping[str, Any]] = {}
    facts = defaultdict(list)
    for line in filter(str.strip, text_of(LINES, file).splitlines()):
        one = _line(line)
        if one.get("type") == "entity" and one.get("name"):
            entities[str(one["name"])] = one
        elif one.get("type") == "relation" and one.get("from") and one.get("to"):
            facts[str(one["from"])].append((text(one, "relationType"), str(one["to"])))
        else:
            yield Unmatched("line that is no entity or relation")
    if not entities:
        raise StoreUnreadable(LINES, str(file), "it has no entity")
    for name, one in entities.items():
        kind = text(one, "entityType")
        stated = tuple(ForeignFact(name, predicate, to, kind=kind) for predicate, to in facts[name])
        observed = words(one.get("observations"))
        yield ForeignMemory(name, "", name, tags=(kind,) if kind else (), facts=stated, observations=observed)
    yield from [Unmatched("relation of no entity")] * sum(len(facts[one]) for one in {*facts} - {*entities})


def _letta(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield the memory blocks of an agent file, of one agent or of several; messages and tools have no counterpart."""
    if place.is_dir():
        files = sorted(place.glob("*.af"))
        place = files[0] if len(files) == 1 else found_in(LETTA, place, "agent.af")
    agent = json_of(LETTA, place)
    blocks = (
        next((agent[one] for one in ("blocks", "core_memory") if one in agent), None)
        if _is_object(agent)
        else None
    )
    if not isinstance(blocks, list):
        raise StoreUnreadable(LETTA, str(place), "it is no agent file with memory blocks")
    agents = [one for one in agent.get("agents") or (agent,) if _is_object(one)]
    for number, one in enumerate(filter(_is_object, blocks)):
        if not text(one, "value").strip():
            yield Unmatched("empty block")
            continue
        label = text(one, "label")
        owners = (
            agents
            if len(agents) == 1
            else [of for of in agents if one.get("id") in words(of.get("block_ids"))]
        )
        owner = text(owners[0], "name") if len(owners) == 1 else ""
        yield ForeignMemory(
            text(one, "id") or f"{owner}-{label}-{number}",
            text(one, "value"),
            " ".join(filter(None, (label, text(one, "description")))),
            authored_at=text(one, "updated_at") or text(one, "created_at") or text(agent, "created_at"),
            tags=(label,) if label else (),
            project=owner,
        )
    every = agents if agents == [agent] else [agent, *agents]
    for kind in ("messages", "tools"):
        yield from [Unmatched(kind.removesuffix("s"))] * sum(len(one.get(kind) or ()) for one in every)


def _line(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _object(one: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = one.get(name)
    return value if isinstance(value, dict) else {}


STORES = (
    store_of(PAM, (), _pam),
    store_of(LINES, (), _lines),
    store_of(LETTA, (), _letta),
)
