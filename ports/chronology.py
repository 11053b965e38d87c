from __future__ import annotations

from typing import Protocol


class Chronology(Protocol):
    """
    Served documents in the order in which they were written: by ``authored_at``, then by id.

    The order is strict: of two documents, one is always before the other. With a *collection*, only its
    documents are considered.
    """

    def before(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        """
        Return up to *limit* documents directly before this one, oldest first; a limit below 1 returns none.

        The document itself may be inactive or belong to another collection. The list is empty for an unknown
        id.
        """
        ...

    def after(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        """Return up to *limit* documents directly after this one, oldest first; otherwise like `before`."""
        ...
