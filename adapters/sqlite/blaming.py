"""Decorator that attributes damage to an index of the vault or to the records that the index reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from clawmem.adapters.sqlite.abandoning import broken_tables
from clawmem.adapters.sqlite.sqlite_errors import VirtualTableDamaged
from clawmem.ports.errors import IndexDamaged, VaultDamaged

Method = TypeVar("Method", bound=Callable[..., Any])


def blames_index(method: Method) -> Method:
    """
    Raise `IndexDamaged` from *method* of an index when the damage is in a table of that index.

    An index also reads records. Damage of records stays `VaultDamaged`, because rebuilding the index does not
    repair it. The class of the index lists its tables as ``tables``.
    """

    @wraps(method)
    def blaming(self: Any, *given: Any, **named: Any) -> Any:
        try:
            return method(self, *given, **named)
        except VirtualTableDamaged as error:
            raise IndexDamaged(error.path, "one of its tables is broken") from error
        except VaultDamaged as error:
            if not broken_tables(self._db, self.tables):
                raise
            raise IndexDamaged(error.path, "one of its tables is broken") from error

    return cast("Method", blaming)
