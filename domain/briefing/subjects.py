"""Subjects of notes by their tags, and the latest note on each subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from clawmem.ports.records import Document

# A tag of many notes names an area, not a subject.
LEAST_COMMON, COMMON_SHARE = 4, 0.2

_UNSETTLED_TAGS = frozenset(
    {"draft", "proposal", "idea", "rejected", "superseded", "obsolete", "outdated", "deprecated", "archived"}
)
_UNSETTLED_FOLDERS = frozenset(
    {
        "draft",
        "drafts",
        "proposals",
        "ideas",
        "rejected",
        "archive",
        "archived",
        "trash",
        "templates",
        "inbox",
    }
)
_UNSETTLED_TITLES = ("proposal", "draft", "rfc", "idea", "entwurf", "vorschlag", "borrador")
LEAST_CONFIDENCE = 0.4


def is_settled(document: Document) -> bool:
    """Whether a note is not a draft, proposal or archived copy, by its tags, folders, title and confidence."""
    folders = {part.lower() for part in document.path.split("/")[:-1]}
    if folders & _UNSETTLED_FOLDERS or {tag.lower() for tag in document.tags} & _UNSETTLED_TAGS:
        return False
    title = document.title.lower()
    if title.startswith(_UNSETTLED_TITLES) or "(draft)" in title:
        return False
    return document.confidence >= LEAST_CONFIDENCE


def last_of_subject(documents: Sequence[Document]) -> list[Document]:
    """
    Return *documents*, last written first, without those on whose subject a later one of the collection exists.

    Two notes have the same subject if all subject tags of one are tags of the other. A later decision on a subject
    often replaces an earlier one without saying so.
    """
    counts = Counter(tag for one in documents for tag in one.tags)
    most = max(LEAST_COMMON, COMMON_SHARE * len(documents))
    kept: list[tuple[Document, frozenset[str]]] = []
    for one in documents:
        subject = frozenset(tag for tag in one.tags if ":" not in tag and counts[tag] <= most)
        if not any(_is_same(subject, known) and one.collection == other.collection for other, known in kept):
            kept.append((one, subject))
    return [one for one, _ in kept]


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and (one <= other or other <= one)
