"""What a question about the past misses: notes that bear no date, and were changed since."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.ports.vault import Vault

COUNTED = 200  # of what was written later, the last that came in: enough to say that there are many


def changed_since(vault: Vault, request: RetrievalRequest) -> str:
    """
    That notes are missing which may have been there, in a sentence; empty where none is, or nothing of a time
    was asked.

    A note that bears no date counts as written when its file was last changed. What it held before that,
    nobody knows.
    """
    if request.as_of is None:
        return ""
    scope = request.scope._replace(authored_from=request.as_of, authored_until=None)
    later = vault.documents.ids(scope, content_types=request.content_types, tags=request.tags)
    last = vault.documents.many(sorted(later)[-COUNTED:]).values()
    undated = sum(not document.has_own_date for document in last)
    more = "or more " if undated and len(later) > COUNTED else ""
    return f"left out {undated} {more}without a date of their own, changed since" if undated else ""
