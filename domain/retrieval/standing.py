"""Standing of a note among notes that match alike: drafts, copies, clippings and overviews come after the notes themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clawmem.domain.conversations.units import CONVERSATION
from clawmem.domain.text.words import words
from clawmem.ports.records import Document, Origin

# Shares of the relevance, found on a vault of another author and two of ours.
SET_ASIDE = 0.8
OVERVIEW = 0.7
OF_OTHERS = 0.9  # texts that the owner did not write, and chats: below a note of equal relevance
FULL = 1.0

# Names of folders, and words of file names and tags, for notes that are not the owner's last word.
_ASIDE_FOLDERS = frozenset(
    "draft drafts archive archived inbox old trash scratch clip clips clipping clippings copy copies backup backups import"
    " imports entwurf entwürfe archiv brouillon brouillons borrador borradores rascunhos".split()
)
_ASIDE_WORDS = frozenset(
    "draft copy kopie copie copia clip clipping entwurf brouillon borrador rascunho".split()
)
HUB = "hub"


def standing(path: str, tags: Iterable[str], content_type: str, asked: Collection[str]) -> float:
    """
    Return the share of its relevance that a note keeps, in (0, 1].

    Args:
        path: Path within its collection; the folders and the words of the file name count.
        tags: Tags of the note.
        content_type: Type of the note.
        asked: Words of the question. A question that names drafts wants them ("the draft of the offer").
    """
    if content_type == HUB and HUB not in asked and "overview" not in asked:
        return OVERVIEW
    *folders, file = path.casefold().split("/")
    name = words(file.rpartition(".")[0])
    aside = _ASIDE_FOLDERS.intersection(words(" ".join(folders)))
    aside |= _ASIDE_WORDS.intersection((*name, *(tag.casefold() for tag in tags)))
    return SET_ASIDE if aside and aside.isdisjoint(asked) else FULL


def is_own(document: Document) -> bool:
    """Whether the owner wrote *document* as a note: no chat, and nothing that an assistant, a model or a tool wrote."""
    return document.origin is Origin.USER and document.content_type != CONVERSATION
