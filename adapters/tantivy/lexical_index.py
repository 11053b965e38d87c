"""
The lexical index in tantivy: one index for each granularity, their commits, and the translation of queries.

User input never reaches a query parser. tantivy finds the candidates. It stores lengths in 256 steps, counts deleted
entries, and gives a phrase the sum of the IDFs of its words, so the candidates are scored here, from their stored words.
"""

import json
import math
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from filelock import FileLock, Timeout
from tantivy import Document, FieldType, Index, IndexWriter, Occur, Query, SchemaBuilder, Searcher

from clawmem.ports.errors import (
    ClawmemError,
    IndexBusy,
    IndexDamaged,
    IndexUnavailable,
    InvalidInput,
    VaultReadOnly,
)
from clawmem.ports.indexes import K1, TITLE_WEIGHT, B, stems
from clawmem.ports.records import (
    EVERYTHING,
    FragmentKey,
    Grain,
    Hit,
    LexicalEntry,
    LexicalQuery,
    Marker,
    Scope,
    Term,
)

# Integer fields are signed: tantivy's Python binding makes a signed term of every number, and a deletion by
# such a term in an unsigned field silently deletes nothing.
WORDS = "words"
KEY = "key"
DOCUMENT = "document"
COLLECTION = "collection"
AUTHORED = "authored"
LENGTH = "length"  # in words

# tantivy's minimum for one thread. A commit of some hundred documents takes a few megabytes; a larger one is
# written in several segments, which are merged later. More threads would write more segments per commit.
HEAP_BYTES = 15_000_000

SAMPLE = 1000  # entries that `GrainIndex.faults` looks up

_SEQ_BITS = 20
_DIGITS = 9  # of a score; scores that are equal after rounding are ties
_TIME_DIGITS = 18  # precise to a ten-thousandth of a second, and within 64 bits
_BEYOND = 256  # candidates beyond the limit


SCHEMA = (
    SchemaBuilder()
    .add_text_field(WORDS, tokenizer_name="whitespace", index_option="position", stored=True)
    .add_integer_field(KEY, indexed=True, fast=True)
    .add_integer_field(DOCUMENT, indexed=True)
    .add_text_field(COLLECTION, tokenizer_name="raw", index_option="basic")
    .add_integer_field(AUTHORED, fast=True)
    .add_integer_field(LENGTH, fast=True)
    .build()
)


def open_index(folder: Path) -> Index:
    """
    Open the index in *folder*, created if it does not exist.

    Raises:
        ValueError: raised by tantivy if the files are no index with this schema.
    """
    index = Index(SCHEMA, str(folder))
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
        self._reloading = Lock()

    def searcher(self) -> Searcher:
        """Return a view of the last commit of any process; the view does not change."""
        # tantivy reads the list of files, then publishes the view: of two reloads at once the older may come last.
        with self._reloading:
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
        self, writer: IndexWriter, entries: Collection[LexicalEntry], removed: Collection[int], *, clear: bool
    ) -> bool:
        """
        Pass changes to *writer* in this order: clear, remove documents, add entries with different keys.

        The changes become visible with its commit. Return whether there are any.
        """
        replaced = [_packed(entry.key) for entry in entries if entry.key.document_id not in removed]
        doomed = Query.all_query() if clear else _any_of({DOCUMENT: list(removed), KEY: replaced})
        is_deleting = count(self.searcher(), doomed) > 0
        if is_deleting:
            writer.delete_documents_by_query(doomed)
        for entry in sorted(entries, key=lambda entry: entry.key):
            document, title, text = Document(), stems(entry.title), stems(entry.text)
            for part in [title] * TITLE_WEIGHT + [text]:  # no phrase matches across two values of a field
                document.add_text(WORDS, _stored(part))
            document.add_integer(LENGTH, len(title) + len(text))
            document.add_integer(KEY, _packed(entry.key))
            document.add_integer(DOCUMENT, entry.key.document_id)
            document.add_text(COLLECTION, entry.collection)
            document.add_integer(AUTHORED, time_number(entry.authored_at))
            writer.add_document(document)
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


def count(searcher: Searcher, query: Query) -> int:
    """Return the number of entries that match a query."""
    return int(searcher.search(query, 1).count)  # type: ignore[attr-defined]  # missing in its stubs


