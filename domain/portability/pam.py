"""Portable AI Memory 1.0: an interchange format of memories as one JSON document."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from clawmem.ports.digests import sha256
from clawmem.ports.relations import RelationKind

SCHEMA, VERSION, PLATFORM = "portable-ai-memory", "1.0", "clawmem"

# The type of PAM for each of our content types; the content type itself is in the metadata.
_TYPES = MappingProxyType(
    {
        **dict.fromkeys(("decision", "milestone", "problem", "observation", "discovery"), "fact"),
        "preference": "preference",
        "antipattern": "instruction",
        "project": "project",
        "profile": "identity",
    }
)
_RELATIONS = MappingProxyType({RelationKind.SUPPORTING: "supports", RelationKind.CONTRADICTS: "contradicts"})
_WHITE = re.compile(r"\s+")


def pam_type(content_type: str) -> str:
    """Return the type of PAM for a content type; ``context`` for every text of a person that says nothing else."""
    return _TYPES.get(content_type, "context")


def pam_relation(kind: RelationKind) -> str:
    """Return the kind of PAM for a kind of relation."""
    return _RELATIONS.get(kind, "related_to")


def content_digest(text: str) -> str:
    """Return the hash of a text of which case, white space and composed characters do not matter."""
    normal = _WHITE.sub(" ", unicodedata.normalize("NFC", text.strip().lower()))
    return f"sha256:{sha256(normal.encode('utf-8', 'surrogatepass')).hexdigest()}"


def store(memories: Sequence[Mapping[str, Any]], relations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document of *memories* and *relations*, with a checksum of the memories."""
    ordered = sorted(memories, key=lambda one: str(one["id"]))
    return {
        "schema": SCHEMA,
        "schema_version": VERSION,
        "owner": {"id": "owner"},
        "memories": ordered,
        "relations": list(relations),
        "integrity": {
            "canonicalization": "RFC8785",
            "checksum": f"sha256:{sha256(canonical(ordered).encode()).hexdigest()}",
            "total_memories": len(ordered),
        },
    }


def canonical(value: object) -> str:
    """Return *value* as JSON in the canonical form of RFC 8785, for numbers from 1e-6 to 1e16."""
    if isinstance(value, Mapping):
        ordered = sorted(value.items(), key=lambda one: str(one[0]).encode("utf-16-be", "surrogatepass"))
        return f"{{{','.join(f'{canonical(name)}:{canonical(one)}' for name, one in ordered)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(canonical, value))}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)
