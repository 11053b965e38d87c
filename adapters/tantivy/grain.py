"""The tantivy index of one granularity: fields, words, commits and hits."""

from __future__ import annotations

import json
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

from clawmem.ports.errors import IndexDamaged
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
_BEYOND = 64  # hits fetched beyond the limit, whose ties are ordered by key


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

    def searcher(self) -> Searcher:
        """Return a view of the last commit of any process; the view does not change."""
        self._index.reload()
        return self._index.searcher()

    def commits(self) -> int:
        """Return a number that grows with every commit."""
        return int(json.loads(self._description.read_bytes())["opstamp"])

    @contextmanager
    def writing(self) -> Iterator[IndexWriter]:
        """Yield a writer; uncommitted changes are discarded at the end."""
        # An index that was opened earlier does not know files that other processes have added since.
        writer = open_index(self._folder).writer(HEAP_BYTES, num_threads=1)
        try:
            yield writer
        except BaseException:
            writer.rollback()
            raise
        finally:
            writer.wait_merging_threads()  # a merge that is not awaited is lost

    def stage(
        self,
        writer: IndexWriter,
        entries: Collection[LexicalEntry],
        removed: Collection[int],
        *,
        clear: bool,
    ) -> bool:
        """
        Pass changes to *writer* in this order: clear, remove documents, add entries with different keys.

        They become visible with its commit. Return whether there are any.
        """
        searcher = self.searcher()
        size = searcher.num_docs
        replaced = [_packed(entry.key) for entry in entries if entry.key.document_id not in removed]
        doomed = Query.all_query() if clear else _any_of({DOCUMENT: list(removed), KEY: replaced})
        survivors: list[LexicalEntry] = []
        is_deleting = bool(size) and count(searcher, doomed) > 0
        if is_deleting:
            stored = [] if clear else _stored(searcher)
            if stored is None:
                writer.delete_documents_by_query(doomed)
            else:
                writer.delete_all_documents()
                keys = {entry.key for entry in entries}
                survivors = [e for e in stored if e.key.document_id not in removed and e.key not in keys]
                size = len(survivors)
        store = size + len(entries) <= EXACT_UP_TO
        for entry in sorted([*survivors, *entries], key=lambda entry: entry.key):
            writer.add_document(_document(entry, store=store))
        return is_deleting or bool(entries)

    def faults(self) -> list[str]:
        """Return a fault if an entry of a sample is not found by its key, or cannot be read."""
        searcher = self.searcher()
        hits = searcher.search(Query.all_query(), max(1, searcher.num_docs), count=False).hits
        addresses = [address for _, address in hits[:: max(1, len(hits) // SAMPLE)]]
        for address in addresses:
            searcher.doc(address)
        keys = [int(key or 0) for key in searcher.fast_field_values(KEY, addresses)]
        matches = count(searcher, _any_of({KEY: keys}))
        if len(hits) == searcher.num_docs and len(keys) == matches:
            return []
        return [f"{self._folder.name}: {matches} of {len(keys)} entries are found by their keys"]


def _stored(searcher: Searcher) -> list[LexicalEntry] | None:
    """Return all entries if they are few and stored."""
    size = searcher.num_docs
    if size > EXACT_UP_TO:
        return None
    hits = searcher.search(Query.all_query(), size, count=False).hits
    texts = [searcher.doc(address).get_first(ENTRY) for _, address in hits]
    values = [json.loads(bytes(text)) for text in texts if text is not None]
    entries = [LexicalEntry(FragmentKey(*key), Grain(grain), *rest) for key, grain, *rest in values]
    return entries if len(entries) == size else None


def best(searcher: Searcher, query: Query, limit: int) -> list[Hit]:
    """Return the best *limit* >= 1 hits by descending score, then key."""
    hits = searcher.search(query, min(limit + _BEYOND, max(1, searcher.num_docs)), count=False).hits
    keys = (int(key or 0) for key in searcher.fast_field_values(KEY, [address for _, address in hits]))
    # tantivy sums 32-bit floats in varying order, so entries with the same words differ in the last digit.
    ranked = [
        Hit(FragmentKey(key >> _SEQ_BITS, key & ((1 << _SEQ_BITS) - 1)), float(f"{score:.6g}"))
        for key, (score, _) in zip(keys, hits, strict=True)
    ]
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
    return Query.boolean_query([(Occur.Should, query) for query in sets]) if sets else Query.empty_query()
