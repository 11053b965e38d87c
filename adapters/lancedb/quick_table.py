"""
Reading a table in a local folder without the engine's Python package.

Importing `lancedb` takes 0.7 s of CPU time, three times as long as a whole search by words; half of that goes to
clients of services that are never asked. What a reader of words needs (open, count, filter) is in the engine's
compiled module, which loads in 10 ms. That module has no stable interface, so whatever does not go as expected
is left to the package, and so is everything but plain scans.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

_NAME = "lancedb._lancedb"
_OTHERWISE = (AttributeError, TypeError, ImportError)  # than this version of the compiled module is known


class QuickTable:
    """
    A table as its readers see it, at one version until it is told to look for a later one.

    Args:
        whole: Opens the same table by the package.
    """

    def __init__(self, inner: Any, whole: Callable[[], Any]) -> None:
        self._inner = inner
        self._whole = whole
        self._opened: Any = None

    @property
    def version(self) -> int:
        """The number of the version."""
        return int(_done(self._inner.version))

    @property
    def schema(self) -> Any:
        """The columns."""
        return _done(self._inner.schema)

    def checkout_latest(self) -> None:
        """Go to the latest version."""
        _done(self._inner.checkout_latest)
        if self._opened is not None:
            self._opened.checkout_latest()

    def count_rows(self, where: str | None = None) -> int:
        """How many rows fulfil a condition."""
        return int(_done(lambda: self._inner.count_rows(where)))

    def search(self, *question: Any, **rest: Any) -> Any:
        """A scan; with a question, whatever the package makes of it."""
        return (
            self._by_package().search(*question, **rest) if question or rest else _Scan(self._inner.query())
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._by_package(), name)

    def _by_package(self) -> Any:
        if self._opened is None:
            self._opened = self._whole()
        return self._opened


class _Scan:
    """A scan that is being described, and then made; the words for it are the package's."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def where(self, condition: str) -> _Scan:
        self._inner.where(condition)
        return self

    def select(self, columns: Sequence[str] | Mapping[str, str]) -> _Scan:
        if isinstance(columns, Mapping):
            self._inner.select(list(columns.items()))
        else:
            self._inner.select_columns(list(columns))
        return self

    def limit(self, number: int) -> _Scan:
        self._inner.limit(number)
        return self

    def to_arrow(self) -> Any:
        import pyarrow as pa

        async def read() -> Any:
            stream = await self._inner.execute()
            return pa.Table.from_batches([batch async for batch in stream], schema=stream.schema)

        return _done(read)


def quick_table(folder: str, name: str, whole: Callable[[], Any]) -> QuickTable | None:
    """The table *name* in a local *folder*; ``None`` where only the package can open it."""
    engine = _compiled_module()
    if engine is None:
        return None

    async def opened() -> Any:
        return await (await engine.connect(folder)).open_table(name)

    try:
        table = QuickTable(_done(opened), whole)
        table.count_rows()
    except _OTHERWISE:
        return None
    return table


@cache
def _compiled_module() -> Any | None:
    if "lancedb" in sys.modules:
        return None  # it has cost what it costs
    # The engine reports its routine on standard error, which belongs to the user.
    os.environ.setdefault("LANCEDB_LOG", "error")
    package = find_spec("lancedb")
    for folder in (package and package.submodule_search_locations) or ():
        for suffix in EXTENSION_SUFFIXES:
            if (file := Path(folder, f"_lancedb{suffix}")).is_file():
                return _loaded(file)
    return None


def _loaded(file: Path) -> Any | None:
    spec = spec_from_file_location(_NAME, file, loader=ExtensionFileLoader(_NAME, str(file)))
    if spec is None or spec.loader is None:
        return None
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError:
        return None
    sys.modules[_NAME] = module  # the package, should it be imported after all, finds it there
    return module


def _done(call: Callable[[], Any]) -> Any:
    """What comes of a call of the compiled module, all of which have to be made inside of an event loop."""
    import asyncio

    async def made() -> Any:
        return await call()

    waited: Coroutine[Any, Any, Any] = made()
    return asyncio.run_coroutine_threadsafe(waited, _loop()).result()


@cache
def _loop() -> Any:
    import asyncio
    from threading import Thread

    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="lancedb-quick", daemon=True).start()
    return loop
