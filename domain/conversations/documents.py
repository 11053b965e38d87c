"""Imported conversations as documents: their text, their properties and their fragments."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.domain.conversations.units import CONVERSATION, Unit, unit_body, unit_title
from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.identity import document_without_file
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.properties import MAX_VALUE, property_key
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.composite import baseline
from clawmem.domain.security.origin import as_tag
from clawmem.ports.documents import Property
from clawmem.ports.imports import ImportedConversation
from clawmem.ports.records import Document, Fragment, Origin


def unit_document(
    conversation: ImportedConversation,
    place: tuple[str, str],
    number: int,
    unit: Unit,
    texts: Sequence[str],
    now: str,
) -> tuple[Document, str]:
    """Return the document at *place* for the *unit* with this *number*, and its body of *texts* without secrets."""
    at, content_type = iso_utc(unit.messages[0].at_ms), conversation.content_type or CONVERSATION
    title, body = conversation.title, f"{texts[0]}\n"
    if content_type == CONVERSATION:
        title = unit_title(title, number, texts[0])
        speakers = [message.speaker for message in unit.messages]
        body = unit_body(speakers, texts, [message.at_ms for message in unit.messages])
    document = document_without_file(*place, title, body, at, now)._replace(
        source_hash=unit.digest,
        modified_at=at,
        content_type=content_type,
        confidence=baseline(content_type),
        tags=(as_tag(Origin.IMPORTED),),
        origin=Origin.IMPORTED,
    )
    return document, body


def unit_properties(conversation: ImportedConversation, unit: Unit) -> list[Property]:
    """Return the properties of the document of a *unit*: where it comes from, and who speaks in it."""
    values = [
        ("source", conversation.source),
        ("conversation", conversation.title),
        ("conversation-id", conversation.id[:100]),
        ("message-id", unit.messages[0].id),
        *(("speaker", name) for name in dict.fromkeys(message.speaker for message in unit.messages)),
        *conversation.labels.items(),
    ]
    flat = ((name, " ".join(value.split())[:MAX_VALUE]) for name, value in values)
    return [Property(name, value, property_key(value)) for name, value in flat if value]


def unit_fragments(conversation: ImportedConversation, document: Document, body: str) -> list[Fragment]:
    """Return the fragments of the document of a unit, which are embedded with the names of its *conversation*."""
    about = " ".join(filter(None, (conversation.title, *conversation.labels.values())))
    return fragment(Markdown(body), title=document.title, date=document.authored_at[:10], about=about)
