"""
What a prompt pays for the memory: the CPU time and the memory of one cold ``clawmem hook context-surfacing``.

    python tests/bench/hook_cost.py [--work FOLDER] [--runs 15]

The vault has the beginnings of 10 000 notes that ``corpus.py`` makes from the example notes: 64 000 lines and 45 000
vectors. Every kind of prompt is asked in turn with the bare interpreter, so that a busy machine slows all of them
alike; what counts is the least, and how many interpreters it is worth. At the end the same prompts go through a
server, for which the clock counts too. An editable installation slows all of them: for figures, install the packages.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # a server is started as its own tests do

from server_process import serving

from clawmem.app.services.bench.measures import percentile

NOTES, BLOCKS = 10_000, 8  # blocks a note, headings included
PROMPTS = (
    "how did we decide on the retention of backups, and who restores them?",
    "why does the deploy of the billing service fail on Fridays",
    "what was the reason for moving the sessions to Postgres",
)
BARE = "python -c pass"
HOOK = ("-P", "-m", "clawmem", "hook", "context-surfacing")


class Kind(NamedTuple):
    """One row of the table: what is started, and what is said to it."""

    name: str
    arguments: Sequence[str]
    prompts: Sequence[str] = ("",)
    profile: str = "balanced"
    target_ms: int = 0


KINDS = (
    Kind("python -S -c pass", ("-S", "-c", "pass")),
    Kind(BARE, ("-c", "pass")),
    Kind("gated", HOOK, ("hi", "/compact"), target_ms=45),
    Kind("speed", HOOK, PROMPTS, "speed", 90),
    Kind("balanced", HOOK, PROMPTS, "balanced", 250),
)


SERVED = Kind("through a server", HOOK, PROMPTS, target_ms=40)


class Cost(NamedTuple):
    """Of one process: CPU milliseconds, user and system, the most memory in MB, and milliseconds on the clock."""

    cpu_ms: float
    memory_mb: float
    wall_ms: float


def make(vault: Path) -> None:
    """The vault, made or brought up to date."""
    from judged import settings_for

    from clawmem.app.bootstrap.opening import open_services
    from clawmem.app.services.indexing.folders import Folder

    notes = vault.with_suffix("")
    if not notes.exists():
        write(notes)
    with open_services(settings_for(vault, "static")) as services:
        for folder in sorted(notes.iterdir()):
            services.update(Folder(folder.name, str(folder)))
        services.embed()


def write(folder: Path) -> None:
    """The beginnings of generated notes, all of them or none."""
    from dataclasses import replace
    from itertools import islice

    from corpus import generate, write_notes
    from corpus_source import Source

    draft = folder.with_suffix(".draft")
    notes = islice(generate(Source(None)), NOTES)
    write_notes((replace(note, lines=note.lines[:BLOCKS]) for note in notes), draft)
    draft.rename(folder)


def cost(arguments: Sequence[str], prompt: str, environ: Mapping[str, str]) -> Cost:
    """Run one process and wait for it; ends this one when it complains."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": os.urandom(4).hex(), "prompt": prompt}
    pipe, began = subprocess.PIPE, perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], env=dict(environ), stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe
    )
    assert process.stdin
    assert process.stderr
    process.stdin.write(json.dumps(event).encode())
    process.stdin.close()
    complaint = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    wall_ms = (perf_counter() - began) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or complaint:
        raise SystemExit(f"{' '.join(arguments)}: {complaint or process.returncode}")
    return Cost((used.ru_utime + used.ru_stime) * 1000, used.ru_maxrss / 1024, wall_ms)


def asked(kinds: Sequence[Kind], environ: Mapping[str, str], runs: int) -> dict[str, dict[str, list[Cost]]]:
    """What each prompt of each kind cost, *runs* times in turn."""
    found: dict[str, dict[str, list[Cost]]] = {k.name: {p: [] for p in k.prompts} for k in kinds}
    for run in range(runs + 1):
        for kind, prompt in ((one, prompt) for one in kinds for prompt in one.prompts):
            one = cost(kind.arguments, prompt, {**environ, "CLAWMEM_PROFILE": kind.profile})
            if run:  # the first one warms the disk's cache
                found[kind.name][prompt].append(one)
    return found


def table(kinds: Sequence[Kind], vault: Path, runs: int) -> str:
    """All kinds as Markdown."""
    home = vault.parent / "home"
    environ = {**os.environ, "INDEX_PATH": str(vault), "HOME": str(home)}
    found = asked(kinds, environ, runs)
    with serving(environ, home, "--port", "0", "--no-watch"):
        found |= asked([SERVED], environ, 4 * runs)
    bare = min(one.cpu_ms for one in found[BARE][""])
    head = (
        "| process | target ms | least ms | median ms | × bare | memory MB | p95 on the clock ms |"
        "\n|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *(row(kind, found[kind.name], bare) for kind in (*kinds, SERVED))])


def row(kind: Kind, costs: Mapping[str, Sequence[Cost]], bare: float) -> str:
    """One line of the table: the means of its prompts."""
    cpu = [[one.cpu_ms for one in of_prompt] for of_prompt in costs.values()]
    least, usual = mean(map(min, cpu)), mean(map(median, cpu))
    every = [one for of_prompt in costs.values() for one in of_prompt]
    memory, wall = max(one.memory_mb for one in every), percentile([one.wall_ms for one in every], 0.95)
    target = f"≤ {kind.target_ms}" if kind.target_ms else ""
    figures = f"{least:.0f} | {usual:.0f} | {least / bare:.1f} | {memory:.0f} | {wall:.0f}"
    return f"| {kind.name} | {target} | {figures} |"


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where the vault is kept")
    parser.add_argument("--runs", type=int, default=15)
    chosen = parser.parse_args()
    (chosen.work / "home").mkdir(parents=True, exist_ok=True)
    vault = chosen.work / "hook-cost.sqlite"
    # In another process: what this one ever took would count as memory of everything that it starts.
    maker = get_context("spawn").Process(target=make, args=(vault,))
    maker.start()
    maker.join()
    if maker.exitcode:
        raise SystemExit("The vault could not be made.")
    sys.stdout.write(f"{table(KINDS, vault, chosen.runs)}\n")


if __name__ == "__main__":
    main()
