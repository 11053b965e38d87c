from __future__ import annotations

from clawmem.ports.records import Document, LexicalEntry, Scope, VectorEntry


def is_in(scope: Scope, entry: LexicalEntry | VectorEntry | Document) -> bool:
    """Whether *entry* is in *scope*."""
    document_id = entry.id if isinstance(entry, Document) else entry.key.document_id
    return (
        (not scope.collections or entry.collection in scope.collections)
        and (scope.authored_from is None or entry.authored_at >= scope.authored_from)
        and (scope.authored_until is None or entry.authored_at < scope.authored_until)
        and (scope.documents is None or document_id in scope.documents)
    )
