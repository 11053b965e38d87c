"""
What events cost: CPU time and memory of ``clawmem hook UserPromptSubmit``, and of ``clawmem hook Stop``.

    python tools/bench/hook_cost.py [--work FOLDER] [--runs 15] [--pairs 10]

The vault has the beginnings of 10 000 notes that ``corpus.py`` makes from the example notes: 64 000 lines and 45 000
vectors. Every kind of prompt is asked in turn with the bare interpreter, so that a busy machine slows all of them
alike; what counts is the least, and how many interpreters it is worth. Then the same prompts go through a server, for
which the clock counts too, as do the first prompt of a session, with its start, and the end of its turn. Pairs of cold prompts show what it costs to start a server in the background. At last a turn
ends: with one process for each Stop hook, and with one for all. An editable installation slows all of them: for figures,
install the packages.
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
from time import perf_counter, sleep
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))  # a server is started as its own tests do

from hook_process import AT_STOP, TURNS, transcript
from server_process import serving

from clawmem.app.bench.retrieval import percentile
from clawmem.app.client.request import server_file

NOTES, BLOCKS = 10_000, 8  # blocks a note, headings included
PROMPTS = (
    "how did we decide on the retention of backups, and who restores them?",
    "why does the deploy of the billing service fail on Fridays",
    "what was the reason for moving the sessions to Postgres",
)
BARE = "python -c pass"
COMMAND = ("-P", "-m", "clawmem")
HOOK = (*COMMAND, "hook", "UserPromptSubmit")
NO_SERVER = {"CLAWMEM_NO_SERVER": "1"}


class Kind(NamedTuple):
    """One row of the table: what is started, and what is said to it."""

    name: str
    arguments: Sequence[str]
    prompts: Sequence[str] = ("",)
    profile: str = "balanced"
    target: int = 0  # bare interpreters


KINDS = (
    Kind("python -S -c pass", ("-S", "-c", "pass")),
    Kind(BARE, ("-c", "pass")),
    Kind("gated", HOOK, ("hi", "/compact"), target=5),
    Kind("speed", HOOK, PROMPTS, "speed", 14),
    Kind("balanced", HOOK, PROMPTS, "balanced", 28),
)

SERVED = Kind("through a server", HOOK, PROMPTS, target=3)
FIRST, ENDED = Kind("first prompt of a session, served", HOOK), Kind("Stop, served", HOOK)
PLAIN, STARTING = Kind("balanced, in pairs", HOOK), Kind("balanced, starts a server", HOOK)
APART, TOGETHER = Kind("Stop, a process for each hook", HOOK), Kind("Stop, one process", HOOK)


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


def cost(arguments: Sequence[str], event: Mapping[str, Any], environ: Mapping[str, str]) -> Cost:
    """Run one process and wait for it; ends this one when it complains."""
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


def prompted(prompt: str) -> dict[str, str]:
    """The event of a prompt in a session of its own."""
    return {"hook_event_name": "UserPromptSubmit", "session_id": os.urandom(4).hex(), "prompt": prompt}


def asked(kinds: Sequence[Kind], environ: Mapping[str, str], runs: int) -> dict[str, dict[str, list[Cost]]]:
    """What each prompt of each kind cost, *runs* times in turn."""
    found: dict[str, dict[str, list[Cost]]] = {k.name: {p: [] for p in k.prompts} for k in kinds}
    for run in range(runs + 1):
        for kind, prompt in ((one, prompt) for one in kinds for prompt in one.prompts):
            one = cost(kind.arguments, prompted(prompt), {**environ, "CLAWMEM_PROFILE": kind.profile})
            if run:  # the first one warms the disk's cache
                found[kind.name][prompt].append(one)
    return found


def starts(environ: Mapping[str, str], pairs: int) -> dict[str, dict[str, list[Cost]]]:
    """What a cold prompt cost, and one that started a server, in turn."""
    found: dict[str, dict[str, list[Cost]]] = {kind.name: {"": []} for kind in (PLAIN, STARTING)}
    note = Path(server_file(environ["INDEX_PATH"], "server-start"))
    for number in range(pairs):
        prompt = prompted(PROMPTS[number % len(PROMPTS)])
        found[PLAIN.name][""].append(cost(HOOK, prompt, {**environ, **NO_SERVER}))
        found[STARTING.name][""].append(cost(HOOK, prompted(prompt["prompt"]), environ))
        if not note.exists():
            raise SystemExit("No server was started.")
        while note.exists():
            sleep(0.1)
        stop = [sys.executable, *COMMAND, "serve", "--stop"]
        subprocess.run(stop, env=dict(environ), check=True, capture_output=True)
    return found


def stops(environ: Mapping[str, str], work: Path, runs: int) -> dict[str, dict[str, list[Cost]]]:
    """What the end of a turn cost, with a process for each hook and with one for all, in turn."""
    found: dict[str, dict[str, list[Cost]]] = {kind.name: {"": []} for kind in (APART, TOGETHER)}
    for kind, names in ((APART, AT_STOP), (TOGETHER, ("Stop",))) * runs:
        session = os.urandom(4).hex()
        file = transcript(work / "transcripts" / f"{session}.jsonl", *TURNS)
        event = {"hook_event_name": "Stop", "session_id": session, "transcript_path": str(file)}
        each = [cost((*COMMAND, "hook", name), event, environ) for name in names]
        found[kind.name][""].append(together(each))
    return found


def sessions(environ: Mapping[str, str], work: Path, runs: int) -> dict[str, dict[str, list[Cost]]]:
    """What the beginning of a session cost, its start and its first prompt together, and the end of its turn."""
    found: dict[str, dict[str, list[Cost]]] = {kind.name: {"": []} for kind in (FIRST, ENDED)}
    for number in range(runs):
        prompt = prompted(PROMPTS[number % len(PROMPTS)])
        session = {"session_id": prompt["session_id"]}
        file = transcript(work / "transcripts" / f"{prompt['session_id']}.jsonl", *TURNS)
        begins = {"hook_event_name": "SessionStart", "source": "startup", **session}
        start, first = cost((*COMMAND, "hook", "SessionStart"), begins, environ), cost(HOOK, prompt, environ)
        found[FIRST.name][""].append(together([start, first]))
        ends = {"hook_event_name": "Stop", "transcript_path": str(file), **session}
        found[ENDED.name][""].append(cost((*COMMAND, "hook", "Stop"), ends, environ))
    return found


def together(each: Sequence[Cost]) -> Cost:
    """Of processes one after another."""
    cpu, memory, wall = zip(*each, strict=True)
    return Cost(sum(cpu), max(memory), sum(wall))


def table(kinds: Sequence[Kind], vault: Path, runs: int, pairs: int) -> str:
    """All kinds as Markdown."""
    home = vault.parent / "home"
    config = home / ".config" / "clawmem" / "config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("server: auto\n")
    # Without bytecode every process would compile the package again, which an installed one does not.
    unwanted = ("CI", "PYTHONDONTWRITEBYTECODE")
    starting = {name: value for name, value in os.environ.items() if name not in unwanted}
    starting |= {"INDEX_PATH": str(vault.resolve()), "HOME": str(home)}
    environ = {**starting, **NO_SERVER}
    found = asked(kinds, environ, runs)
    with serving(environ, home, "--port", "0", "--no-watch", fresh=True):
        found |= asked([SERVED], environ, 4 * runs) | sessions(environ, vault.parent, runs)
    found |= starts(starting, pairs) | stops(environ, vault.parent, runs)
    bare = min(one.cpu_ms for one in found[BARE][""])
    head = (
        "| process | target | least ms | median ms | × bare | memory MB | median, p95 on the clock ms |"
        "\n|---|---|---|---|---|---|---|"
    )
    every = (*kinds, SERVED, FIRST, ENDED, PLAIN, STARTING, APART, TOGETHER)
    return "\n".join([head, *(row(kind, found[kind.name], bare) for kind in every)])


def row(kind: Kind, costs: Mapping[str, Sequence[Cost]], bare: float) -> str:
    """One line of the table: the means of its prompts."""
    cpu = [[one.cpu_ms for one in of_prompt] for of_prompt in costs.values()]
    least, usual = mean(map(min, cpu)), mean(map(median, cpu))
    every = [one for of_prompt in costs.values() for one in of_prompt]
    memory, walls = max(one.memory_mb for one in every), [one.wall_ms for one in every]
    target = f"≤ {kind.target} ×" if kind.target else ""
    figures = f"{least:.0f} | {usual:.0f} | {least / bare:.1f} | {memory:.0f}"
    figures += f" | {median(walls):.0f}, {percentile(walls, 0.95):.0f}"
    return f"| {kind.name} | {target} | {figures} |"


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where the vault is kept")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--pairs", type=int, default=10)
    chosen = parser.parse_args()
    chosen.work = chosen.work.resolve()
    (chosen.work / "home").mkdir(parents=True, exist_ok=True)
    vault = chosen.work / "hook-cost.sqlite"
    # In another process: what this one ever took would count as memory of everything that it starts.
    maker = get_context("spawn").Process(target=make, args=(vault,))
    maker.start()
    maker.join()
    if maker.exitcode:
        raise SystemExit("The vault could not be made.")
    sys.stdout.write(f"{table(KINDS, vault, chosen.runs, chosen.pairs)}\n")


if __name__ == "__main__":
    main()
