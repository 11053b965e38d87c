"""A server that embeds, as a process has to see it that lives for one prompt: one that hangs is asked once a minute."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, cast

from clawmem.app.hooks.surfacing_choices import Chosen

if TYPE_CHECKING:
    from clawmem.app.services.indexes.vault import ServedVault
    from clawmem.app.services.models.watching import Watch
    from clawmem.ports.embedder import Embedder

VECTOR = "vector"  # the leg that waits for it


class EmbedServer:
    """
    The embedder of the whole configuration: a server, for one.

    A leg that is late is left alone, and its process ends with the prompt: nobody would be there to write down that
    the server let it wait. So the prompt does.
    """

    def __init__(self, vault: ServedVault, chosen: Chosen) -> None:
        self._vault = vault
        self._url = chosen.embed_url
        self._was_asked = False

    def __call__(self) -> Embedder:
        """
        The embedder; built only when nothing here embeds as the vault was.

        Raises:
            ModelUnavailable: it let another prompt wait, less than a minute ago.
        """
        if self._url:
            with self._watch.naming():
                self._was_asked = True
        import os

        from clawmem.app.container import build_container
        from clawmem.app.settings import load_settings

        return cast("Embedder", build_container(load_settings(environ=os.environ), read_only=True).embedder())

    def learn(self, degraded: Mapping[str, str]) -> None:
        """Remember that the server let this prompt wait, if it did."""
        if not self._was_asked:
            return
        from clawmem.app.services.retrieval.legs.ask_all import LATE

        if (reason := degraded.get(VECTOR, "")).startswith(LATE):
            self._watch.gave_up(reason)

    @cached_property
    def _watch(self) -> Watch:
        from clawmem.adapters.http.addresses import shown
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.models.watching import REST_MS, Watch
        from clawmem.ports.model_failures import ModelRole

        failures, name = self._vault.model_failures, shown(self._url)
        return Watch(failures, SystemClock(), ModelRole.EMBEDDER, name, rest_ms=REST_MS)
