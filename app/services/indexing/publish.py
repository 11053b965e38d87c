"""Publishing and withdrawal of documents, in short write transactions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple, TypeVar

from clawmem.app.services.knowledge.facts import reapply_facts, reopen_ended_facts
from clawmem.domain.documents.entries import lexical_entries
from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.links import note_names
from clawmem.domain.security.origin import is_verified
from clawmem.ports.display import one_line
from clawmem.ports.errors import InterruptedAfterCommit
from clawmem.ports.links import Link
from clawmem.ports.properties import Property
from clawmem.ports.records import Document, Fragment, InactiveReason, LexicalEntry
from clawmem.ports.storage import Transactions
from clawmem.ports.succession import NO_CLAIMS, Claims
from clawmem.ports.vault import Vault

Item = TypeVar("Item")
Result = TypeVar("Result")

# DESIGN 5 allows 50 ms for a write transaction: the last item and the commit take the rest.
CHUNK_S = 0.025

# Archived and merged documents remain true, so facts that they ended stay ended: the documents are only not served.
_TAKEN_BACK = (InactiveReason.REMOVED, InactiveReason.FORGOTTEN)


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

    A transaction ends with the first item that takes it past *chunk_s*, and with a call of *finish*. An interrupted caller keeps what
    was committed before, and gets those results before the interrupt. The caller must exhaust the iterator.

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


class SavedDocument(NamedTuple):
    """The id of a document, and the entries of its words, which are not indexed yet."""

    id: int
    entries: Sequence[LexicalEntry]


def publish(
    vault: Vault,
    document: Document,
    body: str,
    fragments: Sequence[Fragment],
    declared: Declarations | None = NO_DECLARATIONS,
) -> int:
    """Save a document with its index entries and return its id; see `save_document`."""
    saved = save_document(vault, document, body, fragments, declared)
    index_words(vault, [saved])
    return saved.id


def index_words(vault: Vault, saved: Sequence[SavedDocument]) -> None:
    """Replace the words of documents that were saved in the same transaction."""
    for one in saved:
        vault.lexical.remove(one.id)
    vault.lexical.put([entry for one in saved for entry in one.entries])


def save_document(
    vault: Vault,
    document: Document,
    body: str,
    fragments: Sequence[Fragment],
    declared: Declarations | None = NO_DECLARATIONS,
) -> SavedDocument:
    """
    Save a document, but not its words. To be called inside `Vault.writing`, before `index_words`.

    FTS5 writes the words of a transaction at once, if no record is saved between them.

    With ``None`` as *declared*, the former declarations remain. A document supersedes others only if the user or an
    assistant wrote it.
    """
    document = document._replace(title=one_line(document.title), content_type=one_line(document.content_type))
    document_id = vault.documents.save(document, body, fragments)
    vault.links.put(document_id, note_names(document, body), declared.links if declared else None)
    if declared is not None:
        claims = declared.claims if is_verified(document.origin) else NO_CLAIMS
        vault.successions.claim(document_id, claims)
        vault.properties.put(document_id, declared.properties)
    reapply_facts(vault, document_id)
    return SavedDocument(document_id, list(lexical_entries(document._replace(id=document_id), fragments)))


def publish_text(
    vault: Vault, document: Document, body: str, declared: Declarations | None = NO_DECLARATIONS
) -> int:
    """Publish a document without a file, whose *body* is split as a note; see `publish`."""
    parts = fragment(body, title=document.title, date=document.authored_at[:10])
    return publish(vault, document, body, parts, declared)


def withdraw(vault: Vault, document_ids: Sequence[int], reason: InactiveReason) -> int:
    """
    Stop serving documents, and return how many were served. To be called inside `Vault.writing`.

    Of a forgotten document only the path remains; with any other reason all data is retained for its return.
    """
    count = vault.documents.deactivate(document_ids, reason)
    for document_id in document_ids:
        vault.lexical.remove(document_id)
    if reason in _TAKEN_BACK:
        for document_id in document_ids:
            reopen_ended_facts(vault, document_id)
    if reason is InactiveReason.FORGOTTEN:
        _forget(vault, document_ids)
    return count


def drop_knowledge(vault: Vault, document_id: int) -> None:
    """Delete the relations, facts, entities and notes derived from a document. To be called inside `Vault.writing`."""
    vault.relations.forget(document_id)
    vault.triples.forget(document_id)
    vault.entities.forget(document_id)
    vault.notes.forget(document_id)


def _forget(vault: Vault, document_ids: Sequence[int]) -> None:
    for document in vault.documents.many(document_ids).values():
        drop_knowledge(vault, document.id)
        vault.successions.claim(document.id, NO_CLAIMS)
        vault.links.forget(document.id)
        vault.properties.put(document.id, ())
        vault.captures.forget(document.id)
        vault.acts.forget(document.id)
        vault.sessions.forget(document.display_path)
    vault.documents.forget(document_ids)
    vault.embeddings.clean()
