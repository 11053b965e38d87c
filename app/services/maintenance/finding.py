"""What an examination finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clawmem.app.services.models.selection import Provider
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import Document

Check = Callable[[], "Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One check: its name, whether all is well, what was seen, and what to do (empty when all is well).

    ``provider`` says whose doing was looked at, where that is a model.
    """

    check: str
    ok: bool
    detail: str
    way_out: str = ""
    provider: Provider | None = None


def spread(documents: Sequence[Document], limit: int) -> Sequence[Document]:
    """Every k-th of *documents*, at most *limit*, the first among them."""
    return documents[:: max(1, -(-len(documents) // limit))]


def attempt(name: str, check: Check) -> Finding:
    """What *check* finds; one that raises is a failed finding."""
    try:
        return check()
    except ClawmemError as error:  # says itself what to do
        return Finding(name, False, f"the check failed: {error}")
    except Exception as error:  # noqa: BLE001  a doctor that dies of the disease tells nobody
        detail = f"the check failed: {str(error) or type(error).__name__}"
        return Finding(name, False, detail, "Run: clawmem repair  (shows what would change, and asks.)")
