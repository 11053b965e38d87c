"""Warning for questions about the past: undated notes that changed since are left out."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.ports.vault import Vault

COUNTED = 200  # latest documents that are checked; above, "or more" is reported


def changed_since(vault: Vault, request: RetrievalRequest) -> str:
    """
    Return a sentence about undated notes that may be missing; empty if there are none or ``as_of`` is not set.

    A note without a date counts as written when its file last changed. Its earlier content is unknown.
    """
    if request.as_of is None:
        return ""
    scope = request.scope._replace(authored_from=request.as_of, authored_until=None)
    later = vault.documents.ids(scope, content_types=request.content_types, tags=request.tags)
    last = vault.documents.many(sorted(later)[-COUNTED:]).values()
    undated = sum(not document.has_own_date for document in last)
    more = "or more " if undated and len(later) > COUNTED else ""
    return f"left out {undated} {more}without a date of their own, changed since" if undated else ""
