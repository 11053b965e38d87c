"""The store of LangGraph over a folder of notes, which every search of the vault finds."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from sys import maxsize
from typing import Any

from langgraph.store.base import BaseStore, Item, Op, PutOp, Result, SearchOp, get_text_at_path
from langgraph.store.memory import InMemoryStore

from clawmem.app.interfaces.python.memory import Memory
from clawmem.domain.documents.eligibility import is_excluded
from clawmem.ports.errors import NotFound


class ClawmemStore(BaseStore):
    """
    Long-term memory of a graph, for any of its threads: ``builder.compile(store=ClawmemStore("~/agent-memory"))``.

    An item is a JSON file in *folder*, which is made and becomes a collection. Its text stands in a note of the same
    name, which is searched: the whole item, or what the paths of ``index`` name. With ``index=False`` there is none.
    The *vault* is a file or a name, and is created if it is missing.
    """

    def __init__(self, folder: str | Path, vault: str | Path | None = None) -> None:
        self._folder = Path(folder).expanduser().resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._thread = ThreadPoolExecutor(1, "clawmem-store")  # a vault is used in the thread that opened it
        self._memory = self._thread.submit(self._open, vault).result()

    def _open(self, vault: str | Path | None) -> Memory:
        with Memory.open(vault, create=True) as memory:
            names = {Path(known.path).resolve(): known.name for known in memory.collections() if known.path}
            self._collection = names.get(self._folder) or memory.collection_add(self._folder).name
        return Memory.open(vault)  # with the collection

    def close(self) -> None:
        """Close the vault."""
        self._thread.submit(self._memory.close).result()
        self._thread.shutdown()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Return the results of *ops*, which read the state before any of them puts something."""
        return self._thread.submit(self._batch, [*ops]).result()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same without blocking the loop."""
        return await asyncio.wrap_future(self._thread.submit(self._batch, [*ops]))

    def _batch(self, ops: list[Any]) -> list[Any]:
        """Let LangGraph's own store, filled with the items in question, apply its filters and patterns."""
        store, created = InMemoryStore(), dict[Any, Any]()
        for op in ops:
            if hasattr(op, "key"):
                files = [*self._folder.glob(f"{_path(*op.namespace, op.key)}.json")]
            else:
                above = self._folder / _path(*getattr(op, "namespace_prefix", ()))
                files = sorted(above.rglob("*.json"))
            for item in (Item(**json.loads(file.read_text("utf-8"))) for file in files):
                store._data[item.namespace][item.key] = item
                created[item.namespace, item.key] = item.created_at
        every = [op._replace(limit=maxsize, offset=0) if isinstance(op, SearchOp) else op for op in ops]
        results: list[Any] = store.batch(every)
        for place, op in enumerate(ops):
            if isinstance(op, SearchOp):
                results[place] = self._ranked(op, results[place])
            elif isinstance(op, PutOp):
                if put := store._data[op.namespace].get(op.key):
                    put.created_at = created.get((put.namespace, put.key), put.created_at)
                self._write(op, put)
        if PutOp in map(type, ops):
            self._memory.reindex(self._collection, allow_empty=True)
        return results

    def _ranked(self, search: SearchOp, matches: list[Any]) -> list[Any]:
        if matches and search.query and search.query.strip():
            where = {"collection": self._collection, "tag": _path(*search.namespace_prefix)}
            with suppress(NotFound):  # no note has the tag
                answer = self._memory.query(search.query, limit=100, show_all=True, diverse=False, **where)
                scores = {result.file: result.score for result in answer.results}
                for match in matches:
                    match.score = scores.get(f"{self._collection}/{_path(*match.namespace, match.key)}.md")
                matches.sort(key=lambda match: match.score or -1.0, reverse=True)
        return matches[search.offset : search.offset + search.limit]

    def _write(self, put: PutOp, item: Item | None) -> None:
        file = self._folder / f"{_path(*put.namespace, put.key)}.json"
        note, draft = file.with_suffix(".md"), file.with_suffix(".part")
        if item is None or put.index is False:
            note.unlink(missing_ok=True)
        if item is None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(item.dict(), ensure_ascii=False, indent=1), "utf-8")
        draft.replace(file)
        if put.index is not False:
            texts = [json.dumps(item.value, ensure_ascii=False, indent=1).replace("\\n", "\n")]
            if put.index:
                texts = [text for path in put.index for text in get_text_at_path(item.value, path)]
            front = f'---\ntags: ["{_path(*put.namespace)}", "origin:assistant"]\n---\n# {put.key}'
            note.write_text("\n\n".join([front, *texts]), "utf-8")


def _path(*labels: str) -> str:
    """Return a path of *labels*, the same on every system: a label itself where it can be the name of a file."""
    names = []
    for label in labels:
        slug = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:60]
        is_usable = slug == label and not is_excluded(label)
        names.append(slug if is_usable else f"{slug}-{sha256(label.encode()).hexdigest()[:12]}")
    return "/".join(names)
