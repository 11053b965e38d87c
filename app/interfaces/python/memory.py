"""Python API: an opened vault with a method for each operation."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from pydantic import ValidationError

from clawmem.app.bootstrap.opening import open_services, require_folder
from clawmem.app.bootstrap.services import Services
from clawmem.app.operations import (
    documents,
    history,
    indexing,
    lifecycle,
    maintenance,
    models,
    openclaw,
    portability,
    search,
)
from clawmem.app.operations.operation import AnyOperation, Operation, refusal_of
from clawmem.app.operations.search import SearchAnswer
from clawmem.app.settings.model import at_vault, load_settings

CALLER = "python"

P = ParamSpec("P")
R = TypeVar("R")


def method(operation: Operation[P, R]) -> Callable[Concatenate[Memory, P], R]:
    """Return the method that runs *operation* with the parameters of its request, in their order or by name."""

    def run(memory: Memory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        kind = Parameter.POSITIONAL_OR_KEYWORD
        parameters = [Parameter(name, kind, default=None) for name in operation.request.model_fields]
        return cast("R", memory.run(operation, Signature(parameters).bind(*args, **kwargs).arguments))

    run.__name__, run.__doc__ = operation.name, operation.about
    vars(run)["operation"] = operation
    return run


Search = Callable[..., SearchAnswer]  # takes the question, and its conditions by name


class Memory(AbstractContextManager["Memory"]):
    """
    An opened vault.

    Open it in the thread that uses it, and close it at the end, best with ``with``. Every method raises a
    `clawmem.ports.errors.ClawmemError`, whose message names the next step.
    """

    def __init__(self, services: Services, closing: ExitStack) -> None:
        self._services = services
        self._closing = closing

    @classmethod
    def open(cls, path: str | Path | None = None, *, read_only: bool = False, create: bool = False) -> Self:
        """
        Open a vault.

        Args:
            path: The file or the name of the vault; ``None`` for the one of the settings.
            read_only: Whether every change is refused.
            create: Whether a missing vault is created.

        Raises:
            ConfigError: The settings are invalid.
            VaultError: There is no vault, or it cannot be opened.
        """
        settings = load_settings(environ=dict(os.environ))
        if path is not None:
            settings = at_vault(settings, Path(path))
            require_folder(settings)
        closing = ExitStack()
        services = closing.enter_context(open_services(settings, read_only=read_only, create=create))
        return cls(services.called_by(CALLER), closing)

    def close(self) -> None:
        """Close the vault."""
        self._closing.close()

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, operation: AnyOperation, parameters: Mapping[str, Any]) -> Any:
        """
        Return the result of *operation*.

        Raises:
            InvalidInput: A parameter is invalid.
        """
        try:
            request = operation.request.model_validate(parameters, by_name=True)
        except ValidationError as error:
            raise refusal_of(error) from error
        if operation.settings is None:
            return operation.run(self._services, request)
        chosen = operation.settings(self._services.settings, request, CALLER)
        with open_services(chosen) as services:
            return operation.run(services.called_by(CALLER), request)

    query: Search = method(search.query)
    vsearch: Search = method(search.vsearch)
    retrieve: Search = method(search.memory_retrieve)
    intent_search: Search = method(search.intent_search)
    query_plan: Search = method(search.query_plan)
    search: Search = method(search.search)
    beads_sync = method(portability.beads_sync)
    budget = method(history.budget)
    bootstrap = method(indexing.bootstrap)
    collection_add = method(indexing.collection_add)
    collection_remove = method(indexing.collection_remove)
    trust_set = method(indexing.trust_set)
    collections = method(indexing.list_all)
    reflect = method(maintenance.reflect)
    consolidate = method(maintenance.consolidate)
    curate = method(maintenance.curate)
    pin = method(lifecycle.memory_pin)
    snooze = method(lifecycle.memory_snooze)
    diary_write = method(lifecycle.diary_write)
    diary_read = method(lifecycle.diary_read)
    verify = method(maintenance.verify)
    rebuild = method(maintenance.rebuild)
    repair = method(maintenance.repair)
    doctor = method(maintenance.doctor)
    get = method(documents.get)
    multi_get = method(documents.multi_get)
    embed = method(indexing.embed)
    enrich = method(maintenance.enrich)
    focus = method(history.focus)
    forget = method(lifecycle.memory_forget)
    build_graphs = method(documents.build_graphs)
    find_causal_links = method(documents.find_causal_links)
    timeline = method(history.timeline)
    session_log = method(history.session_log)
    import_memories = method(portability.import_memories)
    mine = method(portability.mine)
    receipts = method(history.list_receipts)
    reindex = method(indexing.reindex)
    why_not = method(indexing.why_not)
    find_entities = method(documents.find_entities)
    kg_query = method(documents.kg_query)
    evolution_status = method(documents.memory_evolution_status)
    lanes_status = method(maintenance.lanes_status)
    lanes_run = method(maintenance.lanes_run)
    lanes_undo = method(maintenance.lanes_undo)
    lifecycle_status = method(lifecycle.status)
    lifecycle_sweep = method(lifecycle.lifecycle_sweep)
    lifecycle_archive = method(lifecycle.lifecycle_archive)
    lifecycle_restore = method(lifecycle.lifecycle_restore)
    lifecycle_undo = method(lifecycle.lifecycle_undo)
    find_similar = method(documents.find_similar)
    links = method(documents.find_links)
    list_documents = method(documents.list_documents)
    sources = method(portability.sources)
    source_forget = method(lifecycle.source_forget)
    models_list = method(models.models_list)
    models_add = method(models.models_add)
    models_remove = method(models.models_remove)
    models_use = method(models.models_use)
    flush_plan = method(openclaw.flush_plan)
    session_note = method(openclaw.session_note)
    backup = method(portability.backup)
    export = method(portability.export)
    profile = method(history.profile)
    receipt = method(history.show_receipt)
    remember = method(lifecycle.memory_remember)
    report = method(history.report)
    restore = method(portability.restore)
    list_tags = method(documents.list_tags)
    status = method(maintenance.status)
    vault_sync = method(indexing.vault_sync)
    index_stats = method(maintenance.index_stats)
    init = method(maintenance.init)
    vault_path = method(maintenance.vault_path)
    list_vaults = method(maintenance.list_vaults)


def methods() -> Mapping[str, AnyOperation]:
    """Return the operation of each method, by its name."""
    return {name: run.operation for name, run in vars(Memory).items() if hasattr(run, "operation")}
