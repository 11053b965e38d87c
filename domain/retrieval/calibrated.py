"""
The default ranking policy `calibrated`: relevance first, metadata for near-ties.

Only if a question asks for recent information can the age outweigh a moderate difference in relevance, and only among
documents that match. Drafts, copies, clippings, overviews and notes of a day come after the notes that match alike.
"""

from collections.abc import Collection

from clawmem.domain.conversations.units import CONVERSATION
from clawmem.domain.documents.names import file_name
from clawmem.domain.retrieval.composite import FOREVER, OTHER_TYPE, TYPES, Signals, decay, recency
from clawmem.domain.text.words import words
from clawmem.domain.text.written_dates import day_in, day_named
from clawmem.ports.records import Document, Origin

# Maximum of each term. Together they span 0.122, from -0.016 to +0.106, so two documents whose relevance differs by more
# than 0.122, or 0.032 if neither is pinned, never change places.
RECENCY = 0.016
PIN = 0.090  # an owner pins few notes, and means these; with 0.030 the pin decided no judged question

INTENDED_RECENCY = 0.25  # may rank a document above better matches, because the question asks for recency
COMPARABLE = 0.4  # relevance from which recency counts in full; below, in proportion

# Shares of the relevance, found on a vault of another author and two of ours.
SET_ASIDE = 0.8
OF_A_DAY = 0.8  # with it the right note is first for 12 more of 335 questions by five other authors
OVERVIEW = 0.7
OF_OTHERS = 0.9  # texts that the owner did not write, and chats: below a note of equal relevance
FULL = 1.0

# Names of folders, and words of file names and tags, for notes that are not the owner's last word.
_ASIDE_FOLDERS = frozenset(
    "draft drafts archive archived inbox old trash scratch clip clips clipping clippings copy copies backup backups import"
    " imports entwurf entwürfe archiv brouillon brouillons borrador borradores rascunhos".split()
)
_ASIDE_WORDS = "draft copy kopie copie copia clip clipping entwurf brouillon borrador rascunho".split()
HUB = "hub"


def parts(relevance: float, signals: Signals, *, recency_intent: bool = False) -> dict[str, float]:
    """
    Return the terms of the score of one document by name: ``relevance``, ``recency``, ``pin``, in this order.

    A note one half life old that is not pinned has 0 in every term but ``relevance``, which is clamped to [0, 1]. With
    *recency_intent*, of a question for recent information, ``recency`` ranges from 0 to 0.25 instead of around zero, in
    full only from a relevance of 0.4, so that no document ranks high merely because it is new.
    """
    match = min(1.0, relevance) if relevance > 0.0 else 0.0  # NaN is not above zero
    if recency_intent:
        comparable = min(1.0, match / COMPARABLE)
        age = INTENDED_RECENCY * comparable * decay(signals.age_days, 60.0)
    elif TYPES.get(signals.content_type, OTHER_TYPE)[0] == FOREVER:
        age = 0.0  # the content type does not age
    else:
        freshness = recency(
            signals.content_type,
            signals.age_days,
            access_count=signals.access_count,
            days_since_access=signals.days_since_access,
        )
        age = RECENCY * (2 * freshness - 1)
    return {"relevance": match, "recency": age, "pin": PIN * match if signals.pinned else 0.0}


def standing(document: Document, asked: Collection[str]) -> float:
    """
    Return the share of its relevance that a note keeps, in (0, 1], by its folders, file name, tags and type.

    *asked* are the words of the question. One that names drafts wants them ("the draft of the offer").
    """
    if document.content_type == HUB and HUB not in asked and "overview" not in asked:
        return OVERVIEW
    *folders, file = document.path.casefold().split("/")
    name = words(file.rpartition(".")[0])
    aside = _ASIDE_FOLDERS.intersection(words(" ".join(folders)))
    aside |= {*name, *(tag.casefold() for tag in document.tags)}.intersection(_ASIDE_WORDS)
    return SET_ASIDE if aside and aside.isdisjoint(asked) else FULL


def is_of_a_day(document: Document) -> bool:
    """Whether *document* is the note of one day, such as a journal: its file and its title name the day alone."""
    names = (day_named(name) for name in (file_name(document.path), document.title))
    return all(day_in(name) == name for name in names)


def is_own(document: Document) -> bool:
    """Whether the owner wrote *document* as a note: no chat, and nothing that an assistant, a model or a tool wrote."""
    return document.origin is Origin.USER and document.content_type != CONVERSATION
