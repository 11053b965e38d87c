"""Current statements of the last decisions and hubs, each with its note."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from clawmem.app.services.briefing.telling import is_told
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.briefing.profile import DECISIONS, HUBS, PAGE_TYPE, ProfileLine, is_profile_page
from clawmem.domain.briefing.statements import named_decision, note_statements
from clawmem.domain.briefing.subjects import is_settled, last_of_subject
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

SOURCES = ("decision", PAGE_TYPE, "progress", "handoff")  # types of notes that the profile uses
DAY = len("2026-03-31")


class Statement(NamedTuple):
    """A line of the profile, and the document it comes from."""

    line: ProfileLine
    source: int


def statement_of(text: str, document: Document) -> Statement:
    """Return *text* as a line with the origin and the day of *document*."""
    return Statement(ProfileLine(text, document.display_path, document.authored_at[:DAY]), document.id)


def current_documents(vault: Vault, now: str) -> list[Document]:
    """Return the notes for the profile, last written first: served, settled, public and not superseded."""
    found = [
        one
        for one in vault.documents.latest()
        if one.content_type in SOURCES and not is_profile_page(one) and is_settled(one) and is_told(one, now)
    ]
    replaced = current_successors(vault, [one.id for one in found])
    # The date of an undated file may only be that of a copy, so undated notes come after dated ones.
    return sorted((one for one in found if one.id not in replaced), key=lambda one: not one.has_own_date)


def current_statements(vault: Vault, documents: Sequence[Document]) -> list[Statement]:
    """Return statements of the last decisions and hubs among *documents*: the first of each note, then the second."""
    decisions = last_of_subject([one for one in documents if one.content_type == "decision"])[:DECISIONS]
    hubs = [one for one in documents if one.content_type == PAGE_TYPE][:HUBS]
    sources = (*decisions, *hubs)
    bodies = vault.documents.bodies([one.id for one in sources])
    # A sentence alone may lack the label of its secret.
    texts = [redact_parts((one.title, bodies.get(one.id, ""))) for one in sources]
    told = [
        [statement_of(text, one) for text in note_statements(title, body)]
        for one, (title, body) in zip(sources, texts, strict=True)
    ]
    if decisions and not told[0]:  # the newest decision is always named
        told[0] = [statement_of(text, decisions[0]) for text in named_decision(*texts[0])]
    return [one for one in chain.from_iterable(zip_longest(*told)) if one is not None]
