"""Results of health checks, and the commands that repair what the checks find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clawmem.domain.documents.identity import body_hash, has_lost_text
from clawmem.ports.records import Document

# The remedy for a folder that is missing; update keeps its documents until then.
MISSING_FOLDER = "Bring it back. If it is elsewhere now, run: clawmem collection add PATH --name {}"
# Indexes are derived from the records, so a rebuild repairs any of them.
REBUILD = "Run: clawmem rebuild"
# Repairs the records themselves, and keeps every readable one.
REPAIR = "Run: clawmem doctor --repair"
NAMED = 3  # names listed in a message


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check: its name, whether it passed, the details, and the remedy (empty if it passed)."""

    check: str
    ok: bool
    detail: str
    way_out: str = ""

    @property
    def line(self) -> str:
        """Return the finding as a line that begins with ok or FAIL."""
        mark = "ok  " if self.ok else "FAIL"
        remedy = f"{'' if self.detail.endswith('.') else '.'} {self.way_out}" if self.way_out else ""
        return f"{mark}  {self.check}: {self.detail}{remedy}"


def spread(documents: Sequence[Document], limit: int) -> Sequence[Document]:
    """Return every k-th of *documents* including the first, at most *limit*."""
    return documents[:: max(1, -(-len(documents) // limit))]


def listed(names: Sequence[str]) -> str:
    """Return the first `NAMED` of *names* and the number of the others."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def without_remedy(fault: str) -> str:
    """Return *fault* without the advice to rebuild at its end."""
    return fault.removesuffix(REBUILD).rstrip(" .")


def text_fault(document: Document, body: str | None) -> str:
    """Return a sentence about the stored text of *document*, with the remedy; empty if it is the text of its hash."""
    name = document.display_path
    if has_lost_text(document):
        return f'{name} has lost its text. Copy it from a backup, or run: clawmem forget "{name}"'
    if body is None:
        return f"{name} has no text stored. {REPAIR}"
    if body_hash(body) != document.hash:
        return f"{name} has another body stored than its hash says. {REPAIR}"
    return ""
