"""A sweep: what an owner's policy puts away now, what it forgets for good, and what somebody might look at besides."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.app.services.lifecycle.forgetting import Forgetting
from clawmem.app.services.lifecycle.proposing import Proposals, Propose
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.ports.acts import Act
from clawmem.ports.records import Document


class Swept(NamedTuple):
    """
    What was put away and what was forgotten for good; in a preview what would be, with proposals.

    ``left`` says why bytes of the forgotten may still lie in free space, empty when they do not.
    """

    is_preview: bool
    archived: list[Document]
    purged: list[Document]
    proposals: Proposals = Proposals()
    left: str = ""


class Sweep:
    """Archives and purges by a policy, whether or not that only previews: that is the caller's to decide."""

    def __init__(self, archiving: Archiving, forgetting: Forgetting, propose: Propose) -> None:
        self._archiving = archiving
        self._forgetting = forgetting
        self._propose = propose

    def preview(self, policy: ArchivePolicy) -> Swept:
        """What would go; nothing is changed."""
        archiving = self._archiving
        return Swept(True, archiving.due(policy), archiving.due_for_good(policy), self._propose())

    def __call__(self, policy: ArchivePolicy, by: str) -> Swept:
        """
        Let it go.

        Raises:
            VaultError: nothing was put away, or nothing more was forgotten.
        """
        due_for_good = self._archiving.due_for_good(policy)
        archived = self._archiving.sweep(policy, by)
        left = self._forgetting(due_for_good, by, "archived for long", Act.PURGE).left
        return Swept(False, archived, due_for_good, left=left)
