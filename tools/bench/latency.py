"""
How long ``query`` takes in a warm process, and where the time goes:

    python tools/bench/latency.py [--data FOLDER] [--fragments 10000 50000] [--work FOLDER] [--profile]

The notes are made by ``corpus.py``, from the judged collections in FOLDER or the example notes. Answers have ten
results with snippets; each question is asked once, after ten others.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from artefacts import FOLDER, read_facts, write_facts
from benchmark_tables import latency
from corpus import generate, write_notes
from corpus_source import Source, is_content
from judged import EMBEDDERS, missing, settings_for, surroundings

from clawmem.app.bench.retrieval import percentile
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.request import read_request
from clawmem.domain.text.words import words

FACTS = FOLDER / "latency.json"
QUESTIONS, WARM_UP = 100, 10
NOTES_AT_ONCE = 100
MANY = 1_000_000


def made(services: Services, source: Source, fragments: int, folder: Path) -> int:
    """Index generated notes until there are so many fragments of all kinds; the number of them."""
    notes, found, last = generate(source), 0, 0
    while True:
        for document in services.vault.documents.following(last, MANY):
            found, last = found + len(services.vault.documents.fragments(document.id)), document.id
        if found >= fragments:
            return found
        write_notes(islice(notes, NOTES_AT_ONCE), folder)
        for part in sorted(folder.iterdir()):
            services.update(Folder(part.name, str(part)))


def asked(services: Services, number: int) -> list[str]:
    """Questions of three to eight content words, each from one note."""
    rng = random.Random(1)
    ids = [document.id for document in services.vault.documents.latest()]
    found: list[str] = []
    while len(found) < number:
        body = services.vault.documents.body(rng.choice(ids)) or ""
        lines = [line for line in body.split("\n") if line]
        content = sorted({word for word in words(rng.choice(lines)) if is_content(word)}) if lines else []
        if len(content) >= 3:
            found.append(f"What about {' '.join(rng.sample(content, min(rng.randint(3, 8), len(content))))}?")
    return found


def timed(services: Services, questions: Sequence[str]) -> dict[str, Any]:
    """CPU and wall clock of each answer, and the stages' wall clock by name."""
    pipeline, now_ms = services.pipeline("query"), services.clock.now_ms()
    for question in questions[:WARM_UP]:
        pipeline(read_request(question, now_ms=now_ms))
    cpu, wall, stages = [], [], defaultdict(list)
    for question in questions[WARM_UP:]:
        began, cpu_began = perf_counter(), process_time()
        answer = pipeline(read_request(question, now_ms=now_ms))
        cpu.append((process_time() - cpu_began) * 1000)
        wall.append((perf_counter() - began) * 1000)
        for stage in answer.trace.stages:
            stages[stage.name].append(stage.ms)
        stages["snippets"].append(wall[-1] - sum(stage.ms for stage in answer.trace.stages))
    return {
        "questions": len(cpu),
        "cpu_p50_ms": round(percentile(cpu, 0.5), 1),
        "cpu_p95_ms": round(percentile(cpu, 0.95), 1),
        "wall_p50_ms": round(percentile(wall, 0.5), 1),
        "wall_p95_ms": round(percentile(wall, 0.95), 1),
        "stages_ms": {name: round(percentile(ms, 0.5), 2) for name, ms in stages.items()},
    }


def profiled(services: Services, questions: Sequence[str]) -> None:
    """Print what the same questions spend their time on."""
    import cProfile
    import pstats

    profile = cProfile.Profile()
    profile.runcall(timed, services, questions)
    pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(30)


def keep(run: dict[str, Any]) -> None:
    """Put the run among the others, in the place of the one before it."""
    facts = read_facts(FACTS)
    others = [
        one
        for one in facts.get("runs", ())
        if (one["size"], one["embedder"]) != (run["size"], run["embedder"])
    ]
    runs = sorted([*others, run], key=lambda one: (one["size"], EMBEDDERS.index(one["embedder"])))
    write_facts(FACTS, {"made with": surroundings(), "runs": runs})


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="judged collections, for text in real proportions")
    parser.add_argument("--fragments", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--embedders", nargs="+", default=list(EMBEDDERS))
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where vaults are kept")
    parser.add_argument("--profile", action="store_true", help="say what takes the time, and keep no figure")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    for size in chosen.fragments:
        for embedder in chosen.embedders:
            if why := missing(embedder):
                sys.stderr.write(f"Nothing new of {embedder}: {why}\n")
                continue
            with open_services(
                settings_for(chosen.work / f"latency-{size}.{embedder}.sqlite", embedder)
            ) as services:
                notes = chosen.work / f"latency-{size}-{embedder}"
                fragments = made(services, Source(chosen.data), size, notes)
                services.embed()
                questions = asked(services, QUESTIONS + WARM_UP)
                if chosen.profile:
                    profiled(services, questions)
                else:
                    keep(
                        {
                            "size": size,
                            "embedder": embedder,
                            "fragments": fragments,
                            **timed(services, questions),
                        }
                    )
    print("\n".join(latency(FOLDER)))  # noqa: T201


if __name__ == "__main__":
    main()
