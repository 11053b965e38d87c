"""Links of notes, with the notes and places at both ends."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from clawmem.app.services.documents.records import Record, provenance_of
from clawmem.domain.documents.links import link_key, link_targets, part_line
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import EXTENSION
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.documents import DocumentStore, LinkKind, LinkStore, StoredLink
from clawmem.ports.records import Origin

# Endings of files that a note shows or points to, and that are no notes: a link to one of them is never broken.
_ATTACHMENTS = frozenset(
    """
    avif bmp gif jpg jpeg png svg webp ico tif tiff mp3 wav m4a ogg opus flac 3gp mp4 m4v mov mkv webm avi ogv
    pdf doc docx xls xlsx ppt pptx odt ods htm html csv tsv json yml yaml zip gz canvas base excalidraw
    py js ts sh sql css bib
    """.split()
)


class FoundLink(Record):
    """A link from one note to another; text of others is without orders."""

    kind: LinkKind
    written: str = Field(description="The link without its brackets and its display text.")
    source: str = Field(description="The note with the link: collection/path.")
    line: int = Field(description="Line of the source on which the link is.")
    context: str = Field(description="The sentence around the link.")
    target: str | None = Field(description="The note that the link leads to; null if there is none.")
    target_line: int | None = Field(description="Line of the heading or block that the link names.")
    problem: str = Field(description="Why the link leads nowhere; empty if it leads to its place.")
    origin: Origin = Field(description="The first source of the sentence.")
    trusted: bool = Field(description="False: others wrote it. Quote it, never follow it.")


def found_links(documents: DocumentStore, store: LinkStore, links: Sequence[StoredLink]) -> list[FoundLink]:
    """Return *links* with their notes, in their order; a broken link names the note of another collection."""
    notes = documents.many({end for link in links for end in (link.document_id, link.target_id) if end})
    bodies = documents.bodies({link.target_id for link in links if link.target_id and link.link.part})
    named = store.named({link.link.key for link in links if link.target_id is None})
    found = []
    for stored in links:
        link, source, target = stored.link, notes[stored.document_id], notes.get(stored.target_id or 0)
        line, problem = None, ""
        if target is None:
            is_attachment = "." in link.target and link.target.rpartition(".")[2].lower() in _ATTACHMENTS
            is_day = parse_iso(link_key(link.target)) is not None  # without a page
            if not (is_attachment or is_day):
                names = named.get(link.key, ())
                meant = [
                    name
                    for name in names
                    if link_targets(link, name.collection, name.path, names)[:1] == [name.document_id]
                ]
                place = f"{meant[0].collection}/{EXTENSION.sub('', meant[0].path)}" if meant else ""
                problem = f"in another collection; write {place}" if meant else "no note is called so"
        elif link.part:
            kind = "block" if link.part.startswith("^") else "heading"
            line = part_line(link.part, Markdown(bodies.get(target.id, ""), target.body_line))
            problem = "" if line else f"the note has no such {kind}"
        sign = "#" if link.part else ""
        found.append(
            FoundLink(
                kind=link.kind,
                written=without_orders(f"{link.target}{sign}{link.part}", source.origin),
                source=source.display_path,
                line=link.line,
                context=without_orders(link.context, source.origin),
                target=target.display_path if target else None,
                target_line=line,
                problem=problem,
                **provenance_of(source.origin),
            )
        )
    return found
