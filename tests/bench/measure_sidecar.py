"""
How good and how fast the sidecar is on real text:

    python tests/bench/measure_sidecar.py --rows 100000 [--questions FILE.jsonl ...] [FOLDER ...]

Embeds every paragraph below the folders (the installed packages, when none is given), then its sentences and pairs of
them as far as rows are wanting, then mixtures of two vectors; says how many of each. Asks with the ``text`` of some
lines of the files and with paragraphs that are kept out of the index; compares with all rows.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # CPU time is what counts

import numpy as np
from numpy.typing import NDArray

from clawmem.adapters.models.static import StaticEmbedder
from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex
from clawmem.ports.records import FragmentKey, Scope, VectorEntry

Floats = NDArray[np.float32]

QUESTIONS = 100  # of each kind
DOCUMENT = 10  # fragments of one document
COLLECTIONS = 7
_BLANK_LINES, _SENTENCE_END = re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?;:])\s+")


def paragraphs(folders: list[Path]) -> Iterator[str]:
    """The paragraphs of all texts, and of the docstrings of all modules, each of a usual length."""
    for path in (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()):
        for text in _texts(path):
            for paragraph in _BLANK_LINES.split(text):
                flat = " ".join(paragraph.split())
                if 40 <= len(flat) <= 2000:
                    yield flat


def spans(texts: list[str]) -> Iterator[str]:
    """The sentences of texts that have several, and each two that follow each other."""
    for text in texts:
        sentences = [part for part in _SENTENCE_END.split(text) if len(part) >= 40]
        if len(sentences) > 1:
            yield from sentences
            yield from (f"{a} {b}" for a, b in pairwise(sentences))


def rows_and_questions(folders: list[Path], files: list[Path], rows: int) -> tuple[Floats, dict[str, Floats]]:
    """So many vectors, and what to ask, by kind."""
    dice = Random(1)
    texts = list(dict.fromkeys(paragraphs(folders)))
    dice.shuffle(texts)
    asked = {"paragraphs": texts[:QUESTIONS]}
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    if lines:
        asked["questions"] = [json.loads(line)["text"] for line in dice.sample(lines, QUESTIONS)]
    real = texts[QUESTIONS:][:rows]
    more = list(islice(dict.fromkeys(spans(texts[QUESTIONS:])), rows - len(real)))
    vectors = embedded(real + more)
    mixed = mixtures(vectors, rows - len(vectors))
    show(f"{len(real)} paragraphs, {len(more)} sentences and pairs, {len(mixed)} mixtures")
    return np.vstack([vectors, mixed]), {kind: embedded(some) for kind, some in asked.items()}


def embedded(texts: list[str]) -> Floats:
    """The vectors of the texts that have one: (n, 256)."""
    vectors = np.frombuffer(b"".join(StaticEmbedder().embed_documents(texts)), "<f4").reshape(len(texts), -1)
    return vectors[vectors.any(axis=1)]


def mixtures(vectors: Floats, count: int) -> Floats:
    """Directions between a vector and another one, nearer to the first."""
    dice = np.random.default_rng(1)
    first, second = vectors[dice.integers(len(vectors), size=(2, count))]
    share = dice.uniform(0.6, 0.95, (count, 1)).astype(np.float32)
    mixed = share * first + (1 - share) * second
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def fill(index: SidecarVectorIndex, vectors: Floats, batch: int) -> None:
    """Put everything in as an indexer does: a commit for each batch, and of each document what was there goes."""
    for first in range(0, len(vectors), batch):
        with index.committing():
            for document in range(first // DOCUMENT, (first + batch) // DOCUMENT):
                index.remove(document)
            index.put(
                VectorEntry(FragmentKey(*divmod(number, DOCUMENT)), row.tobytes(), collection_of(number))
                for number, row in enumerate(vectors[first : first + batch], first)
            )


def collection_of(number: int) -> str:
    """Every seventh document is of the same one."""
    return str(number // DOCUMENT % COLLECTIONS)


def measure(
    index: SidecarVectorIndex, vectors: Floats, questions: Floats, limit: int, scope: Scope
) -> tuple[float, float, float]:
    """Median and ninth decile of the CPU milliseconds of a search, and its recall."""
    names = np.array([collection_of(number) for number in range(len(vectors))])
    is_seen = (
        np.isin(names, list(scope.collections)) if scope.collections else np.ones(len(names), dtype=bool)
    )
    index.search(questions[0].tobytes(), limit, scope)
    times, found = [], 0
    for question in questions:
        began = process_time()
        hits = index.search(question.tobytes(), limit, scope)
        times.append(1000 * (process_time() - began))
        cosines = np.where(is_seen, vectors @ question, -2)
        last = np.partition(cosines, -limit)[-limit] - 1e-6  # an equal one is as good
        found += sum(cosines[DOCUMENT * hit.key.document_id + hit.key.seq] >= last for hit in hits)
    return float(np.median(times)), float(np.quantile(times, 0.9)), found / (limit * len(questions))


def report(index: SidecarVectorIndex, vectors: Floats, asked: dict[str, Floats]) -> None:
    """Every way of asking, a line each."""
    for scope in (Scope(), Scope(frozenset({"3"}))):
        for limit in (10, 50, 100):
            for kind, questions in asked.items():
                median, slow, recall = measure(index, vectors, questions, limit, scope)
                where = "one collection" if scope.collections else "everywhere"
                show(
                    f"{where}, limit {limit}, {kind}: {median:.1f} ms CPU, p90 {slow:.1f}, recall {recall:.4f}"
                )


def spent(action: Callable[[], None]) -> float:
    """CPU seconds."""
    began = process_time()
    action()
    return process_time() - began


def main() -> None:
    """Fill an index, ask it, merge it and ask again."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, default=[Path(sysconfig.get_path("purelib"))])
    parser.add_argument("--questions", nargs="*", type=Path, default=[])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=5000)
    arguments = parser.parse_args()
    vectors, asked = rows_and_questions(arguments.folders, arguments.questions, arguments.rows)
    with tempfile.TemporaryDirectory() as folder:
        index = SidecarVectorIndex(folder)
        built = spent(lambda: fill(index, vectors, arguments.batch))
        show(f"{index.count()} rows of {vectors.shape[1]} in {built:.1f} s CPU, {index.method}")
        report(index, vectors, asked)
        show(f"merged in {spent(index.optimize):.1f} s CPU")
        report(index, vectors, asked)


def _texts(path: Path) -> Iterator[str]:
    if path.suffix in (".md", ".rst", ".txt"):
        yield path.read_text("utf-8", "replace")
    if path.suffix == ".py":
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (SyntaxError, ValueError):  # a module of another Python, or an encoding of its own
            return
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        for node in ast.walk(tree):
            if isinstance(node, documented):
                yield ast.get_docstring(node) or ""


def show(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
