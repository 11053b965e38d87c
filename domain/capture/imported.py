"""Documents made from memories of other tools: their paths, texts and times."""

from __future__ import annotations

from hashlib import sha256
from types import MappingProxyType

from clawmem.domain.capture.notes import title_of
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.ports.imports import ForeignMemory
from clawmem.ports.knowledge import RelationKind

FOLDER = "imports"
_HASH_CHARS = 12
_SLUG_CHARS = 50
# Words of other tools for kinds of relations; unknown ones say only that two notes are about the same.
_KINDS = MappingProxyType(
    {
        **{kind.value: kind for kind in RelationKind if kind is not RelationKind.LINKS_TO},
        "supports": RelationKind.SUPPORTING,
        "extends": RelationKind.SUPPORTING,
        "derived_from": RelationKind.SUPPORTING,
        "caused_by": RelationKind.CAUSAL,
        "causes": RelationKind.CAUSAL,
    }
)


def imported_path(tool: str, memory: ForeignMemory) -> str:
    """Return the path of a memory, which is the same at every import: ``imports/TOOL/slug-of-its-id-HASH.md``."""
    slug = "-".join("".join(char if char.isalnum() else " " for char in memory.id.lower()).split())
    digest = sha256(f"{tool}\0{memory.id}".encode("utf-8", "replace")).hexdigest()[:_HASH_CHARS]
    return f"{FOLDER}/{tool}/{slug[:_SLUG_CHARS] or 'memory'}-{digest}.md"


def tool_of_path(path: str) -> str:
    """Return the tool of an imported memory at *path*; empty for another document."""
    folder, _, rest = path.partition("/")
    tool, _, file = rest.partition("/")
    return tool if folder == FOLDER and file else ""


def imported_title(memory: ForeignMemory) -> str:
    """Return the title of a memory, by default its first line, cut between words."""
    first = next((line for line in (memory.title or memory.text).splitlines() if line.strip()), memory.id)
    return title_of(first.lstrip("# ").strip()) or memory.id


def imported_time(text: str, now_ms: int) -> str:
    """Return the original time of a memory; the present one if it is missing, no time, or in the future."""
    ms = parse_iso(text)
    return iso_utc(now_ms if ms is None else min(ms, now_ms))


def imported_kind(word: str) -> RelationKind:
    """Return the kind of a relation that another tool calls *word*."""
    return _KINDS.get(word.lower().replace(" ", "_"), RelationKind.SEMANTIC)
