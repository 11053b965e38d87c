"""What the lexical index is told about a document: the same words at four grains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.domain.documents.tokens import index_text
from clawmem.ports.records import Document, Fragment, FragmentKey, FragmentKind, Grain, LexicalEntry

GRAIN_OF = {
    FragmentKind.LINE: Grain.LINE,
    FragmentKind.PASSAGE: Grain.PASSAGE,
    FragmentKind.SECTION: Grain.SECTION,
    FragmentKind.DOCUMENT: Grain.DOCUMENT,
}


def lexical_entries(document: Document, fragments: Sequence[Fragment]) -> Iterator[LexicalEntry]:
    """
    One entry for each line, passage, section and the whole; the whole is also found by its front matter.

    The title of each is the document's title with the headings above it, so that a question which names
    the subject finds the line that does not repeat it.
    """
    head = "\n".join([*document.tags, *(p.text for p in fragments if p.kind is FragmentKind.FRONT_MATTER)])
    for part in fragments:
        if part.kind in GRAIN_OF:
            yield LexicalEntry(
                FragmentKey(document.id, part.seq),
                GRAIN_OF[part.kind],
                document.collection,
                index_text(_above(document.title, part)),
                index_text(part.text if part.kind is not FragmentKind.DOCUMENT else f"{part.text}\n{head}"),
                document.path,
                document.authored_at,
            )


def _above(title: str, part: Fragment) -> str:
    """The document's title with the headings above; a first heading that is the title counts once."""
    if part.heading == title:
        return title
    return f"{title} {part.heading.removeprefix(f'{title} › ')}".rstrip()
