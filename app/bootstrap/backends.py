"""Backends by name: those that ship with clawmem and those of installed packages."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from clawmem.ports.errors import ConfigError
from clawmem.ports.indexes import GROUP, Backend

# Searched first: reading the metadata of every installed package takes longer than a search.
BUILT_IN = {
    "lancedb": "clawmem.adapters.lancedb.backend:BACKEND",
    "tantivy": "clawmem.adapters.tantivy.backend:BACKEND",
}
DEFAULT = Backend("sqlite")


def backend_named(name: str) -> Backend:
    """
    Return the backend called *name*.

    Raises:
        ConfigError: There is no such backend, or the entry point of its package is not a `Backend`.
    """
    if name == DEFAULT.name:
        return DEFAULT
    if target := BUILT_IN.get(name):
        module, _, attribute = target.partition(":")
        return cast(Backend, getattr(import_module(module), attribute))
    return _of_a_package(name)


def refuse_unknown(name: str) -> None:
    """Raise `ConfigError` unless a user can choose the backend *name*."""
    backend_named(name)


def known_backends() -> list[str]:
    """Return the names of the backends that a user can choose, sorted."""
    from importlib.metadata import entry_points

    return sorted({DEFAULT.name, *BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def _of_a_package(name: str) -> Backend:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        found = point.load()
        if not isinstance(found, Backend):
            raise ConfigError(
                f"The backend {name!r} of {point.value} is no clawmem.ports.indexes.Backend. Upgrade its package."
            )
        return found
    raise ConfigError(f"There is no backend {name!r}. Known are: {', '.join(known_backends())}.")
