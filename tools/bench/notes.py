"""
What a person sees of judged notes: excerpts, traps, silence, and the block of a prompt.

    python tools/bench/notes.py FOLDER [--work FOLDER] [--embedder static]

Measured are the collections of *FOLDER* without turns that say more than judgements: ``answers.tsv`` (words of each
answer), ``must_not.tsv`` (notes that must not stand above it), ``unanswerable.txt`` and ``offtopic.txt``; without
``must_not.tsv``, a note of grade 1 must not stand above one of grade 2, which amends it. ``meta.json`` has the times and
pins of the notes. ``docs/bench/notes.json`` gets the figures, and no text.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import packaged_e5
from artefacts import FOLDER, read_facts, write_facts
from judged import (
    CODE,
    EMBEDDERS,
    WHOLE,
    collections_in,
    data_hash,
    each,
    missing,
    settings_for,
    surroundings,
)
from surfacing import Prompts

from clawmem.app.bench.collection import JudgedCollection, load_collection
from clawmem.app.bench.retrieval import interval
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.answer import Result
from clawmem.app.services.retrieval.request import read_request
from clawmem.domain.retrieval.query_forms import content_words

FACTS = FOLDER / "notes.json"
WORDS = "words of a block, median"
CONFIDENT, BEST = 0.5, 2
MARKS = str.maketrans(dict.fromkeys("*_`|>#[]", " ") | {"−": "-"})


def measure(name: str, folder: Path, embedder: str, work: Path) -> dict[str, Any]:
    """Return the figures of one collection: the mean, its interval and the number of questions of each."""
    collection = load_collection(folder, turns=False)
    vault = _made(name, folder, embedder, work)
    prompts, values = Prompts(vault, embedder), dict[str, list[float]]()
    with open_services(settings_for(vault, embedder)) as services:
        _ask(services, prompts, folder, collection, values)
    return {
        figure: [round(value, 3) for value in (sum(some) / len(some), *interval(some))] + [len(some)]
        for figure, some in values.items()
        if figure != WORDS
    } | {WORDS: median(values[WORDS])}


def _ask(
    services: Services,
    prompts: Prompts,
    folder: Path,
    collection: JudgedCollection,
    values: dict[str, list[float]],
) -> None:
    answers = {qid: text for qid, text in _rows(folder / "answers.tsv")}
    traps = _traps(folder, collection)
    say = each(len(collection.queries), f"{folder.parent.name} questions")

    def add(figure: str, value: float) -> None:
        values.setdefault(figure, []).append(value)

    for done, query in enumerate(collection.queries, start=1):
        results = _answer(services, query.text)
        found = [result.document.path.removesuffix(".md") for result in results]
        best = [item for item, grade in collection.grades[query.qid].items() if grade == BEST]
        first = next((place for place, item in enumerate(found) if item in best), len(found))
        block = prompts.block(query.text, query.qid, "balanced")
        answer = plain(answers.get(query.qid, ""))
        add("right note first", first == 0 and bool(found))
        if query.category == "cross-language":
            add("right note first, in another language", first == 0 and bool(found))
        if answer and found and first == 0:
            add(
                "excerpt holds the answer",
                answer in plain(f"{results[0].document.title} {results[0].snippet().text}"),
            )
        if trap := traps.get(query.qid):
            add("not trapped", not trap.intersection(found[:first]))
        if answer:
            add("answer in the block", answer in plain(block))
        bodies = " ".join((folder / "corpus" / f"{item}.md").read_text("utf-8") for item in best)
        decision = {*content_words(bodies)} - {*content_words(query.text)}
        add(
            "words of the right note in the block",
            len(decision & {*content_words(block)}) / max(1, len(decision)),
        )
        add(WORDS, len(block.split()))
        say(done)
    for kind in ("unanswerable", "offtopic"):
        for number, prompt in enumerate(_lines(folder / f"{kind}.txt")):
            if kind == "unanswerable":
                results = _answer(services, prompt)
                add("unanswerable, not confident", all((r.confidence or 0) < CONFIDENT for r in results))
            add(f"{kind}, no block", not prompts.block(prompt, f"{kind} {number}", "balanced"))


def _answer(services: Services, text: str) -> Sequence[Result]:
    return services.query(read_request(text, now_ms=services.clock.now_ms(), limit=10)).results


def _traps(folder: Path, collection: JudgedCollection) -> dict[str, set[str]]:
    """Return the notes by question that must not stand above the best answer."""
    traps: dict[str, set[str]] = {}
    for qid, item in _rows(folder / "must_not.tsv"):
        traps.setdefault(qid, set()).add(item)
    lower = {
        qid: {item for item, grade in grades.items() if grade < BEST}
        for qid, grades in collection.grades.items()
    }
    return traps or {qid: items for qid, items in lower.items() if items}


def _made(name: str, folder: Path, embedder: str, work: Path) -> Path:
    """Return the vault of a collection, made with the times and pins of its notes unless it is there."""
    vault, notes = work / f"notes.{name}.{embedder}.sqlite", work / f"notes.{name}"
    meta: dict[str, dict[str, Any]] = {}
    with suppress(FileNotFoundError):
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
    if not notes.exists():
        shutil.copytree(folder / "corpus", notes)
        for path, facts in meta.items():
            if facts.get("mtime") and (notes / path).exists():
                at = datetime.fromisoformat(facts["mtime"]).timestamp()
                os.utime(notes / path, (at, at))
    if not vault.exists():
        with open_services(settings_for(vault, embedder)) as services:
            services.update(Folder(WHOLE, str(notes)))
            services.embed()
            for path in (path for path, facts in meta.items() if facts.get("pinned")):
                services.lifecycle.pin(services.lookup.find(f"{WHOLE}/{path}"), "bench")
    return vault


def plain(text: str) -> str:
    """Return *text* without the marks of Markdown, in lower case."""
    return " ".join(text.translate(MARKS).lower().split())


def _rows(file: Path) -> list[list[str]]:
    return [line.split("\t") for line in _lines(file)]


def _lines(file: Path) -> list[str]:
    return [line for line in file.read_text("utf-8").splitlines() if line.strip()] if file.exists() else []


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where vaults are kept")
    names = (*EMBEDDERS, packaged_e5.NAME)
    parser.add_argument("--embedder", choices=names, action="append", help="only these vectors")
    chosen = parser.parse_args()
    packaged_e5.take_packaged()
    chosen.work.mkdir(parents=True, exist_ok=True)
    found: Mapping[str, Path] = collections_in(chosen.data)
    for name, folder in found.items():
        grades = load_collection(folder, turns=False).grades.values()
        if (folder / "turns.tsv").exists() or not any(BEST in some.values() for some in grades):
            continue
        for embedder in chosen.embedder or names:
            if why := missing(embedder):
                sys.stderr.write(f"Nothing new of {embedder}: {why}\n")
                continue
            about = {
                "code": CODE,
                "sha256": data_hash(folder),
                "figures": measure(name, folder, embedder, chosen.work),
            }
            facts = read_facts(FACTS)
            facts.setdefault("collections", {}).setdefault(name, {})[embedder] = about
            write_facts(FACTS, {**facts, "made with": surroundings()})


if __name__ == "__main__":
    main()
