"""
How well questions are answered, on every judged collection and by every system:

    python tools/bench/quality.py FOLDER [--work FOLDER] [--only PATTERN] [--keep]

FOLDER holds NAME/dev for each collection, or is one. Every setting (document or turn; each question within its part,
or all pooled) is asked of every system in this process; ``docs/bench/quality`` gets a table for each. What the same code
has measured is not measured again: a run that was cut short goes on. Vaults are kept in the work folder.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from time import process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # CPU time is what counts

from artefacts import (
    FOLDER,
    Places,
    Question,
    Table,
    places_of,
    read_facts,
    read_table,
    write_facts,
    write_table,
)
from baselines import embedder_alone, plain_bm25
from judged import (
    CODE,
    EMBEDDERS,
    Setting,
    collections_in,
    data_hash,
    each,
    missing,
    settings_of,
    surroundings,
    vault_of,
)
from vault_stores import retrieval_stores

from clawmem.app.bench.retrieval import percentile
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.retrieval.answer import describe
from clawmem.app.services.retrieval.pipelines import Pipeline

TABLES = FOLDER / "quality"
FACTS = FOLDER / "quality.json"
WARM_UP = 10  # questions before the clock counts

Make = Callable[[Services], Pipeline]


def systems(embedder: str) -> dict[str, Make]:
    """What is asked of a vault with these vectors; what needs none is asked of the first only."""
    without: dict[str, Make] = {
        "plain BM25": lambda services: plain_bm25(services.vault),
        "search": lambda services: services.pipeline("search"),
    }
    return {
        **(without if embedder == EMBEDDERS[0] else {}),
        f"vectors {embedder}": lambda s: embedder_alone(s.vault, s.embedder),
        f"query {embedder}": lambda s: s.query,
    }


def run(name: str, folder: Path, work: Path, only: str, keep: bool) -> None:
    """Every setting and system of one collection."""
    for embedder in EMBEDDERS:
        wanted = list(_wanted(name, folder, embedder, only, keep))
        if not wanted:
            continue
        if why := missing(embedder):
            sys.stderr.write(f"Nothing new of {embedder}: {why}\n")
            continue
        with vault_of(name, folder, embedder, work) as services:
            _note(("collections", name), _about(folder, services))
            _note(("fingerprints", embedder), services.vault.embeddings.fingerprint())
            for setting, system, make in wanted:
                _ask(services, setting, system, make)


def _wanted(
    name: str, folder: Path, embedder: str, only: str, keep: bool
) -> Iterator[tuple[Setting, str, Make]]:
    columns = read_facts(FACTS).get("columns", {})
    for setting in settings_of(name, folder):
        there = read_table(_path(setting)).systems
        for system, make in systems(embedder).items():
            column = f"{setting.name} {system}"
            known = system in there and (keep or columns.get(column, {}).get("code") == CODE)
            if fnmatch(column, only) and not known:
                yield setting, system, make


def _ask(services: Services, setting: Setting, system: str, make: Make) -> None:
    collection, pipeline, now_ms = setting.loaded(), make(services), services.clock.now_ms()
    say = each(len(collection.queries), f"{setting.name} {system}")
    for query in collection.queries[:WARM_UP]:
        pipeline(setting.request(query, now_ms))
    found: dict[str, Places] = {}
    spent = []
    for done, query in enumerate(collection.queries, start=1):
        request = setting.request(query, now_ms)
        began = process_time()
        work, _ = pipeline.rank(request)
        describe(work.texts, retrieval_stores(services.vault), request, work.candidates[: request.limit])
        spent.append((process_time() - began) * 1000)
        found[query.qid] = places_of(setting.items(work.candidates, collection), collection.grades[query.qid])
        say(done)
    table = read_table(_path(setting))
    table.questions = [
        Question(q.qid, q.category, tuple(sorted(collection.grades[q.qid].values(), reverse=True)))
        for q in collection.queries
    ]
    table.systems[system] = found
    write_table(_path(setting), _in_order(table))
    _note(("columns", f"{setting.name} {system}"), _cost(spent))
    _note(("made with",), surroundings())


def _cost(spent: list[float]) -> dict[str, Any]:
    p50, p95 = percentile(spent, 0.5), percentile(spent, 0.95)
    return {"cpu_p50_ms": round(p50, 1), "cpu_p95_ms": round(p95, 1), "code": CODE}


def _about(folder: Path, services: Services) -> dict[str, Any]:
    documents = sum(services.vault.documents.collections().values())
    return {"sha256": data_hash(folder), "documents": documents}


def _in_order(table: Table) -> Table:
    order = [system for embedder in EMBEDDERS for system in systems(embedder)]
    ranked = sorted(table.systems, key=lambda system: order.index(system) if system in order else len(order))
    return Table(table.questions, {system: table.systems[system] for system in ranked})


def _note(keys: tuple[str, ...], value: object) -> None:
    facts = read_facts(FACTS)
    here = facts
    for key in keys[:-1]:
        here = here.setdefault(key, {})
    here[keys[-1]] = value
    write_facts(FACTS, facts)


def _path(setting: Setting) -> Path:
    return TABLES / f"{setting.name}.tsv"


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where vaults are kept")
    parser.add_argument("--only", default="*", help="settings and systems such as 'locomo.turn.* query *'")
    parser.add_argument("--keep", action="store_true", help="keep what other code has measured")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    for name, folder in collections_in(chosen.data).items():
        run(name, folder, chosen.work, chosen.only, chosen.keep)


if __name__ == "__main__":
    main()
