"""Publishing and withdrawal of documents, in short write transactions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple, TypeVar

from clawmem.app.services.knowledge.facts import Facts
from clawmem.domain.documents.fragments import fragment, lexical_entries
from clawmem.domain.documents.links import note_names
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.security.origin import is_verified
from clawmem.ports.documents import NO_CLAIMS, Claims, Link, Property
from clawmem.ports.errors import InterruptedAfterCommit
from clawmem.ports.records import Document, Fragment, InactiveReason, Origin, one_line
from clawmem.ports.storage import Transactions
from clawmem.ports.vault import Vault

Item = TypeVar("Item")
Result = TypeVar("Result")

# DESIGN 5 allows 50 ms for a write transaction: the last item and the commit take the rest.
CHUNK_S = 0.025


def apply_in_chunks(
    transactions: Transactions,
    items: Iterable[Item],
    apply: Callable[[Item], Result],
    *,
    finish: Callable[[], object] = lambda: None,
    chunk_s: float = CHUNK_S,
) -> Iterator[Result]:
    """
    Yield the result of *apply* for each item after its transaction was committed.

    A transaction ends with *finish*, after the first item that takes it past *chunk_s*. An interrupted
    caller keeps what was committed before, and gets those results before the interrupt. The caller must exhaust the
    iterator.

    Raises:
        VaultError: the transaction under way was rolled back.
    """
    waiting = deque(items)
    while waiting:
        results: list[Result] = []
        try:
            with transactions.writing():
                ends = monotonic() + chunk_s
                while waiting and (not results or monotonic() < ends):
                    results.append(apply(waiting.popleft()))
                finish()
        except InterruptedAfterCommit:
            yield from results
            raise
        yield from results


class Declarations(NamedTuple):
    """Declarations of a note: the notes that it supersedes, its links, and its properties."""

    claims: Claims = NO_CLAIMS
    links: Sequence[Link] = ()
    properties: Sequence[Property] = ()


NO_DECLARATIONS = Declarations()


class Publisher:
    """
    Publishes documents in every store and index of a vault, and withdraws them.

    Every method is to be called inside `Transactions.writing`.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.facts = Facts(vault.documents, vault.triples)

    def publish_text(
        self, document: Document, body: str, declared: Declarations | None = NO_DECLARATIONS
    ) -> int:
        """Publish a document without a file, whose *body* is split as a note; see `publish`."""
        parts = fragment(Markdown(body), title=document.title, date=document.authored_at[:10])
        return self.publish(document, body, parts, declared)

    def publish_again(self, document: Document) -> None:
        """Publish a stored document again, served or not, with its text, fragments and declarations."""
        documents = self._vault.documents
        body = documents.body(document.id) or ""
        self.publish(document, body, documents.fragments(document.id), declared=None)

    def publish(
        self,
        document: Document,
        body: str,
        fragments: Sequence[Fragment],
        declared: Declarations | None = NO_DECLARATIONS,
    ) -> int:
        """Save a document with its index entries and return its id; see `save`."""
        document = self.save(document, body, fragments, declared)
        self.index([(document, fragments)])
        return document.id

    def save(
        self,
        document: Document,
        body: str,
        fragments: Sequence[Fragment],
        declared: Declarations | None = NO_DECLARATIONS,
    ) -> Document:
        """
        Save a document and return it with its id; `index` has to follow in the same transaction.

        With ``None`` as *declared*, the former declarations remain. A document supersedes others only if the user or an
        assistant wrote it.
        """
        vault = self._vault
        document = document._replace(
            title=one_line(document.title), content_type=one_line(document.content_type)
        )
        document_id = vault.documents.save(document, body, fragments)
        vault.links.put(document_id, note_names(document, body), declared.links if declared else None)
        if declared is not None:
            claims = declared.claims if is_verified(document.origin) else NO_CLAIMS
            vault.successions.claim(document_id, claims)
            vault.properties.put(document_id, declared.properties)
        self.facts.reapply(document_id)
        return document._replace(id=document_id)

    def index(self, saved: Sequence[tuple[Document, Sequence[Fragment]]]) -> None:
        """
        Index saved documents. One call for many is faster: FTS5 merges what was added before every other change.
        """
        for document, _ in saved:
            self._vault.lexical.remove(document.id)
        self._vault.lexical.put([entry for document in saved for entry in lexical_entries(*document)])

    def withdraw(self, document_ids: Sequence[int], reason: InactiveReason) -> int:
        """
        Stop serving documents, and return how many were served.

        Of a forgotten document only the path remains; with any other reason all data is retained for its return.
        """
        vault = self._vault
        count = vault.documents.deactivate(document_ids, reason)
        for document_id in document_ids:
            vault.lexical.remove(document_id)
            # Archived and merged documents remain true, so facts that they ended stay ended.
            if reason in (InactiveReason.REMOVED, InactiveReason.FORGOTTEN):
                self.facts.reopen(document_id)
        if reason is InactiveReason.FORGOTTEN:
            vault.documents.forget(document_ids)
            vault.embeddings.clean()
        return count

    def set_origin(self, document_id: int, origin: Origin) -> int:
        """
        Record the *origin* of a document; return 1 if it had another one.

        A document that is not verified any more supersedes no others, and ends none of their facts.
        """
        changed = self._vault.documents.set_origin([document_id], origin)
        if is_verified(origin):
            self.facts.reapply(document_id)
        else:
            self._vault.successions.claim(document_id, NO_CLAIMS)
            self.facts.reopen(document_id)
        return changed
