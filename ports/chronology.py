from __future__ import annotations

from typing import Protocol


class Chronology(Protocol):
    """
    Served documents in the order in which they were written: by ``authored_at``, then by id.

    The order is strict, so that of two documents one is before the other and no document is beside itself.
    With a *collection* only its documents are in the order.
    """

    def before(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        """
        The documents just before this one, at most *limit*, oldest first; a limit below 1 gives none.

        The document itself may be inactive, and of another collection; nothing is before an unknown one.
        """
        ...

    def after(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        """The documents just after this one, as `before`, oldest first as well."""
        ...
