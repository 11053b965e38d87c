"""Notes as files of an export, and memories of other tools as documents: their names, texts and relations."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256

from clawmem.domain.capture.notes import title_of
from clawmem.domain.documents.frontmatter import FENCE
from clawmem.domain.security.redaction import redact, redact_parts
from clawmem.ports.imports import ForeignMemory
from clawmem.ports.knowledge import Relation, RelationKind
from clawmem.ports.records import Document

FOLDER = "imports"
LEAST = 0.01  # weight and confidence
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')  # refused by some file system, or no part of a name
# Words of other tools for kinds of relations; unknown ones say only that two notes are about the same.
_KINDS = {
    **{kind.value: kind for kind in RelationKind if kind is not RelationKind.LINKS_TO},
    **dict.fromkeys(("supports", "extends", "derived_from"), RelationKind.SUPPORTING),
    **dict.fromkeys(("caused_by", "causes"), RelationKind.CAUSAL),
}


def front_matter_of(document: Document) -> str:
    """Return the front matter of *document* with its fences; that of a machine-made note is made from its record."""
    if document.stamp is None:
        fields = {
            "title": document.title,
            "type": document.content_type,
            "date": document.authored_at,
            "origin": str(document.origin),
            "confidence": document.confidence,
            "tags": list(document.tags),
        }
        lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())
        return f"---\n{''.join(lines)}---\n\n"
    text = document.front_matter.strip("\n")
    is_toml = text.startswith(FENCE)
    return f"{text}\n{FENCE}" if is_toml else f"---\n{text}\n---\n" if text.strip() else ""


def file_of(document: Document, *, is_original: bool) -> str:
    """Return a path for *document* that every file system accepts and that leads nowhere else."""
    parts = (part for part in f"{document.collection}/{document.path}".split("/") if part)
    name = "/".join(_UNSAFE.sub("_", part).rstrip(". ") or "_" for part in parts)
    return name if is_original or name.lower().endswith((".md", ".markdown", ".txt")) else f"{name}.md"


def memory_path(tool: str, memory: ForeignMemory) -> str:
    """Return the path of a memory of *tool*, the same at every import: ``imports/TOOL/slug-of-its-id-HASH.md``."""
    slug = "-".join("".join(char if char.isalnum() else " " for char in memory.id.lower()).split())
    name = sha256(f"{tool}\0{memory.id}".encode("utf-8", "replace")).hexdigest()[:12]
    return f"{FOLDER}/{tool}/{slug[:50] or 'memory'}-{name}.md"


def memory_title(memory: ForeignMemory) -> str:
    """Return the title of a memory, else its first line, else its id."""
    first = next((line for line in (memory.title or memory.text).splitlines() if line.strip()), memory.id)
    return title_of(first.lstrip("# ").strip()) or memory.id


def without_secrets(memories: Iterable[ForeignMemory]) -> tuple[list[ForeignMemory], int]:
    """Return *memories* with different ids and without secrets, and the number of those that had any."""
    ids, cleaned, redacted = Counter[str](), list[ForeignMemory](), 0
    for memory in memories:
        ids[memory.id] += 1
        text = memory.text.encode("utf-8", "replace").decode()
        body, title, *tags = redact_parts([text, memory.title, *memory.tags])
        pairs = ((name, redact(f"{name}: {value}")) for name, value in memory.properties)
        clean = memory._replace(
            id=memory.id if ids[memory.id] == 1 else f"{memory.id} ({ids[memory.id]})",
            text=body,
            title=title,
            tags=tuple(tags),
            aliases=tuple(map(redact, memory.aliases)),
            properties=tuple((name, pair.removeprefix(f"{name}: ")) for name, pair in pairs),
        )
        redacted += clean[1:] != memory._replace(text=text)[1:]
        cleaned.append(clean)
    return cleaned, redacted


def imported_relations(
    tool: str, memories: Iterable[ForeignMemory], numbers: Mapping[str, int], now: str
) -> tuple[list[Relation], int]:
    """Return the relations of *memories*, whose documents are *numbers*, and the number of those to other items."""
    relations, unmatched = list[Relation](), 0
    for memory in memories:
        for relation in memory.relations:
            source, target = numbers.get(memory.id), numbers.get(relation.target)
            if source is None or target is None or source == target:
                unmatched += 1
                continue
            kind = _KINDS.get(relation.kind.lower().replace(" ", "_"), RelationKind.SEMANTIC)
            details = {"reasoning": "", "kind": relation.kind}
            weight = min(1.0, max(LEAST, relation.weight))
            relations.append(Relation(source, target, kind, weight, f"import {tool}", now, details))
    return relations, unmatched
