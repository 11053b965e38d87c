"""
What a question costs as a vault grows, engine by engine in one run.

``OPENBLAS_NUM_THREADS=1 BENCH_SIZES=10000,100000 pytest tools/bench/test_sizes.py -m bench -s``, and if wanted:
``BENCH_DATA``, the judged collections that the text is made from (else the example notes); ``BENCH_RESULTS``, a
file to which every figure is added as a line of JSON; ``BENCH_CACHE``, a folder that keeps the vectors;
``BENCH_ENGINES``, if not all (``sqlite,tantivy,lancedb``).
Times are CPU milliseconds of the whole process.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from statistics import median, quantiles
from time import process_time, sleep
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from corpus import entries, generate, questions
from corpus_source import Source

from clawmem.adapters.models.local import StaticEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.ports.indexes import Backend, DerivedIndex, IndexPlace, LexicalIndex, VectorIndex
from clawmem.ports.records import FragmentKey, Grain, Hit, LexicalQuery, VectorEntry

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

pytestmark = pytest.mark.bench

Question = TypeVar("Question")
Ask = Callable[[Question], list[Hit]]

SIZES = [int(size) for size in os.environ.get("BENCH_SIZES", "10000").split(",")]
N = 100  # questions a figure
LIMIT = 10
BLOCK = 20_000  # entries a commit, those of several hundred documents
DIMENSIONS = 256

LEXICAL_MOST = {"sqlite": 300_000, "tantivy": 10_000_000, "lancedb": 300_000}
VECTORS_MOST = {"lancedb": 300_000}  # `measure_vec0.py` measures those of the vault

# CPU ms at the median, and recall@10, by leg, engine and fragments.
TARGETS = {
    ("keyword", "tantivy", 1_000_000): (5, None),
    ("keyword, frequent words", "sqlite", 100_000): (12, None),
    ("hybrid", "lancedb", 300_000): (30, 0.95),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """What one engine took for one kind of question at one size."""

    leg: str
    engine: str
    fragments: int
    n: int
    median: float
    p95: float
    recall: float | None
    target: float | None

    def show(self) -> None:
        """Print it, and keep it where the environment says."""
        recall = "" if self.recall is None else f", recall@{LIMIT} {self.recall:.3f}"
        say(
            f"{self.leg}, {self.engine}, {self.fragments}: median {self.median:.2f}, p95 {self.p95:.2f} CPU ms"
            f"{recall} (n = {self.n})"
        )
        if path := os.environ.get("BENCH_RESULTS"):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(self)) + "\n")

    def check(self) -> None:
        """Fail where a published target is missed."""
        limit_ms, least_recall = TARGETS.get((self.leg, self.engine, self.fragments), (None, None))
        assert limit_ms is None or self.median <= limit_ms
        assert least_recall is None or (self.recall or 0) >= least_recall


@pytest.fixture(scope="module")
def source() -> Source:
    """What the text is made from."""
    folder = os.environ.get("BENCH_DATA")
    return Source(Path(folder) if folder else None)


@pytest.fixture(scope="module")
def vectors(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    """Real embeddings of generated passages, as many as the largest size: (n, 256) float32."""
    import numpy as np

    cache = Path(os.environ.get("BENCH_CACHE") or tmp_path_factory.mktemp("vectors"))
    for path in cache.glob(f"passages-{signature(source)}-*.npy"):
        if len(kept := np.load(path, mmap_mode="r")) >= max(SIZES):
            return kept
    path = cache / f"passages-{signature(source)}-{max(SIZES)}.npy"
    embed_passages(source, path, max(SIZES))
    return np.load(path, mmap_mode="r")


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> int:
    return request.param


def test_keywords(size: int, source: Source, tmp_path: Path) -> None:
    """Questions of 3 to 8 content words, and the same with half of the words very frequent ones."""
    engines = {name: open_lexical(name, tmp_path) for name in present(LEXICAL_MOST, size)}
    told = filled(engines, entries(source, Grain.LINE, size), size)
    asks = {name: keyword_ask(index) for name, index in engines.items()}

    usual, frequent = questions(told, N), questions(told, N, common=source.common)
    figures = [
        *figures_of("keyword", size, interleaved(asks, usual)[0]),
        *figures_of("keyword, frequent words", size, interleaved(asks, frequent)[0]),
    ]
    conclude(figures)


def test_vectors(size: int, source: Source, vectors: Vectors, tmp_path: Path) -> None:
    """The ten nearest of real embeddings, compared with a scan of all of them."""
    engines = {name: open_vectors(name, tmp_path) for name in present(VECTORS_MOST, size)}
    filled(engines, vector_entries(vectors[:size]), size)
    asked = [StaticEmbedder().embed_query(text) for text in texts_of(some_questions(source))]
    asks = {name: vector_ask(index) for name, index in engines.items()}

    times, answers = interleaved({**asks, "exact scan": scan(vectors[:size])}, asked)
    figures = figures_of("vectors", size, times, recalls(answers))
    conclude(figures)


def test_hybrid(size: int, source: Source, vectors: Vectors, tmp_path: Path) -> None:
    """Both legs of LanceDB, as many lines as vectors, one after the other."""
    if "lancedb" not in present(LEXICAL_MOST, size):
        pytest.skip("LanceDB is not wanted, not installed, or not measured at this size")
    lexical, near = open_lexical("lancedb", tmp_path / "words"), open_vectors("lancedb", tmp_path / "vectors")
    told = filled({"lancedb": lexical}, entries(source, Grain.LINE, size), size)
    filled({"lancedb": near}, vector_entries(vectors[:size]), size)
    asked = questions(told, N)
    embedded = [StaticEmbedder().embed_query(text) for text in texts_of(asked)]

    by_word, _ = interleaved({"lancedb": keyword_ask(lexical)}, asked)
    by_vector, answers = interleaved(
        {"lancedb": vector_ask(near), "exact scan": scan(vectors[:size])}, embedded
    )
    both = [sum(pair) for pair in zip(by_word["lancedb"], by_vector["lancedb"], strict=True)]
    figures = figures_of("hybrid", size, {"lancedb": both}, recalls(answers))
    conclude(figures)


# -- engines --------------------------------------------------------------------------------------------


def present(most: Mapping[str, int], size: int) -> list[str]:
    """The engines that are wanted, installed and measured at this size."""
    wanted = os.environ.get("BENCH_ENGINES", "sqlite,tantivy,lancedb").split(",")
    package = {"sqlite": "apsw"}
    fit = [name for name in wanted if size <= most.get(name, 0)]
    return [name for name in fit if find_spec(package.get(name, name))]


def open_lexical(engine: str, folder: Path) -> LexicalIndex:
    """A new lexical index of an engine, in a folder of its own."""
    if engine == "sqlite":
        return open_vault(str(folder / "lexical.sqlite")).lexical
    opened = backend(engine).lexical
    assert opened is not None
    return opened(place(engine, folder))


def open_vectors(engine: str, folder: Path) -> VectorIndex:
    """A new vector index of an engine, in a folder of its own."""
    opened = backend(engine).vectors
    assert opened is not None
    return opened(place(engine, folder))


def backend(engine: str) -> Backend:
    """What the engine's entry point names."""
    module = import_module(f"clawmem.adapters.{engine}.backend")
    return next(value for value in vars(module).values() if isinstance(value, Backend))


