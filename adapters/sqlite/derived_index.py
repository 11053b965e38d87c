from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from clawmem.adapters.sqlite.abandoning import broken_tables
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.sqlite_errors import VirtualTableDamaged
from clawmem.ports.errors import IndexDamaged, VaultDamaged
from clawmem.ports.records import Marker


class Commits:
    """Base class of the indexes inside the vault, whose commits are part of the vault's transaction."""

    _role: str

    def __init__(self, db: Database) -> None:
        self._database = db
        self._is_committing = False

    def marker(self) -> Marker | None:
        text = self._database.meta(self._marker_name)
        return Marker(*json.loads(text)) if text else None

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._is_committing:
            raise RuntimeError("committing() is not reentrant")
        self._is_committing = True
        try:
            with self._database.atomic():
                yield
                self._stamp(marker)
        finally:
            self._is_committing = False

    def close(self) -> None:
        """Do nothing: the vault closes the file."""

    def _stamp(self, marker: Marker | None) -> None:
        if marker:
            stamp = json.dumps(marker)
            self._database.write("insert or replace into meta values (?, ?)", (self._marker_name, stamp))

    def _forget_marker(self) -> None:
        self._database.write("delete from meta where name = ?", (self._marker_name,))

    @property
    def _marker_name(self) -> str:
        return f"marker_{self._role}"


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
