"""Embedding server for processes that serve one prompt: a server that hangs is retried once a minute."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from clawmem.app.settings.plain import SurfacingSettings

if TYPE_CHECKING:
    from clawmem.app.services.indexes.vault import ServedVault
    from clawmem.app.services.models.watching import Watch
    from clawmem.ports.embedder import Embedder

VECTOR = "vector"  # the retriever that waits for the server


class EmbedServer:
    """
    Factory of the embedder of the full configuration, for example an embedding server.

    A retriever that misses the deadline is abandoned, and its process ends with the prompt, before the client of the
    server could record the timeout. Therefore the hook records the timeout with `learn`.
    """

    def __init__(self, vault: ServedVault, settings: SurfacingSettings) -> None:
        self._vault = vault
        self._url = settings.embed_url
        self._was_asked = False

    def __call__(self) -> Embedder:
        """
        Return the embedder. Called only if no local model made the vectors of the vault.

        Raises:
            ModelUnavailable: the server timed out for another prompt less than a minute ago.
        """
        if self._url:
            with self._watch.naming():
                self._was_asked = True
        import os

        from clawmem.app.bootstrap.adapters import Adapters
        from clawmem.app.settings.model import load_settings

        return Adapters(load_settings(environ=os.environ), read_only=True).embedder()

    def learn(self, degraded: Mapping[str, str]) -> None:
        """Record a timeout of the server, if *degraded* reports one."""
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
