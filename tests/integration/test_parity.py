"""Whichever backend keeps the indexes, the answers are the same: by words and by vectors."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import pytest
from wired import embed_pending, update_collection

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.models.local import StaticEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.bootstrap.lazy import backend_named
from clawmem.app.services.indexing.external import ExternalIndexes
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.replication import Engines, Indexer
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.indexes import IndexPlace, VectorIndex, VectorSearch
from clawmem.ports.records import Grain, Hit, Vector, VectorEntry
from clawmem.ports.vault import Vault

NOTES = Path(__file__).parents[2] / "examples" / "notes"
BACKENDS = ("sqlite", "tantivy", "lancedb")
OTHERS = BACKENDS[1:]
EVERY = 100_000  # more than the example notes have entries

TOP = 10
DEEP = 500  # so that everything which ties with the tenth best is seen
KEYWORD = {"tantivy": 0.999, "lancedb": 0.9}  # LanceDB ranks by its own BM25
EXACT, APPROXIMATE = 0.98, 0.95  # against vectors that are rounded to int8
KEYWORD_TIE = {"tantivy": 1e-6, "lancedb": 0.005}  # scores that are this near to each other are equal
VECTOR_TIE = 1e-6

# Asked as people ask, and three times as they look for a name.
QUESTIONS = """
where do we keep login sessions; why did we put sessions into Redis at first
how long is a stand held while somebody fills in the form; what was the first length of the slot hold
what does a workshop with 300 bookings a month pay; why did we turn down Kubernetes; ERR_QUEUE_FULL
how many booking confirmations were lost in the queue incident
why were copied sessions never found after the backfill; who was charged twice and why; what was fixed in v2.3.1
who is on call on Saturday morning; what happened when the clocks went forward; who sat outside with a croissant
when was everyone thrown out because Redis restarted; which decisions were overturned later this year
why did the magic link say it was used already; what did Haruka not want to ship with the launch; ふりがなの欄
how do we translate no-show into Chinese; 消息队列为什么改用 Postgres; who designed ticket machines before joining
who looks after the database and does not answer on Sundays; how many no-shows were there in July
do text message reminders reduce no-shows; which check-in wins when two tablets disagree
how do we cancel an event in a calendar feed; src/billing/retry.py; restore drill
"""
# What people type besides questions, over the same notes: names, identifiers and their beginnings, phrases.
LOOKUPS = """
Haruka Mori; Haruka; Priya; Nagoya; Redis; Postgres; Kubernetes; Stripe; Grafana; croissant
ERR_QUEUE_FULL; ERR_QUEUE; v2.3.1; v2.3; auth_session; auth_; seen_at; src/billing/retry.py; retry.py; src/bill
2026-04; 2026-07-31; slot_hold; hold_expires; iCal; no-show; no-sho; check-in; offline; back-fill; resto
pric; sessi; confirm; reminders; payments; translat; workshops; on-call; magic link; croiss
slot hold length; restore drill; queue incident; login sessions; text message reminders; message queue; ふりがな; 消息队列
where are sessions stored; how are invoices retried; what do tickets cost; who is on call
which tablet wins; why no Kubernetes; what was released in June; how long are stands held; when did Redis restart
who designs the forms; what did we learn from the outage
"""


def asked_in(block: str) -> list[str]:
    """Each of what is asked in *block*, once."""
    texts = (text.strip() for line in block.splitlines() for text in line.split(";"))
    return list(dict.fromkeys(filter(None, texts)))


@dataclass(frozen=True)
class Judged:
    """The example notes in vaults that differ in their backend alone: documents have the same ids in each."""

    embedder: StaticEmbedder
    vaults: Mapping[str, Vault]

    @property
    def vectors(self) -> list[VectorEntry]:
        vault = self.vaults["sqlite"]
        documents = sorted(document.id for document in vault.documents.latest())
        return [entry for number in documents for entry in vault.embeddings.of_document(number)]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    place, embedder = tmp_path_factory.mktemp("parity"), StaticEmbedder()
    first = opened(place / "sqlite.sqlite").vault
    update_collection(first, DiskFiles(), ManualClock(), parse_front_matter)(Folder("notes", str(NOTES)))
    embed_pending(first, embedder)()
    first.close()
    for backend in OTHERS:
        shutil.copy(place / "sqlite.sqlite", place / f"{backend}.sqlite")
    indexes = {backend: opened(place / f"{backend}.sqlite") for backend in BACKENDS}
    for backend, index in indexes.items():
        index.move(backend)
    vaults = {backend: index.vault for backend, index in indexes.items()}
    yield Judged(embedder, vaults)
    for vault in vaults.values():
        vault.close()


def opened(path: Path) -> ExternalIndexes:
    """The indexes of the vault at *path*, as the command line opens it."""
    records = open_vault(str(path))
    indexer = Indexer(records, ManualClock(), "tests")
    return ExternalIndexes(records, Engines(backend_named, f"{path}.indexes"), indexer)


def agreement(found: Sequence[Hit], truth: Sequence[Hit], tie: float) -> float:
    """The share of *truth*'s best ten that was found; what scores there as high as the tenth is one of them."""
    least = truth[:TOP][-1].score
    as_good = {hit.key for hit in truth if hit.score >= least - abs(least) * tie}
    return sum(hit.key in as_good for hit in found[:TOP]) / min(TOP, len(truth))


