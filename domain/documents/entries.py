"""Entries of the lexical index: the words of a document at three granularities, each with the names of the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.domain.documents.names import searchable_names, with_names
from clawmem.domain.text.words import index_text
from clawmem.ports.records import Document, Fragment, FragmentKey, FragmentKind, Grain, LexicalEntry

# Sections have no weight in any answer (`clawmem.domain.retrieval.grains`), so their words are not indexed.
GRAIN_OF = {
    FragmentKind.LINE: Grain.LINE,
    FragmentKind.PASSAGE: Grain.PASSAGE,
    FragmentKind.DOCUMENT: Grain.DOCUMENT,
}


def lexical_entries(document: Document, fragments: Sequence[Fragment]) -> Iterator[LexicalEntry]:
    """
    Yield an entry for each line and passage, and one for the whole document, which includes its front matter.

    The title field of an entry contains the title of the document, the headings above the text, and the words that
    the file name, the aliases and the folders add. That of a table row also contains the column names. A question
    that names the subject therefore finds lines that do not repeat it.
    """
    head = "\n".join([*document.tags, *(p.text for p in fragments if p.kind is FragmentKind.FRONT_MATTER)])
    names, titles = searchable_names(document), dict[str, str]()
    for part in fragments:
        if part.heading not in titles:
            titles[part.heading] = index_text(with_names(_above(document.title, part.heading), names))
        if part.kind in GRAIN_OF:
            yield LexicalEntry(
                FragmentKey(document.id, part.seq),
                GRAIN_OF[part.kind],
                document.collection,
                titles[part.heading] + _columns(part),
                index_text(part.text if part.kind is not FragmentKind.DOCUMENT else f"{part.text}\n{head}"),
                document.path,
                document.authored_at,
            )


def _columns(part: Fragment) -> str:
    return f" {index_text(part.context)}" if part.kind is FragmentKind.LINE and part.context else ""


def _above(title: str, heading: str) -> str:
    """Return the title and the headings above; a first heading equal to the title counts once."""
    if heading == title:
        return title
    return f"{title} {heading.removeprefix(f'{title} › ')}".rstrip()
