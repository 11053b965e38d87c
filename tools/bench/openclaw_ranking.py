"""
Ranking of OpenClaw's own memory against that of clawmem, on judged collections:

    python tools/bench/openclaw_ranking.py FOLDER [--work FOLDER] [--embedder static]

Prints a table for each way to ask for documents. ``openclaw`` are its chunks, six results and its minimum of .35;
``no minimum`` is the same order without a minimum and with as many results as the others have.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from judged import Setting, _parts, collections_in, each, settings_for, settings_of, vault_of

from clawmem.app.bench.retrieval import interval, mean, measure
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.retrieval.pipelines import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.openclaw import LEAST_SCORE, MOST_RESULTS, chunk_fragments

SHOWN = ("hit@1", "hit@5", "recall@5", "ndcg@10")


@contextmanager
def chunked_vault(name: str, folder: Path, embedder: str, work: Path) -> Iterator[Services]:
    """The collection in chunks of OpenClaw."""
    path = work / f"{name}.{embedder}.chunks.sqlite"
    made = path.exists()
    with open_services(settings_for(path, embedder)) as services:
        if not made:
            for part in _parts(folder):
                services.update(replace(part, split=chunk_fragments))
            services.embed()
        yield services


def measured(
    setting: Setting,
    label: str,
    pipeline: Pipeline,
    now_ms: int,
    asked: Callable[[RetrievalRequest], RetrievalRequest],
) -> str:
    """One line of the table, with the 95 % interval of hit@5 and the share of questions without a result."""
    collection, rows, empty = setting.loaded(), [], 0
    say = each(len(collection.queries), f"{setting.name} {label}")
    for done, query in enumerate(collection.queries, start=1):
        work, _ = pipeline.rank(asked(setting.request(query, now_ms)))
        found = setting.items(work.candidates, collection)
        empty += not found
        rows.append(measure(found, collection.grades[query.qid]))
        say(done)
    means, (low, high) = mean(rows), interval([row["hit@5"] for row in rows])
    figures = " | ".join(f"{means[name]:.3f}" for name in SHOWN)
    return f"| {label} | {figures} | {low:.3f}–{high:.3f} | {empty / len(rows):.1%} | {len(rows)} |"


def _as_openclaw_asks(request: RetrievalRequest) -> RetrievalRequest:
    return request._replace(limit=MOST_RESULTS, min_score=LEAST_SCORE)


def compare(name: str, folder: Path, work: Path, embedder: str) -> None:
    """Print the table of every way to ask one collection for documents."""
    for setting in (one for one in settings_of(name, folder) if not one.turns):
        heads = ["ranking", *SHOWN, "95 % of hit@5", "no result", "n"]
        rows = [f"### {setting.name}, {embedder}", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        with chunked_vault(name, folder, embedder, work) as services:
            now_ms, pipeline = services.clock.now_ms(), services.openclaw
            rows.append(measured(setting, "openclaw", pipeline, now_ms, _as_openclaw_asks))
            rows.append(measured(setting, "openclaw, no minimum", pipeline, now_ms, lambda one: one))
        with vault_of(name, folder, embedder, work) as services:
            rows.append(measured(setting, "clawmem query", services.query, now_ms, lambda one: one))
        sys.stdout.write("\n".join([*rows, "", ""]))
        sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("bench-work"))
    parser.add_argument("--embedder", default="static")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    for name, folder in collections_in(given.data).items():
        compare(name, folder, given.work, given.embedder)
