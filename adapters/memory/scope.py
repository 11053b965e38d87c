from __future__ import annotations

from clawmem.ports.records import Document, LexicalEntry, Scope, VectorEntry


def is_in(scope: Scope, entry: LexicalEntry | VectorEntry | Document) -> bool:
    """Whether a search of that scope may see the entry."""
    return (
        (not scope.collections or entry.collection in scope.collections)
        and (scope.authored_from is None or entry.authored_at >= scope.authored_from)
        and (scope.authored_until is None or entry.authored_at < scope.authored_until)
    )
