"""
Read access to a table in a local folder without LanceDB's Python package.

Importing `lancedb` takes 0.9 s of CPU time, three times as long as a whole lexical search; most of it is
spent on clients of services that are never used. The compiled module of LanceDB has all that a reader needs
(open, count, filter, search) and loads in 10 ms. It has no stable interface, so if it is not as expected the
package is used.
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

from clawmem.adapters.lancedb import text_queries

_NAME = "lancedb._lancedb"
_UNEXPECTED = (AttributeError, TypeError, ImportError)  # raised for another version of the compiled module


class QuickTable:
    """A table as seen by readers. It stays at one version until `checkout_latest`."""

    text_queries = text_queries

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def version(self) -> int:
        """Number of the version."""
        return int(_done(self._inner.version))

    @property
    def schema(self) -> Any:
        """The columns."""
        return _done(self._inner.schema)

    def checkout_latest(self) -> None:
        """Switch to the latest version."""
        _done(self._inner.checkout_latest)

    def count_rows(self, where: str | None = None) -> int:
        """Return the number of rows that fulfil a condition."""
        return int(_done(lambda: self._inner.count_rows(where)))

    def search(
        self, question: Any = None, *, query_type: str = "vector", vector_column_name: str = ""
    ) -> QuickSearch:
        """Return a scan, a full-text search with one of `text_queries`, or a search by a numpy vector."""
        inner = self._inner.query()
        if question is None:
            return QuickSearch(inner)
        if query_type == "fts":
            return QuickSearch(inner.nearest_to_text({"query": question}))
        import pyarrow as pa

        inner = inner.nearest_to(pa.array(question))
        inner.column(vector_column_name)
        return QuickSearch(inner)


class QuickSearch:
    """Builder for a search with the methods of the package; `to_arrow` runs it."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def where(self, condition: str) -> QuickSearch:
        self._inner.where(condition)
        return self

    def select(self, columns: Sequence[str] | Mapping[str, str]) -> QuickSearch:
        if isinstance(columns, Mapping):
            self._inner.select(list(columns.items()))
        else:
            self._inner.select_columns(list(columns))
        return self

    def limit(self, number: int) -> QuickSearch:
        self._inner.limit(number)
        return self

    def distance_type(self, name: str) -> QuickSearch:
        self._inner.distance_type(name)
        return self

    def bypass_vector_index(self) -> QuickSearch:
        self._inner.bypass_vector_index()
        return self

    def nprobes(self, number: int) -> QuickSearch:
        self._inner.nprobes(number)
        return self

    def refine_factor(self, factor: int) -> QuickSearch:
        self._inner.refine_factor(factor)
        return self

    def to_arrow(self) -> Any:
        import pyarrow as pa

        async def read() -> Any:
            stream = await self._inner.execute()
            return pa.Table.from_batches([batch async for batch in stream], schema=stream.schema)

        return _done(read)


def quick_table(folder: str, name: str) -> QuickTable | None:
    """Open the table *name* in a local *folder*; ``None`` if only the package can open it."""
    engine = _compiled_module()
    if engine is None:
        return None

    async def opened() -> Any:
        return await (await engine.connect(folder)).open_table(name)

    try:
        table = QuickTable(_done(opened))
        table.count_rows()
        return table if _describes_searches(table) else None
    except _UNEXPECTED:
        return None


def _describes_searches(table: QuickTable) -> bool:
    """Whether the compiled module accepts every method used here; this builds searches and runs none."""
    import numpy as np

    words = text_queries.MatchQuery("a", "b", boost=1.5, operator=text_queries.FullTextOperator.AND)
    phrase = text_queries.PhraseQuery("a b", "b")
    both = text_queries.BooleanQuery(
        [(occur, one) for occur in text_queries.Occur for one in (words, phrase)]
    )
    try:
        table.search().where("true").select({"a": "b"}).limit(1)
        table.search(both, query_type="fts").where("true").select(["a"]).limit(1)
        nearest = table.search(np.ones(1, "<f4"), vector_column_name="c").where("true").select(["a"]).limit(1)
        nearest.distance_type("cosine").bypass_vector_index().nprobes(1).refine_factor(1)
    except ValueError:
        return False
    return True


@cache
def _compiled_module() -> Any | None:
    if "lancedb" in sys.modules:
        return None  # the import time is already spent
    # LanceDB logs to standard error by default, which belongs to the user.
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
    sys.modules[_NAME] = module  # if the package is imported later, it finds the module there
    return module


def _done(call: Callable[[], Any]) -> Any:
    """Run a call of the compiled module inside an event loop, which all its calls need, and return the result."""
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