def _packed(key: FragmentKey) -> int:
    """Return ``document_id * 2^20 + seq``, which preserves the order of keys."""
    return (key.document_id << _SEQ_BITS) | key.seq


def _any_of(numbers: dict[str, list[int]]) -> Query:
    sets = [Query.term_set_query(SCHEMA, field, values) for field, values in numbers.items() if values]
    return Query.boolean_query([(Occur.Should, query) for query in sets]) if sets else Query.empty_query()


# -- queries ----------------------------------------------------------------------------------------------

# A prefix of more words than this says little about which entries are the best candidates.
WORDS_OF_A_PREFIX = 100

# Two different words with the same prefix in one entry count almost like one word twice, which BM25 dampens.
_FURTHER_WORDS = 0.2


class _Words(NamedTuple):
    """A term as it stands in the stored words of an entry, the query for it, and its rarity."""

    stored: str
    query: Query
    rarity: float


def read_term(searcher: Searcher, term: Term) -> _Words | None:
    """Return *term* for one view of one granularity; ``None`` if it has no word."""
    words = stems(term.text)
    if not words:
        return None
    prefix = term.prefix and len(words) == 1
    found = _phrase_query(words)
    if prefix:
        endings = searcher.terms_with_prefix(WORDS, words[0], limit=WORDS_OF_A_PREFIX + 1)
        found = Query.const_score_query(Query.regex_query(SCHEMA, WORDS, f"{words[0]}.*"), 1.0)
        if len(endings) <= WORDS_OF_A_PREFIX:
            boosted = [
                Query.boost_query(_phrase_query([word]), 1 / _rarity(searcher, number))
                for word, number in endings
            ]
            found = Query.disjunction_max_query(boosted, _FURTHER_WORDS) if boosted else Query.empty_query()
    rarity = _rarity(searcher, count(searcher, found))
    stored = _stored(words)[1 : -2 if prefix else -1]
    return _Words(stored, Query.boost_query(found, rarity) if prefix else found, rarity)


def _stored(words: Sequence[str]) -> str:
    """Return *words* with two spaces around each, so that it can be counted as a word with one space around it."""
    return "".join(f"  {word}" for word in words) + "  "


def _rarity(searcher: Searcher, holding: int) -> float:
    entries = searcher.num_docs
    holding = min(holding, entries)
    return math.log1p((entries - holding + 0.5) / (holding + 0.5))


def ranked(searcher: Searcher, query: LexicalQuery, limit: int, scope: Scope) -> list[Hit]:
    """Return the best *limit* >= 1 hits for all terms or any of them within *scope*, by descending score, then key."""
    terms = [words for term in dict.fromkeys(query.terms) if (words := read_term(searcher, term))]
    if not terms:
        return []
    occur = Occur.Must if query.every else Occur.Should
    question = [(Occur.Must, Query.boolean_query([(occur, term.query) for term in terms]))]
    filters, moment = [], partial(Query.range_query, SCHEMA, AUTHORED, FieldType.Integer)
    if scope.collections:
        filters.append(Query.term_set_query(SCHEMA, COLLECTION, sorted(scope.collections)))
    if scope.authored_from is not None or scope.authored_until is not None:
        times = (scope.authored_from, scope.authored_until, scope.recorded_from, scope.recorded_until)
        since, until, first, after = (t and time_number(t) for t in times)
        # tantivy requires include_upper for an open end
        days = [(Occur.Should, moment(since, until, include_upper=until is None))]
        days += [(Occur.Should, moment(first, first))] if first else []
        days += [(Occur.MustNot, moment(after, after))] if after else []
        filters.append(Query.boolean_query(days))
    if scope.documents is not None:
        filters.append(Query.term_set_query(SCHEMA, DOCUMENT, sorted(scope.documents)))
    question += [(Occur.Must, Query.const_score_query(condition, 0.0)) for condition in filters]
    most = min(limit + _BEYOND, max(1, searcher.num_docs))
    addresses = [a for _, a in searcher.search(Query.boolean_query(question), most, count=False).hits]
    lengths = searcher.aggregate(Query.all_query(), {"average": {"avg": {"field": LENGTH}}})
    average = lengths["average"]["value"] or 1.0
    hits = []
    keys, counts = (searcher.fast_field_values(name, addresses) for name in (KEY, LENGTH))
    for key, length, address in zip(keys, counts, addresses, strict=True):
        text = "\n".join(searcher.doc(address)[WORDS])
        norm = K1 * (1 - B + B * int(length or 0) / average)
        score = 0.0
        for term in terms:
            number = text.count(term.stored)
            score += term.rarity * number * (K1 + 1) / (number + norm)
        place = FragmentKey(int(key or 0) >> _SEQ_BITS, int(key or 0) & ((1 << _SEQ_BITS) - 1))
        hits.append(Hit(place, round(score, _DIGITS)))
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def _phrase_query(words: list[str]) -> Query:
    if len(words) == 1:
        return Query.term_query(SCHEMA, WORDS, words[0], index_option="freq")
    return Query.phrase_query(SCHEMA, WORDS, list(words))


