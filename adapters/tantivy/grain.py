"""The tantivy index of one granularity: fields, words, commits and hits."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tantivy import (
    Document,
    Filter,
    Index,
    IndexWriter,
    Occur,
    Query,
    Schema,
    SchemaBuilder,
    Searcher,
    TextAnalyzer,
    TextAnalyzerBuilder,
    Tokenizer,
)

from clawmem.ports.errors import IndexBusy, IndexDamaged
from clawmem.ports.indexes import TITLE_WEIGHT
from clawmem.ports.records import FragmentKey, Grain, Hit, LexicalEntry

# Integer fields are signed: tantivy's Python binding makes a signed term of every number, and a deletion by
# such a term in an unsigned field silently deletes nothing.
WORDS = "words"
KEY = "key"
DOCUMENT = "document"
COLLECTION = "collection"
AUTHORED = "authored"
ENTRY = "entry"

# tantivy's minimum for one thread. A commit of some hundred documents takes a few megabytes; a larger one is
# written in several segments, which are merged later. More threads would write more segments per commit.
HEAP_BYTES = 15_000_000

# tantivy counts deleted entries in IDF and average length until a merge drops them. A granularity with at
# most this many entries stores them, and is rewritten in each commit that deletes, so its ranking is exact.
EXACT_UP_TO = 250

SAMPLE = 1000  # entries that `GrainIndex.faults` looks up

_ANALYZER = "clawmem"
_SEQ_BITS = 20
_TIME_DIGITS = 18  # precise to a ten-thousandth of a second, and within 64 bits
_BEYOND = 16  # hits fetched beyond the limit, to detect a tie across the limit


def analyzer() -> TextAnalyzer:
    """Return the analyzer: words are runs of letters and digits, folded, and reduced to their English stem."""
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.lowercase())
        .filter(Filter.ascii_fold())
        .filter(Filter.stemmer("english"))
        .build()
    )


def _schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_text_field(WORDS, tokenizer_name=_ANALYZER, index_option="position")
    builder.add_integer_field(KEY, indexed=True, fast=True)
    builder.add_integer_field(DOCUMENT, indexed=True)
    builder.add_text_field(COLLECTION, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field(AUTHORED, fast=True)
    builder.add_bytes_field(ENTRY, stored=True)
    return builder.build()


SCHEMA = _schema()


def open_index(folder: Path) -> Index:
    """
    Open the index in *folder*, created if it does not exist.

    Raises:
        ValueError: raised by tantivy if the files are no index with this schema.
    """
    index = Index(SCHEMA, str(folder))
    index.register_tokenizer(_ANALYZER, analyzer())  # tantivy stores only the name of the analyzer
    index.config_reader("manual")  # otherwise a thread of tantivy watches the folder
    return index


def time_number(time: str) -> int:
    """
    Return the digits of an ISO time as a number, in the same order as the texts.

    tantivy has no range queries on text, and its dates have a precision of one second. A shorter time counts
    as its start (``2024`` comes before every day of 2024), an empty one comes first.
    """
    digits = "".join(sign for sign in time if sign in "0123456789")
    return int(digits[:_TIME_DIGITS].ljust(_TIME_DIGITS, "0"))


class GrainIndex:
    """The index of one granularity, a separate tantivy index because tantivy keeps statistics per index."""

    def __init__(self, folder: Path, *, may_create: bool) -> None:
        """
        Open the index in *folder*; create it if it does not exist and *may_create* is true.

        Raises:
            IndexDamaged: it is missing, or its description is.
        """
        self._folder = folder
        self._description = folder / "meta.json"
        if not self._description.exists():
            # A process that dies while creating an index leaves files whose names begin with a dot.
            is_new = not folder.exists() or all(path.name.startswith(".") for path in folder.iterdir())
            if not may_create or not is_new:
                raise IndexDamaged(str(folder), "it is missing" if is_new else "its list of files is missing")
            folder.mkdir(parents=True, exist_ok=True)
        self._index = open_index(folder)
        self._version: tuple[int, ...] = ()

    def searcher(self) -> Searcher:
        """Return a view of the last commit of any process; the view does not change."""
        status = self._description.stat()  # fifty times cheaper than an unnecessary reload
        version = (status.st_ino, status.st_mtime_ns, status.st_size)
        if version != self._version:
            self._index.reload()
            self._version = version
        return self._index.searcher()

    def commits(self) -> int:
        """Return a number that grows with every commit."""
        return int(json.loads(self._description.read_bytes())["opstamp"])

    @contextmanager
    def writing(self, patience_s: float) -> Iterator[GrainWriter]:
        """
        Hold the write lock of this granularity for the block; uncommitted changes are discarded at the end.

        Raises:
            IndexBusy: another process held the lock for more than *patience_s* seconds.
        """
        # An index that was opened earlier does not know files that other processes have added since.
        index = open_index(self._folder)
        writer = _locked(index, self._folder, patience_s)
        try:
            index.reload()
            yield GrainWriter(index.searcher(), writer)
        except BaseException:
            writer.rollback()
            raise
        finally:
            writer.wait_merging_threads()  # a merge that is not awaited is lost; this also releases the lock

    def faults(self) -> list[str]:
        """Return a fault if an entry of a sample is not found by its key, or cannot be read."""
        searcher = self.searcher()
        hits = searcher.search(Query.all_query(), max(1, searcher.num_docs), count=False).hits
        addresses = [address for _, address in hits[:: max(1, len(hits) // SAMPLE)]]
        for address in addresses:
            searcher.doc(address)
        keys = [int(key or 0) for key in searcher.fast_field_values(KEY, addresses)]
        found = count(searcher, _any_of({KEY: keys}))
        if len(hits) == searcher.num_docs and len(keys) == found:
            return []
        return [f"{self._folder.name}: {found} of {len(keys)} entries are found by their keys"]


class GrainWriter:
    """One commit at one granularity: stage the changes, then commit."""

    def __init__(self, searcher: Searcher, writer: IndexWriter) -> None:
        self._searcher = searcher
        self._writer = writer

    def stage(self, entries: Collection[LexicalEntry], removed: Collection[int], *, clear: bool) -> bool:
        """
        Pass changes to tantivy in this order: clear, remove documents, add entries with different keys.

        They become visible with the commit. Return whether there are any.
        """
        size = self._searcher.num_docs
        replaced = [_packed(entry.key) for entry in entries if entry.key.document_id not in removed]
        doomed = _any_of({DOCUMENT: list(removed), KEY: replaced}) if not clear else Query.all_query()
        survivors: list[LexicalEntry] = []
        is_deleting = bool(size) and count(self._searcher, doomed) > 0
        if is_deleting:
            stored = None if clear else self._stored()
            if clear or stored is not None:
                self._writer.delete_all_documents()
                keys = {entry.key for entry in entries}
                survivors = [
                    e for e in stored or () if e.key.document_id not in removed and e.key not in keys
                ]
                size = len(survivors)
            else:
                self._writer.delete_documents_by_query(doomed)
        store = size + len(entries) <= EXACT_UP_TO
        for entry in sorted([*survivors, *entries], key=lambda entry: entry.key):
            self._writer.add_document(_document(entry, store=store))
        return is_deleting or bool(entries)

    def commit(self) -> None:
        """Make the changes durable and visible, start due merges, and delete files of a killed process."""
        self._writer.commit()

    def _stored(self) -> list[LexicalEntry] | None:
        """Return all entries if they are few and stored."""
        size = self._searcher.num_docs
        if size > EXACT_UP_TO:
            return None
        hits = self._searcher.search(Query.all_query(), size, count=False).hits
        texts = [self._searcher.doc(address).get_first(ENTRY) for _, address in hits]
        values = [json.loads(bytes(text)) for text in texts if text is not None]
        entries = [LexicalEntry(FragmentKey(*key), Grain(grain), *rest) for key, grain, *rest in values]
        return entries if len(entries) == size else None


def best(searcher: Searcher, query: Query, limit: int) -> list[Hit]:
    """Return the best *limit* >= 1 hits by descending score, then key; the key also decides ties at the limit."""
    most = max(1, searcher.num_docs)
    fetched = min(limit + _BEYOND, most)
    while True:
        # tantivy sums 32-bit floats in varying order, so entries with the same words differ in the last digit.
        hits = [
            (float(f"{score:.6g}"), address)
            for score, address in searcher.search(query, fetched, count=False).hits
        ]
        if not limit < len(hits) == fetched < most or hits[-1][0] < hits[limit - 1][0]:
            break
        fetched = min(fetched * 8, most)  # the tie is longer; all of it is needed to order by key
    keys = searcher.fast_field_values(KEY, [address for _, address in hits])
    unpacked = [
        FragmentKey(int(key or 0) >> _SEQ_BITS, int(key or 0) & ((1 << _SEQ_BITS) - 1)) for key in keys
    ]
    ranked = [Hit(key, score) for key, (score, _) in zip(unpacked, hits, strict=True)]
    return sorted(ranked, key=lambda hit: (-hit.score, hit.key))[:limit]


def count(searcher: Searcher, query: Query) -> int:
    """Return the number of entries that match a query."""
    return int(searcher.search(query, 1).count)  # type: ignore[attr-defined]  # missing in its stubs


def _document(entry: LexicalEntry, *, store: bool) -> Document:
    document = Document()
    # Several values of one field: no phrase matches across them, and each counts towards the length.
    for text in [entry.title] * TITLE_WEIGHT + [entry.text]:
        document.add_text(WORDS, text)
    document.add_integer(KEY, _packed(entry.key))
    document.add_integer(DOCUMENT, entry.key.document_id)
    document.add_text(COLLECTION, entry.collection)
    document.add_integer(AUTHORED, time_number(entry.authored_at))
    if store:
        document.add_bytes(ENTRY, json.dumps(entry).encode())
    return document


def _packed(key: FragmentKey) -> int:
    """Return ``document_id * 2^20 + seq``, which preserves the order of keys."""
    return (key.document_id << _SEQ_BITS) | key.seq


def _any_of(numbers: dict[str, list[int]]) -> Query:
    """Return a query for entries with one of the numbers in a field."""
    sets = [Query.term_set_query(SCHEMA, field, values) for field, values in numbers.items() if values]
    return Query.boolean_query([(Occur.Should, one) for one in sets]) if sets else Query.empty_query()


def _locked(index: Index, folder: Path, patience_s: float) -> IndexWriter:
    until = time.monotonic() + patience_s
    while True:
        try:
            return index.writer(HEAP_BYTES, num_threads=1)
        except ValueError as error:
            if "LockBusy" not in str(error):
                raise
            if time.monotonic() > until:
                raise IndexBusy(str(folder.parent)) from error
        time.sleep(random.uniform(0.002, 0.02))
