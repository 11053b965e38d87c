"""The examination of the memory: what is in it, what is wrong, and what somebody might do."""

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

GOOD = 0.3  # score from which on a note counts as found by its own title
OFTEN_UNUSED, MANY = 0.3, 50  # share of documents that nobody ever looked at, and how many say something


@dataclass(frozen=True, slots=True)
class Examination:
    """
    ``problems`` are what whoever examined found wrong around the vault. ``top_score`` in [0, 1) is how well the latest
    note is found by its title; ``unlisted`` are collections that hold documents and are in no configuration.
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
        """Whether words find what they should; an empty vault has nothing to find."""
        return self.top_score > GOOD or not self.lifecycle.active

    @property
    def never_accessed_share(self) -> float:
        """Of the served documents, in [0, 1]."""
        return self.lifecycle.never_accessed / max(1, self.lifecycle.active)


def examine(
    vault: Vault,
    clock: Clock,
    policy: ArchivePolicy | None,
    configured: Collection[str],
    problems: Sequence[str],
) -> Examination:
    """
    Look, and change nothing.

    Args:
        configured: The collections that the owner listed.
        problems: What else was found wrong, in sentences.
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
    """What somebody might do about it, a sentence each, with the command; nothing of it is done by itself."""
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
    """How well the words of the latest title find anything, in [0, 1); 0 in an empty vault."""
    for document in vault.documents.latest(limit=1):
        hits = vault.lexical.search(query_forms(document.title).relaxed, Grain.DOCUMENT, 1)
        return max((lexical_score(hit.score) for hit in hits), default=0.0)
    return 0.0
