"""The table of operations: which module holds which, so that a command imports no module but its own."""

from __future__ import annotations

from importlib import import_module

from clawmem.app.operations.operation import AnyOperation, Operation
from clawmem.ports.errors import NotFound

# The first words of the commands of each module. The commands of a group may belong to several modules.
VERBS = {
    "maintenance": ("status", "vault", "doctor", "rebuild", "maintain", "undo", "reflect"),
    "documents": ("get", "links", "list", "tags", "entities", "timeline", "maintain"),
    "history": ("timeline", "sessions", "report", "why", "focus", "profile"),
    "indexing": ("bootstrap", "collection", "trust", "update", "embed", "doctor", "vault"),
    "lifecycle": ("archive", "restore", "undo", "forget", "mine", "pin", "snooze", "remember", "diary"),
    "models": ("models",),
    "openclaw": ("openclaw",),
    "portability": ("mine", "import", "beads", "backup", "export"),
    "search": ("search", "query"),
}

# The operations that agents have as tools; every one takes room in their prompts.
TOOLS = frozenset(
    """
    memory_retrieve query search vsearch intent_search query_plan get multi_get list list_tasks list_tags links
    find_similar find_causal_links find_entities kg_query timeline memory_evolution_status session_log profile
    memory_remember memory_pin memory_snooze memory_forget lifecycle_status lifecycle_sweep lifecycle_restore
    diary_write diary_read status index_stats reindex embed build_graphs beads_sync list_vaults vault_sync
    """.split()
)


def operations_in(module: str) -> tuple[AnyOperation, ...]:
    """Return the operations of a module of this package, in their order."""
    name = f"clawmem.app.operations.{module}"
    known = [value for value in vars(import_module(name)).values() if isinstance(value, Operation)]
    return tuple(operation for operation in known if operation.function.__module__ == name)


def all_operations() -> list[AnyOperation]:
    """Return every operation."""
    return [operation for module in VERBS for operation in operations_in(module)]


def operation_named(name: str) -> AnyOperation:
    """Return the operation *name*; raise `NotFound` if there is none."""
    for operation in all_operations():
        if operation.name == name:
            return operation
    raise NotFound("operation", name)
