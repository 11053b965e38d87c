from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tantivy import Index, IndexWriter, Occur, Query, Searcher

from clawmem.adapters.tantivy.changes import GrainChange, count
from clawmem.adapters.tantivy.entries import DOCUMENT, KEY, kept_entry, open_index, pack, schema, to_document
from clawmem.ports.errors import IndexBusy
from clawmem.ports.records import LexicalEntry

# tantivy's minimum for one thread. A commit of some hundred documents takes a few megabytes; a larger one is
# written in several segments, which are merged later. More threads would write more segments per commit.
HEAP_BYTES = 15_000_000

# tantivy counts deleted entries in IDF and average length until a merge drops them. A granularity with at
# most this many entries is rewritten in each commit that deletes, so its ranking is exact: 60 ms of work for
# passages. A larger one merges when there are eight segments of similar size; until then deleted entries
# still influence the ranking.
EXACT_UP_TO = 250


class GrainIndex:
    """The index of one granularity, a separate tantivy index because tantivy keeps statistics per index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._meta = folder / "meta.json"
        self._index = open_index(str(folder))
        self._seen: tuple[int, ...] = ()

    def searcher(self) -> Searcher:
        """Return a view of the last commit of any process; the view does not change."""
        found = self._meta.stat()  # fifty times cheaper than an unnecessary reload
        now = (found.st_ino, found.st_mtime_ns, found.st_size)
        if now != self._seen:
            self._index.reload()
            self._seen = now
        return self._index.searcher()

    def commits(self) -> int:
        """Return a number that grows with every commit."""
        return int(json.loads(self._meta.read_bytes())["opstamp"])

    @contextmanager
    def writing(self, patience_s: float) -> Iterator[GrainWriter]:
        """
        Hold the write lock of this granularity for the block; uncommitted changes are discarded at the end.

        Raises:
            IndexBusy: another process held the lock for more than *patience_s* seconds.
        """
        # An index that was opened earlier does not know files that other processes have added since.
        index = open_index(str(self._folder))
        writer = self._locked(index, patience_s)
        try:
            index.reload()
            yield GrainWriter(index.searcher(), writer)
        except BaseException:
            writer.rollback()
            raise
        finally:
            writer.wait_merging_threads()  # a merge that is not awaited is lost; this also releases the lock

    def _locked(self, index: Index, patience_s: float) -> IndexWriter:
        until = time.monotonic() + patience_s
        while True:
            try:
                return index.writer(HEAP_BYTES, num_threads=1)
            except ValueError as error:
                if "LockBusy" not in str(error):
                    raise
                if time.monotonic() > until:
                    raise IndexBusy(str(self._folder)) from error
            time.sleep(random.uniform(0.002, 0.02))


class GrainWriter:
    """One commit at one granularity: stage the changes, then commit."""

    def __init__(self, searcher: Searcher, writer: IndexWriter) -> None:
        self._searcher = searcher
        self._writer = writer
        self._held = searcher.num_docs
        self._is_changed = False

    def stage(self, change: GrainChange) -> None:
        """Pass the changes to tantivy; they become visible with the commit."""
        survivors = self._take_out(change)
        held = self._held if survivors is None else len(survivors)
        entries = [*(survivors or ()), *change.entries]
        keep = held + len(change.entries) <= EXACT_UP_TO
        for entry in sorted(entries, key=lambda entry: entry.key):
            self._writer.add_document(to_document(entry, keep=keep))
        self._is_changed |= bool(entries)

    def commit(self) -> None:
        """Make the changes durable and visible; does nothing if there are none."""
        if self._is_changed:
            self._writer.commit()

    def tidy(self) -> None:
        """Commit without changes, which starts due merges and deletes files left by a killed process."""
        self._writer.commit()

    def _take_out(self, change: GrainChange) -> Sequence[LexicalEntry] | None:
        """
        Delete removed and replaced entries; return the entries to add again if all entries were deleted, else
        None.
        """
        leaving = _leaving(change)
        if leaving is None or not self._held or not count(self._searcher, leaving):
            return None
        self._is_changed = True
        survivors = () if change.cleared else self._survivors(change)
        if survivors is None:
            self._writer.delete_documents_by_query(leaving)
        else:
            self._writer.delete_all_documents()
        return survivors

    def _survivors(self, change: GrainChange) -> list[LexicalEntry] | None:
        """Return the entries that remain, if they are few and all stored; else None."""
        if self._held > EXACT_UP_TO:
            return None
        hits = self._searcher.search(Query.all_query(), self._held, count=False).hits
        held = [kept_entry(self._searcher.doc(address)) for _, address in hits]
        replaced = {entry.key for entry in change.entries}
        survivors = []
        for entry in held:
            if entry is None:
                return None
            if entry.key.document_id not in change.removed and entry.key not in replaced:
                survivors.append(entry)
        return survivors


def _leaving(change: GrainChange) -> Query | None:
    """Return a query for the entries that a change deletes, or ``None`` if it deletes none."""
    if change.cleared:
        return Query.all_query()
    replaced = [pack(e.key) for e in change.entries if e.key.document_id not in change.removed]
    named = {DOCUMENT: list(change.removed), KEY: replaced}
    layout = schema()
    sets = [Query.term_set_query(layout, field, numbers) for field, numbers in named.items() if numbers]
    return Query.boolean_query([(Occur.Should, one) for one in sets]) if sets else None
