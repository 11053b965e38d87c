"""
Cost and recall of vec0 tables, for the kinds of numbers that decision 28 compares:

    python tools/bench/measure_vec0.py FOLDER [--sizes 10000,50000,200000]

FOLDER holds Markdown files; windows of their lines are embedded by the static model until there are enough texts.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import apsw
import numpy as np
import sqlite_vec

from clawmem.adapters.models.local import StaticEmbedder
from clawmem.adapters.sqlite.database import PAGE_SIZE
from clawmem.adapters.sqlite.embeddings import CHUNK_SIZE, LARGEST, steps_of

QUESTIONS = 60
Encode = Callable[[Any], list[bytes]]


def _rounded(rows: Any) -> list[bytes]:
    steps = steps_of(rows.shape[1])
    return [row.tobytes() for row in np.clip(np.rint(rows * steps), -LARGEST, LARGEST).astype("i1")]


def _scaled(rows: Any) -> list[bytes]:
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return [row.tobytes() for row in np.rint(rows / largest * LARGEST).astype("i1")]


def _floats(rows: Any) -> list[bytes]:
    return [row.tobytes() for row in rows]


# Declaration of the column after its type, SQL of a value, and the bytes of vectors (n, dimensions).
KINDS: dict[str, tuple[str, str, str, Encode]] = {
    "float": ("float", "", "?", _floats),
    "int8, unit": ("int8", "", "vec_quantize_int8(?, 'unit')", _floats),
    "int8, rounded": ("int8", "", "vec_int8(?)", _rounded),
    "int8, rounded, partition key": ("int8", "", "vec_int8(?)", _rounded),
    "int8, scaled by row, cosine": ("int8", " distance_metric=cosine", "vec_int8(?)", _scaled),
}


def windows(folder: Path) -> Iterator[str]:
    """Iterate over windows of one to six lines of all files."""
    for file in sorted(folder.rglob("*.md")):
        lines = [line for line in file.read_text("utf-8", "replace").splitlines() if len(line) > 30]
        for size in (1, 2, 3, 4, 6):
            yield from (" ".join(lines[at : at + size])[:1500] for at in range(len(lines) - size + 1))


def measure(kind: str, rows: Any, questions: Any, file: Path) -> str:
    """Return the row of a table for vectors (n, dimensions) and questions (m, dimensions)."""
    column, option, value, encode = KINDS[kind]
    connection = apsw.Connection(str(file))
    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.pragma("page_size", PAGE_SIZE)
    dimensions = rows.shape[1]
    is_parted = kind.endswith("partition key")  # three partitions, of which one is the scope
    parts = ", part integer partition key" * is_parted
    connection.execute(
        f"create virtual table v using vec0(embedding {column}[{dimensions}]{option}{parts}, chunk_size={CHUNK_SIZE})"
    )
    connection.execute("create table third (id integer primary key)")
    began = process_time()
    with connection:
        connection.executemany(
            f"insert into v (rowid, embedding{', part' * is_parted}) values (?1, {value.replace('?', '?2')}{', ?1 % 3' * is_parted})",
            enumerate(encode(rows), start=1),
        )
    inserted = (process_time() - began) / len(rows) * 1e6
    with connection:
        connection.executemany("insert into third values (?)", [(n,) for n in range(1, len(rows) + 1, 3)])
    asked = encode(questions)

    def answers(limit: int, scope: str = "") -> tuple[list[list[int]], float]:
        found, spent = [], []
        for question in asked:
            sql = f"select rowid from v where embedding match {value} and k = {limit} {scope}"
            began = process_time()
            found.append([number - 1 for (number,) in connection.execute(sql, (question,))])
            spent.append(process_time() - began)
        return found, float(np.median(spent)) * 1000

    near, k_20 = answers(20)
    _, k_100 = answers(100)
    _, scoped = answers(20, "and part = 1" if is_parted else "and rowid in (select id from third)")
    connection.close()
    exact = np.argsort(-(questions @ rows.T), axis=1)[:, :10]
    ten = float(np.mean([len({*one[:10]} & {*best}) / 10 for one, best in zip(near, exact, strict=True)]))
    size = file.stat().st_size / len(rows)
    return f"| {len(rows)} | {kind} | {k_20:.1f} | {k_100:.1f} | {scoped:.1f} | {inserted:.0f} | {size:.0f} | {ten:.3f} |"


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", default="10000,50000,200000")
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    texts = list(dict.fromkeys(windows(chosen.folder)))
    random.Random(1).shuffle(texts)
    texts = texts[: max(sizes) + QUESTIONS]
    vectors = np.frombuffer(b"".join(StaticEmbedder().embed_documents(texts)), "<f4").reshape(len(texts), -1)
    questions, rest = vectors[:QUESTIONS], vectors[QUESTIONS:]
    print("| vectors | numbers | k 20, ms | k 100 | a third, k 20 | insert, µs | bytes | ten |")  # noqa: T201
    print("|--:|---|--:|--:|--:|--:|--:|--:|")  # noqa: T201
    for size in sizes:
        for kind in KINDS:
            with TemporaryDirectory() as folder:
                print(measure(kind, rest[:size], questions, Path(folder, "v.sqlite")), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
