"""
Profile ``oneshot``: a vault opened for one event of a short process, without the settings.

Loading the settings takes longer than the answer to a prompt. Nothing is cached beyond the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os.path import exists
from typing import TYPE_CHECKING

from clawmem.app.environment.places import vault_place

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.adapters.files.conversation import ConversationFiles
    from clawmem.app.services.indexes.external import ExternalIndexes
    from clawmem.app.services.retrieval.scheduling import NamedThreads
    from clawmem.ports.clock import Clock
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.late_interaction import LateInteraction
    from clawmem.ports.vault import Vault


@contextmanager
def records(environ: Mapping[str, str]) -> Iterator[Vault | None]:
    """
    Yield the records of the vault that *environ* names, read-only; ``None`` without a vault.

    Errors of the vault are raised, for example a newer schema or a lock that outlasts the timeout. Settings of the
    working folder are ignored, because the user of a cloned repository has not chosen them.
    """
    place = vault_place(environ)
    if not exists(place):  # noqa: PTH110
        yield None
        return
    from clawmem.adapters.sqlite.vault import open_vault

    vault = open_vault(place, read_only=True)
    try:
        yield vault
    finally:
        vault.close()


@contextmanager
def writable_records(environ: Mapping[str, str]) -> Iterator[Vault]:
    """Yield the records of an existing vault for small writes."""
    from clawmem.adapters.sqlite.vault import open_vault

    vault = open_vault(vault_place(environ))
    try:
        yield vault
    finally:
        vault.close()


@contextmanager
def searchable(environ: Mapping[str, str]) -> Iterator[Vault | None]:
    """Yield the records with the indexes that serve them; ``None`` without a vault."""
    with records(environ) as found:
        yield read_only_with_indexes(found, environ).vault if found else None


def read_only_with_indexes(records: Vault, environ: Mapping[str, str]) -> ExternalIndexes:
    """Return *records* of the vault that *environ* names with the indexes that serve them, read-only."""
    options = EngineOptions(environ)
    return with_indexes(records, vault_place(environ), system_clock(), options, read_only=True)


def with_indexes(
    records: Vault,
    place: str,
    clock: Clock,
    options: Mapping[str, str],
    *,
    holder: str = "",
    read_only: bool,
) -> ExternalIndexes:
    """
    Return *records* of the vault at *place* with the indexes that serve them.

    Args:
        options: Options of the engines.
        holder: Name of this process in leases; by default a new one.
    """
    from clawmem.app.bootstrap.backends import backend_named
    from clawmem.app.environment.process_identity import holder_id, is_gone
    from clawmem.app.services.indexes.engines import Engines
    from clawmem.app.services.indexes.external import ExternalIndexes
    from clawmem.app.services.indexes.indexer import Indexer

    engines = Engines(backend_named, f"{place}.indexes", read_only=read_only, options=options)
    return ExternalIndexes(records, engines, Indexer(records, clock, holder or holder_id(), is_gone))


def system_clock() -> Clock:
    """Return the clock of this machine."""
    from clawmem.adapters.system.clock import SystemClock

    return SystemClock()


def conversation_files(transcript: str, session_id: str) -> ConversationFiles:
    """Return the files of the conversation in *transcript*."""
    from clawmem.adapters.files.conversation import ConversationFiles

    return ConversationFiles(transcript, session_id)


def record_silent_turn(vault: str, verb: str, session_id: str) -> None:
    """Record a turn without a search, so that turns can be counted, without opening the whole vault. Best effort."""
    from clawmem.adapters.sqlite.silent_turn import record_silent_turn

    record_silent_turn(vault, verb, session_id)


class PromptModels:
    """Models for a single prompt."""

    threads: NamedThreads | None = None  # for the retrievers of a question; not shared

    def embedder_of(self, fingerprint: str, folder: Path) -> Embedder | None:
        """Return the local embedder of this fingerprint, if any; large models are in *folder*."""
        from clawmem.adapters.models.catalogue import embedder_of

        return embedder_of(fingerprint, folder)

    def comparing(self) -> LateInteraction:
        """Return the model that compares texts word by word."""
        from clawmem.adapters.models.static_words import installed_words

        return installed_words()


class EngineOptions(Mapping[str, str]):
    """Engine options of the config file, loaded on first access: most engines never read them, and loading is slow."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._read: Mapping[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    @property
    def _options(self) -> Mapping[str, str]:
        if self._read is None:
            from clawmem.app.settings.model import load_settings

            self._read = load_settings(environ=self._environ).backend_options
        return self._read
