"""The document that somebody means by a few words, found in one of five ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from clawmem.app.services.documents.lookup import Lookup
from clawmem.domain.documents.identity import is_docid, normalise_docid
from clawmem.domain.documents.tokens import words
from clawmem.domain.lifecycle.target import (
    MOST,
    SHOWN,
    How,
    Match,
    bounded,
    by_path,
    by_title,
    is_named,
    is_path,
    is_sure,
    least_held,
)
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import Ambiguous, InvalidInput, NotFound
from clawmem.ports.records import Document, Grain, Hit
from clawmem.ports.vault import Vault

FRAGMENTS = 50  # of which several may be one document's


class Target(NamedTuple):
    """What may be meant by *query*, best first and never empty, and whether the first surely is."""

    query: str
    how: How
    matches: tuple[Match, ...]
    is_sure: bool

    @property
    def document(self) -> Document:
        """The one that fits best."""
        return self.matches[0].document

    def sure(self) -> Document:
        """
        The one that is meant.

        Raises:
            Ambiguous: it may be another one; names up to three.
        """
        if self.is_sure:
            return self.document
        raise Ambiguous(self.query, [match.document.display_path for match in self.matches[:SHOWN]])


class FindTarget:
    """
    Served documents by docid, path, words, title or meaning; the first of these ways that finds any is taken.

    Args:
        embedder: Of the vectors that serve; called only when nothing else found anything.
    """

    def __init__(self, vault: Vault, lookup: Lookup, embedder: Callable[[], Embedder]) -> None:
        self._vault = vault
        self._lookup = lookup
        self._embedder = embedder

    def __call__(self, query: str) -> Target:
        """
        What *query* may mean, up to five.

        Raises:
            NotFound: nothing. InvalidInput: blank, or a docid or path that cannot be one.
            ModelMismatch, ModelError: meaning had to be asked and could not be.
        """
        query = query.strip()
        if not query:
            raise InvalidInput(
                "INVALID_INPUT", "Nothing was named. Give a path, a #docid, or words of a note."
            )
        for how, find in self._ways().items():
            found = sorted(find(query), key=lambda match: not is_named(query, match.document))[:MOST]
            if found:
                return Target(query, how, tuple(found), is_sure(query, how, found))
        raise NotFound("document", query)

    def _ways(self) -> dict[How, Callable[[str], Iterable[Match]]]:
        return {
            How.DOCID: self._by_docid,
            How.PATH: self._by_path,
            How.WORDS: self._by_words,
            How.TITLE: lambda query: by_title(query, self._vault.documents.latest()),
            How.MEANING: self._by_meaning,
        }

    def _by_docid(self, query: str) -> Iterator[Match]:
        if query.startswith("#"):
            yield Match(self._lookup.find(query), 1.0)
        elif is_docid(query):
            fitting = self._vault.documents.by_hash(normalise_docid(query))
            yield from (Match(one, 1.0) for one in fitting)

    def _by_path(self, query: str) -> list[Match]:
        if not is_path(query):
            return []
        try:
            return [Match(self._lookup.find(query), 1.0)]
        except (NotFound, Ambiguous):
            return by_path(query, self._vault.documents.latest())

    def _by_words(self, query: str) -> list[Match]:
        forms = query_forms(query)
        hits = self._vault.lexical.search(forms.relaxed, Grain.DOCUMENT, FRAGMENTS)
        wanted = frozenset(forms.words)
        least = min(len(wanted), least_held(len(wanted)))
        found = ((one, score) for one, score in self._documents(hits) if self._held(one, wanted) >= least)
        return [Match(one, bounded(score)) for one, score in found]

    def _by_meaning(self, query: str) -> list[Match]:
        if self._vault.embeddings.fingerprint() is None:
            return []
        hits = self._vault.vectors.search(self._embedder().embed_query(query), FRAGMENTS)
        return [Match(one, score) for one, score in self._documents(hits)]

    def _documents(self, hits: Iterable[Hit]) -> Iterator[tuple[Document, float]]:
        """Each served document once, as well as its best fragment fits."""
        best: dict[int, float] = {}
        for hit in hits:
            best.setdefault(hit.key.document_id, hit.score)
        known = self._vault.documents.many(best)
        for number, score in best.items():
            if number in known and known[number].inactive is None:
                yield known[number], score

    def _held(self, document: Document, wanted: frozenset[str]) -> int:
        """How many of these words it holds; by their beginnings, for an index takes them by their stems."""
        text = f"{document.title}\n{self._vault.documents.body(document.id) or ''}"
        held = {word[:_STEM] for word in words(text)}
        return sum(word[:_STEM] in held for word in wanted)


_STEM = 5  # letters