class TestWords:
    @pytest.mark.parametrize("backend", OTHERS)
    def test_at_every_grain(self, judged: Judged, backend: str) -> None:
        """Most of the best ten of a question's words are those of FTS5, but for what another stemmer or rounding moves."""
        own, other = (judged.vaults[name].lexical for name in ("sqlite", backend))
        grains = [grain for grain in Grain if own.count(grain)]

        shares = {grain: list(keyword_agreements(judged, backend, grain)) for grain in grains}

        assert other.method == backend
        assert {Grain.LINE, Grain.PASSAGE, Grain.DOCUMENT} <= shares.keys()
        assert {grain: other.count(grain) for grain in grains} == {
            grain: own.count(grain) for grain in grains
        }
        least = KEYWORD[backend]
        assert {grain: fmean(rows) for grain, rows in shares.items() if fmean(rows) < least} == {}

    @pytest.mark.parametrize("backend", OTHERS)
    def test_the_same_matches(self, judged: Judged, backend: str) -> None:
        """Short lookups and questions match the same entries as in the vault's own index, prefixes included."""
        own, other = (judged.vaults[name].lexical for name in ("sqlite", backend))
        queries = [query for text in asked_in(LOOKUPS) for query in query_forms(text)[1:3] if query]

        matches = {
            (asked, grain): {hit.key for hit in own.search(asked, grain, EVERY)}
            for asked in queries
            for grain in Grain
        }

        assert sum(map(bool, matches.values())) >= 200  # or there would be nothing to compare
        for (asked, grain), keys in matches.items():
            assert {hit.key for hit in other.search(asked, grain, EVERY)} == keys, (asked, grain)


def keyword_agreements(judged: Judged, backend: str, grain: Grain) -> Iterator[float]:
    """How far a backend agrees with FTS5, question by question."""
    own, other = (judged.vaults[name].lexical for name in ("sqlite", backend))
    for text in asked_in(QUESTIONS):
        asked = query_forms(text).relaxed
        if truth := own.search(asked, grain, DEEP):
            yield agreement(other.search(asked, grain, TOP), truth, KEYWORD_TIE[backend])


Make = Callable[[Judged, Path], AbstractContextManager[VectorSearch]]


def by_sqlite(judged: Judged, place: Path) -> AbstractContextManager[VectorSearch]:
    return nullcontext(judged.vaults["sqlite"].vectors)


def by_lancedb(judged: Judged, place: Path) -> AbstractContextManager[VectorSearch]:
    from clawmem.adapters.lancedb.vector_index import LanceVectorIndex

    return nullcontext(filled(LanceVectorIndex(IndexPlace(str(place), "vectors")), judged))


def by_partitions(judged: Judged, place: Path) -> AbstractContextManager[VectorSearch]:
    """Of partitions of some sixty vectors the nearest half, three at least."""
    from clawmem.adapters.lancedb.vector_index import LanceVectorIndex

    class Partitioned(LanceVectorIndex):
        """Vectors in an inverted file, whatever their number."""

        exact_below, partition_size, fewest_probes = 0, 64, 3

    return nullcontext(filled(Partitioned(IndexPlace(str(place), "vectors")), judged))


def filled(index: VectorIndex, judged: Judged) -> VectorIndex:
    index.put(judged.vectors)
    index.optimize()
    return index


class TestVectors:
    @pytest.mark.parametrize("make", [by_sqlite, by_lancedb])
    def test_exact(self, judged: Judged, tmp_path: Path, make: Make) -> None:
        """Where every vector is compared the best ten are those of the records."""
        with make(judged, tmp_path) as index:
            assert vector_agreement(judged, index) >= EXACT

    def test_approximate(self, judged: Judged, tmp_path: Path) -> None:
        """Where most vectors are passed over nearly all of the best ten are found all the same."""
        with by_partitions(judged, tmp_path) as index:
            assert vector_agreement(judged, index) >= APPROXIMATE


def vector_agreement(judged: Judged, index: VectorSearch) -> float:
    """How far an index agrees with comparing every vector of the records, on average."""
    assert index.count() == len(judged.vectors)
    asked: list[Vector] = [judged.embedder.embed_query(text) for text in asked_in(QUESTIONS)]
    records = judged.vaults["sqlite"].embeddings
    shares = [
        agreement(index.search(vector, TOP), records.search(vector, DEEP), VECTOR_TIE)
        for vector in asked
        if any(vector)
    ]
    return fmean(shares)
