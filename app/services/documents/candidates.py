"""Candidates for a text that is no address: suggestions to choose from, never the target of a command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from clawmem.app.services.documents.listing import docids, every_served
from clawmem.domain.documents.identity import display_path
from clawmem.domain.documents.names import document_names, file_name
from clawmem.domain.documents.title import EXTENSION
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.quoting import shown_title, without_orders
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import Candidate, Document, Grain, Hit, InactiveReason, LexicalQuery
from clawmem.ports.stores import SearchableDocuments

MAX_DISTANCE = 5  # edits from the typed path, and at most half of its length
FRAGMENTS = 20  # hits, several of which may be of one document


class CandidateSearch:
    """
    Collects the served documents that a text may have meant.

    Paths within a few edits, or else documents that share words with the text: in their names and folders first,
    then in their bodies.
    """

    def __init__(self, vault: SearchableDocuments) -> None:
        self._vault = vault

    def __call__(self, text: str, place: str, limit: int) -> list[Document]:
        """
        Return up to *limit* served documents.

        Args:
            place: *text* as a path, with which all paths are compared.
        """
        near = [*self._near(place, limit)]
        query = query_forms(EXTENSION.sub("", text.strip()))
        found = near or [*self._called(set(query.words)), *self._holding(query.relaxed)]
        return list({one.id: one for one in found}.values())[:limit]

    def _near(self, place: str, limit: int) -> Iterator[Document]:
        for collection, path in nearest_places(place, self._vault.documents.places())[:limit]:
            document = self._vault.documents.at(collection, path)
            if document is not None:
                yield document

    def _called(self, asked: set[str]) -> list[Document]:
        """Return the documents with most of the words *asked* in their path, title or aliases."""
        shared = ((one, len(asked & _name_words(one))) for one in every_served(self._vault.documents))
        ranked = sorted(
            (pair for pair in shared if pair[1]), key=lambda pair: (-pair[1], pair[0].display_path)
        )
        return [document for document, _ in ranked]

    def _holding(self, query: LexicalQuery) -> list[Document]:
        """Return the served documents that *query* finds; none if the index is unavailable."""
        hits: list[Hit] = []
        with suppress(ClawmemError):
            hits = self._vault.lexical.search(query, Grain.DOCUMENT, FRAGMENTS) if query.terms else []
        ids = dict.fromkeys(hit.key.document_id for hit in hits)
        known = self._vault.documents.many(ids)
        ranked = [known[number] for number in ids if number in known]
        return [one for one in ranked if one.inactive is None]


def _name_words(document: Document) -> set[str]:
    return set(words(" ".join((document.display_path, *document_names(document)))))


def candidates_of(store: DocumentStore, documents: Sequence[Document]) -> list[Candidate]:
    """Return *documents* as candidates, in their order."""
    named = [one for one in documents if one.inactive is not InactiveReason.FORGOTTEN]
    names = docids(store, named)
    return [
        Candidate(
            f"#{names[one.id]}" if one.id in names else "",
            one.display_path,
            without_orders(one.title, one.origin),
            str(one.inactive) if one.inactive else "",
            one.origin,
            is_verified(one.origin),
            shown_title(one),
        )
        for one in documents
    ]


def is_near_name(asked: str, candidate: Candidate) -> bool:
    """Whether a name of *candidate* has every word of *asked*, or is *asked* but for a fifth of its letters."""
    from rapidfuzz.distance import Levenshtein

    said = set(words(asked))
    if said and said <= set(words(f"{candidate.file} {candidate.title}")):
        return True
    _, _, path = candidate.file.partition("/")
    names = (candidate.title, candidate.file, path, file_name(path))
    most = max(1, len(asked) // 5)
    return any(Levenshtein.distance(asked.lower(), name.lower()) <= most for name in names)


def nearest_places(name: str, places: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the places whose path, with or without its collection, is few edits from *name*; nearest first."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    shown = [display_path(*place) for place in places]
    paths = [path.lower() for path in (*shown, *(path for _, path in places))]
    near = process.extract(
        name.lower(),
        paths,
        scorer=Levenshtein.distance,
        score_cutoff=min(MAX_DISTANCE, len(name) // 2),
        limit=None,
    )
    ranked = sorted((distance, at % len(shown)) for _, distance, at in near)
    return [places[at] for at in dict.fromkeys(at for _, at in ranked)]
