"""Examination of a vault: statistics, problems and recommendations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.app.services.lifecycle.duplicates import Duplicates
from clawmem.app.services.lifecycle.status import LifecycleStatus, lifecycle_status
from clawmem.domain.capture.own_collection import OWN_COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.retrieval.bm25 import lexical_score
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.clock import Clock
from clawmem.ports.records import Grain
from clawmem.ports.vault import Vault

GOOD = 0.3  # least score at which a note counts as found by its own title
OFTEN_UNUSED, MANY = 0.3, 50  # share of documents never accessed, and least number of documents, to report it


@dataclass(frozen=True, slots=True)
class Examination:
    """
    Result of an examination.

    ``problems`` are those that the caller found outside the vault. ``top_score`` in [0, 1) is the score of the latest
    note for its own title; ``unlisted`` are collections with documents that are not configured.
    """

    at: str
    lifecycle: LifecycleStatus
    pending: int
    problems: Sequence[str]
    idle: int
    duplicates: int
    top_score: float
    collections: int
    unlisted: Sequence[str]

    @property
    def is_found(self) -> bool:
        """Whether lexical search finds the latest note by its title; also True for an empty vault."""
        return self.top_score > GOOD or not self.lifecycle.active

    @property
    def never_accessed_share(self) -> float:
        """The share of served documents that were never accessed, in [0, 1]."""
        return self.lifecycle.never_accessed / max(1, self.lifecycle.active)


def examine(
    vault: Vault,
    clock: Clock,
    policy: ArchivePolicy | None,
    configured: Collection[str],
    problems: Sequence[str],
) -> Examination:
    """
    Examine the vault without changing it.

    Args:
        configured: The names of the configured collections.
        problems: Sentences about other problems that the caller found.
    """
    archiving = Archiving(vault, clock)
    held = vault.documents.collections()
    return Examination(
        at=iso_utc(clock.now_ms()),
        lifecycle=lifecycle_status(vault, clock, policy),
        pending=vault.embeddings.counts().pending,
        problems=problems,
        idle=len(archiving.due(policy)) if policy else 0,
        duplicates=len(Duplicates(vault, archiving)()),
        top_score=_top_score(vault),
        collections=len(held),
        unlisted=sorted(held.keys() - {*configured, OWN_COLLECTION}),
    )


def recommended(found: Examination) -> Iterator[str]:
    """Yield recommendations, one sentence each with the command; none of them is carried out automatically."""
    counts = found.lifecycle
    yield from found.problems
    if not found.is_found:
        yield "The latest note is not found by its own title: clawmem doctor, then clawmem rebuild."
    if found.idle:
        yield f"{found.idle} notes are idle by the policy: clawmem lifecycle sweep --dry-run names them."
    if found.duplicates:
        yield f"{found.duplicates} unsure notes say what others say: clawmem consolidate --dry-run names them."
    if counts.pin_candidates or counts.snooze_candidates:
        yield (
            f"{counts.pin_candidates} notes are wanted again and again, {counts.snooze_candidates} surface without "
            "any use: clawmem lifecycle sweep --dry-run names them."
        )
    if counts.active > MANY and found.never_accessed_share > OFTEN_UNUSED:
        yield f"{found.never_accessed_share:.0%} of the notes were never of use: clawmem report shows which."
    for name in found.unlisted:
        yield f"The collection {name} is in no configuration, and is not kept up: clawmem collection add."


def _top_score(vault: Vault) -> float:
    """Return the best score for the words of the latest title, in [0, 1); 0 in an empty vault."""
    for document in vault.documents.latest(limit=1):
        hits = vault.lexical.search(query_forms(document.title).relaxed, Grain.DOCUMENT, 1)
        return max((lexical_score(hit.score) for hit in hits), default=0.0)
    return 0.0
