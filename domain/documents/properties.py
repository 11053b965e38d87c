"""Front matter properties, and which of them are technical."""

from __future__ import annotations

import re

# These properties relate a note to others, date it, or configure a program; none describes its subject.
TECHNICAL_PROPERTIES = frozenset(
    """
    supersedes superseded_by content_type confidence pinned review_by
    date created modified updated changed created_at updated_at modified_at
    date-created date-modified date_created date_modified lastmod last_modified
    cssclass cssclasses css-class publish published draft permalink slug layout template type_id
    id uid uuid position order weight banner icon kanban-plugin excalidraw-plugin linter-yaml-title-alias
    """.split()
)
_KEY = re.compile(r"\A(?P<key>[^\s:#-][^:\n]{0,200}):(?:\s|$)")


def without_technical(front_matter: str) -> str:
    """Return *front_matter* with the lines of technical properties blanked; line numbers do not change."""
    kept: list[str] = []
    is_technical = False
    for line in front_matter.split("\n"):
        if found := _KEY.match(line):
            is_technical = found["key"].strip(" \t\"'").casefold() in TECHNICAL_PROPERTIES
        kept.append("" if is_technical else line)
    return "\n".join(kept)