# -- the index --------------------------------------------------------------------------------------------

PATIENCE_S = 10.0
_MARKER = "marker.json"
_NEXT_MARKER = "marker.json.next"


@dataclass(slots=True)
class Changes:
    """The changes of one commit, to be applied in this order: clear, remove documents, add entries."""

    clear: bool = False
    removed: set[int] = field(default_factory=set)
    entries: dict[int, dict[tuple[Grain, int], LexicalEntry]] = field(default_factory=dict)  # by document


class TantivyLexicalIndex:
    """
    ``LexicalIndex`` in tantivy, with a separate index and folder for each granularity.

    The changes of a block are collected and passed to tantivy at its end, so the write lock is held only for
    the commit. Each search uses a view of the last commit, so several threads can share one handle.

    Each granularity commits separately, so their common marker is a file that is replaced atomically after
    the last of these commits: if the process dies in between, some granularities are ahead of the marker and
    none is behind, and changes after the marker can safely be applied again. The marker file also contains
    the commit number of each granularity, which reveals one that was restored or lost since.
    """

    method = "tantivy"

    def __init__(self, folder: str, *, read_only: bool = False, patience_s: float = PATIENCE_S) -> None:
        """
        Open the index in *folder*; missing parts are created unless *read_only*.

        Args:
            patience_s: How long a commit waits for the end of another one, in seconds.

        Raises:
            IndexDamaged: the index is damaged or has another layout, or is missing and *read_only*.
            IndexUnavailable: the operating system refuses access. Reading also needs permission to lock
                files.
        """
        self._folder = Path(folder)
        self._read_only = read_only
        self._lock = FileLock(self._folder / "write.lock", timeout=patience_s)
        self._changes: Changes | None = None
        with translated(folder):
            if read_only and not self._folder.exists():
                raise IndexDamaged(folder, "it is missing")
            self._grains = {
                grain: GrainIndex(self._folder / grain, may_create=not read_only) for grain in Grain
            }

    # -- writing ------------------------------------------------------------------------------------

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._read_only:
            raise VaultReadOnly(str(self._folder))
        if self._changes is not None:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        self._changes = Changes()
        try:
            yield
            changes = self._changes
        finally:
            self._changes = None
        with self._locked():
            self._commit(changes, marker)

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._change():
            assert self._changes is not None
            for entry in entries:
                document = self._changes.entries.setdefault(entry.key.document_id, {})
                document[entry.grain, entry.key.seq] = entry

    def remove(self, document_id: int) -> None:
        with self._change():
            assert self._changes is not None
            self._changes.removed.add(document_id)
            self._changes.entries.pop(document_id, None)

    def clear(self) -> None:
        with self._change():
            self._changes = Changes(clear=True)

    def optimize(self) -> None:
        """Run due merges, and delete files left by a killed process."""
        if self._read_only:
            raise VaultReadOnly(str(self._folder))
        with self._locked():
            for index in self._grains.values():
                with index.writing() as writer:
                    writer.commit()

    # -- reading ------------------------------------------------------------------------------------

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        if limit < 1:
            return []
        with translated(str(self._folder)):
            return ranked(self._grains[grain].searcher(), query, limit, scope)

    def count(self, grain: Grain) -> int:
        with translated(str(self._folder)):
            return self._grains[grain].searcher().num_docs

    def holding(self, term: Term, grain: Grain) -> int:
        with translated(str(self._folder)):
            searcher = self._grains[grain].searcher()
            words = read_term(searcher, term)
            return count(searcher, words.query) if words else 0

    def marker(self) -> Marker | None:
        with translated(str(self._folder)):
            marker, commits = self._stored_marker()
            return None if self._older_than(commits) else marker

    def faults(self) -> list[str]:
        try:
            with translated(str(self._folder)):
                _, commits = self._stored_marker()
                older = [
                    f"the grain {g.value!r} is older than the index's marker"
                    for g in self._older_than(commits)
                ]
                return older or [fault for index in self._grains.values() for fault in index.faults()]
        except IndexDamaged as error:
            return [error.reason]

    # -- helpers ----------------------------------------------------------------------------------------

    def _change(self) -> AbstractContextManager[None]:
        return self.committing() if self._changes is None else nullcontext()

    def _commit(self, changes: Changes, marker: Marker | None) -> None:
        entries: dict[Grain, list[LexicalEntry]] = {grain: [] for grain in Grain}
        for document in changes.entries.values():
            for (grain, _), entry in document.items():
                entries[grain].append(entry)
        with ExitStack() as stack:
            staged = []
            for grain, index in self._grains.items():
                if changes.clear or changes.removed or entries[grain]:
                    writer = stack.enter_context(index.writing())
                    if index.stage(writer, entries[grain], changes.removed, clear=changes.clear):
                        staged.append(writer)
            old, _ = self._stored_marker()
            goes_back = old and marker and (old.vault != marker.vault or old.seq > marker.seq)
            if changes.clear or goes_back:
                # between the commits of two granularities the marker would claim too much
                (self._folder / _MARKER).unlink(missing_ok=True)
            for writer in staged:
                writer.commit()
        if marker is not None:
            commits = {grain: index.commits() for grain, index in self._grains.items()}
            with (self._folder / _NEXT_MARKER).open("w", encoding="utf-8") as file:
                json.dump({"marker": marker._asdict(), "commits": commits}, file)
                file.flush()
                os.fsync(file.fileno())
            (self._folder / _NEXT_MARKER).replace(self._folder / _MARKER)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the write lock of the index. Raises `IndexBusy` if another commit does not end in time."""
        with translated(str(self._folder)):
            try:
                with self._lock:
                    yield
            except Timeout as error:
                raise IndexBusy(str(self._folder)) from error

    def _stored_marker(self) -> tuple[Marker | None, dict[Grain, int]]:
        """Return the marker, and the commit number of each granularity when it was stored."""
        try:
            content = json.loads((self._folder / _MARKER).read_bytes())
            commits = {Grain(name): int(number) for name, number in content["commits"].items()}
            return Marker(**content["marker"]), commits
        except FileNotFoundError:
            return None, {}
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise IndexDamaged(str(self._folder), "its marker makes no sense") from error

    def _older_than(self, commits: dict[Grain, int]) -> list[Grain]:
        """Return granularities with fewer commits than that, because they were restored or rebuilt."""
        return [grain for grain, index in self._grains.items() if index.commits() < commits.get(grain, 0)]


# An error of the operating system may be temporary, except "not found" (code 2).
_REFUSED = re.compile(r'Os \{ code: (?!2,)\d{1,9}.{0,200}?message: "(?P<reason>[^"]+)"')


@contextmanager
def translated(folder: str) -> Iterator[None]:
    """Raise tantivy's errors inside the block as errors of the ports, for the index in *folder*."""
    try:
        yield
    except ClawmemError:
        raise
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "INVALID_INPUT", "The text holds half a character. Give it as valid Unicode."
        ) from error
    except (JSONDecodeError, UnicodeDecodeError, FileNotFoundError, NotADirectoryError) as error:
        raise IndexDamaged(folder, "one of its files is missing or damaged") from error
    except OSError as error:
        raise IndexUnavailable(folder, error.strerror or str(error)) from error
    except BaseException as error:
        # tantivy raises ValueError for everything, and an exception that does not derive from Exception for a panic.
        if not isinstance(error, ValueError) and type(error).__name__ != "PanicException":
            raise
        if refused := _REFUSED.search(str(error)):
            raise IndexUnavailable(folder, refused["reason"]) from error
        first_line = str(error).partition("\n")[0]
        raise IndexDamaged(folder, f"its files are damaged ({first_line[:200]})") from error