def place(engine: str, folder: Path) -> IndexPlace:
    return IndexPlace(str(folder / engine), f"bench-{engine}")


def filled(engines: Mapping[str, DerivedIndex], stream: Iterable[Any], size: int) -> list[Any]:
    """
    Give the same entries to every engine and optimise it; prints how many a CPU second.

    Returns about a thousand of them, evenly spread.
    """
    sample: list[Any] = []
    spent: dict[str, float] = defaultdict(float)
    for block in blocks(stream):
        sample += block[:: max(1, size // 1000)]
        for name, index in engines.items():
            began = process_time()
            with index.committing():
                index.put(block)
            spent[name] += process_time() - began
    for name, index in engines.items():
        began = process_time()
        index.optimize()
        say(
            f"filling {name} {size / spent[name]:.0f} 1/CPU s, optimise {process_time() - began:.1f} CPU s (n = {size})"
        )
    return sample


def blocks(stream: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(stream)
    while block := list(islice(rest, BLOCK)):
        yield block


def keyword_ask(index: LexicalIndex) -> Ask[LexicalQuery]:
    return lambda question: index.search(question, Grain.LINE, LIMIT)


def vector_ask(index: VectorIndex) -> Ask[bytes]:
    return lambda question: index.search(question, LIMIT)


# -- vectors --------------------------------------------------------------------------------------------


def signature(source: Source) -> str:
    """Tells vectors of another model, source or generator apart."""
    texts = chain.from_iterable(note.passages() for note in islice(generate(source), 100))
    return sha256("".join([StaticEmbedder().fingerprint, *texts]).encode()).hexdigest()[:12]


def embed_passages(source: Source, path: Path, count: int) -> None:
    """Write the vectors of the first *count* passages that have one."""
    import numpy as np

    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    rows = np.lib.format.open_memmap(draft, "w+", dtype=np.float32, shape=(count, DIMENSIONS))
    began, done = process_time(), 0
    for block in passage_vectors(source):
        block = block[: count - done]
        rows[done : done + len(block)] = block
        done += len(block)
        if done == count:
            break
    rows.flush()
    draft.rename(path)
    say(f"embedded passages {count / (process_time() - began):.0f} 1/s (n = {count})")


def passage_vectors(source: Source) -> Iterator[Vectors]:
    """Vectors of unit length, a thousand at a time: (m, 256)."""
    import numpy as np

    embedder = StaticEmbedder()
    texts = chain.from_iterable(note.passages() for note in generate(source))
    while True:
        made = np.frombuffer(b"".join(embedder.embed_documents(list(islice(texts, 1000)))), dtype="<f4")
        rows = made.reshape(-1, DIMENSIONS)
        yield rows[rows.any(axis=1)]  # a text without a known token has no direction


def vector_entries(rows: Vectors) -> Iterator[VectorEntry]:
    """Eight fragments a document, 400 documents a collection in turn, so that a scope would have something to do."""
    for i, row in enumerate(rows):
        yield VectorEntry(key_of(i), row.tobytes(), f"notes-{i // 3200 % 12:02d}", "2026-01-01T00:00:00.000Z")


def key_of(row: int) -> FragmentKey:
    return FragmentKey(row // 8 + 1, row % 8 + 1)


def scan(rows: Vectors) -> Ask[bytes]:
    """All cosines in one product: the floor for anything exact, and what the others are held against."""
    import numpy as np

    def nearest(question: bytes) -> list[Hit]:
        cosines = rows @ np.frombuffer(question, dtype="<f4")
        best = np.argpartition(-cosines, LIMIT)[:LIMIT]
        return [Hit(key_of(int(i)), float(cosines[i])) for i in best[np.argsort(-cosines[best])]]

    return nearest


def some_questions(source: Source) -> list[LexicalQuery]:
    return questions(list(entries(source, Grain.LINE, 5000)), N)


def texts_of(asked: Iterable[LexicalQuery]) -> list[str]:
    """The same questions as a person would type them."""
    return [" ".join(term.text for term in question.terms) for question in asked]


# -- figures --------------------------------------------------------------------------------------------


def interleaved(
    asks: Mapping[str, Ask[Question]], asked: Sequence[Question]
) -> tuple[dict[str, list[float]], dict[str, list[list[Hit]]]]:
    """CPU ms and answers by engine: each question to every engine in turn, so that all meet the same machine."""
    for ask in asks.values():
        for question in asked[:5]:
            ask(question)
    times: dict[str, list[float]] = defaultdict(list)
    answers: dict[str, list[list[Hit]]] = defaultdict(list)
    for question in asked:
        for name, ask in asks.items():
            began = process_time()
            answers[name].append(ask(question))
            times[name].append((process_time() - began) * 1000)
            sleep(0.005)  # what an engine's threads still do is not the next one's
    return times, answers


def recalls(answers: Mapping[str, list[list[Hit]]]) -> dict[str, float]:
    """Recall@10 by engine: the share of answers that are no further away than the tenth of the scan."""
    exact = answers["exact scan"]
    return {
        name: sum(
            h.score >= true[-1].score - 1e-5 for hits, true in zip(mine, exact, strict=True) for h in hits
        )
        / sum(map(len, exact))
        for name, mine in answers.items()
    }


def figures_of(
    leg: str, size: int, times: Mapping[str, list[float]], recall: Mapping[str, float] | None = None
) -> list[Figure]:
    made = []
    for engine, spent in times.items():
        target, _ = TARGETS.get((leg, engine, size), (None, None))
        found = (recall or {}).get(engine)
        made.append(
            Figure(leg, engine, size, len(spent), median(spent), quantiles(spent, n=20)[-1], found, target)
        )
    return made


def conclude(figures: Iterable[Figure]) -> None:
    """Show all of them before the first one fails."""
    figures = list(figures)
    for figure in figures:
        figure.show()
    for figure in figures:
        figure.check()


def say(line: str) -> None:
    """Print a figure; with ``-s`` it is seen."""
    sys.stdout.write(f"\n{line}\n")
