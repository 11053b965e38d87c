"""Backends by name: those that ship with clawmem and those of installed packages."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import cast

from clawmem.app.bootstrap.lazy import imported_object
from clawmem.ports.errors import ConfigError
from clawmem.ports.indexes import Backend

GROUP = "clawmem.backends"  # group of entry points; each one is a `Backend`

DEFAULT = Backend("sqlite")
# Searched first: reading the metadata of every installed package takes longer than a search.
BUILT_IN = {
    "lancedb": "adapters.lancedb.backend:BACKEND",
    "tantivy": "adapters.tantivy.backend:BACKEND",
}


def backend_named(name: str) -> Backend:
    """
    Return the backend called *name*.

    Raises:
        ConfigError: There is no such backend, or the entry point of its package is not a `Backend`.
    """
    if name == DEFAULT.name:
        return DEFAULT
    if name in BUILT_IN:
        return cast(Backend, imported_object(BUILT_IN[name]))
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        known = sorted({DEFAULT.name, *BUILT_IN, *points})
        raise ConfigError(f"There is no backend {name!r}. Known are: {', '.join(known)}.")
    backend = points[name].load()
    if not isinstance(backend, Backend):
        raise ConfigError(
            f"The backend {name!r} of {points[name].value} is no clawmem.ports.indexes.Backend. Upgrade its package."
        )
    return backend
