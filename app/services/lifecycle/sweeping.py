"""Sweeps: archiving and permanent forgetting by policy, and proposals."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.app.services.lifecycle.forgetting import Forgetting
from clawmem.app.services.lifecycle.proposing import Proposals, Propose
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.ports.acts import Act
from clawmem.ports.records import Document


class SweepOutcome(NamedTuple):
    """
    Archived and permanently forgotten documents of a sweep; in a preview those that would be, with proposals.

    ``left`` is the reason why bytes of forgotten documents may remain in free space; empty if none do.
    """

    is_preview: bool
    archived: list[Document]
    purged: list[Document]
    proposals: Proposals = Proposals()
    left: str = ""


class Sweep:
    """Archives and purges by a policy. It ignores ``only_previews``: the caller decides whether to preview."""

    def __init__(self, archiving: Archiving, forgetting: Forgetting, propose: Propose) -> None:
        self._archiving = archiving
        self._forgetting = forgetting
        self._propose = propose

    def preview(self, policy: ArchivePolicy) -> SweepOutcome:
        """Return the effects of a sweep; nothing is changed."""
        archiving = self._archiving
        return SweepOutcome(True, archiving.due(policy), archiving.due_for_good(policy), self._propose())

    def __call__(self, policy: ArchivePolicy, by: str) -> SweepOutcome:
        """
        Archive and purge the documents that are due.

        Raises:
            VaultError: nothing was archived, or nothing more was forgotten.
        """
        due_for_good = self._archiving.due_for_good(policy)
        archived = self._archiving.sweep(policy, by)
        left = self._forgetting(due_for_good, by, "archived for long", Act.PURGE).left
        return SweepOutcome(False, archived, due_for_good, left=left)
