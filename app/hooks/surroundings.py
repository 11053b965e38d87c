"""Where a hook runs: in a process of its own, or in a server that has the vault open."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.hooks.protocol import HookOutput, Offer
from clawmem.app.places import default_vault

TYPE_CHECKING = False  # as `typing` has it, which costs a prompt a millisecond and a half
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from clawmem.adapters.sqlite.vault import SqliteVault
    from clawmem.app.hooks.spool import Spool
    from clawmem.app.hooks.word_models import ForOnePrompt
    from clawmem.app.services.indexes.vault import ServedVault


def _keep_to_oneself(output: HookOutput) -> None:
    """An offer to nobody."""


class Surroundings:
    """
    What a hook is given beside its event: variables, a vault, and somebody who takes what it has so far.

    This one is a process of its own, which opens the vault when it is asked for and closes it behind it.
    """

    def __init__(self, environ: Mapping[str, str], offer: Offer = _keep_to_oneself) -> None:
        self.environ = environ
        self.offer = offer

    @property
    def vault(self) -> Path:
        """The vault that is meant, there or not."""
        return default_vault(self.environ)

    @property
    def models(self) -> ForOnePrompt:
        """What reads its prompt."""
        from clawmem.app.hooks.word_models import ForOnePrompt

        return ForOnePrompt()

    def records(self) -> AbstractContextManager[SqliteVault | None]:
        """See `clawmem.app.hooks.opening.records`."""
        from clawmem.app.hooks.opening import records

        return records(self.environ)

    def searchable(self) -> AbstractContextManager[ServedVault | None]:
        """See `clawmem.app.hooks.opening.searchable`."""
        from clawmem.app.hooks.opening import searchable

        return searchable(self.environ)

    def writable_records(self) -> AbstractContextManager[SqliteVault]:
        """See `clawmem.app.hooks.opening.writable_records`."""
        from clawmem.app.hooks.opening import writable_records

        return writable_records(self.environ)

    def work_off(self, spool: Spool) -> list[str]:
        """See to it that what waits in *spool* is done; what failed already, in sentences."""
        from clawmem.app.hooks.at_stop import drained

        return drained(self.vault, spool, self.environ)
