"""
What upkeep costs, and whom it keeps waiting:

    python tools/bench/lanes.py [--pending 1000] [--rows 20000] [--searches 300] [--hosts-s 60]

One tick of the light lane and one merge of everything over *pending* observations, of which one in ten was noted twice,
without a model; how long each write transaction held the vault; how long searches of another process take meanwhile, and
without that. How long it takes to look up what a statement may be the same as among *rows* of them. Two processes that
host the light lane for *hosts-s* seconds, at its shortest interval.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import monotonic, perf_counter, process_time, sleep, thread_time
from typing import NamedTuple

from wired import memory_writer

from clawmem.adapters.sqlite.database import Database
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.maintenance.phase_run import PhaseRun
from clawmem.app.settings.model import load_settings
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.maintenance.merge_gate import StatementIndex
from clawmem.domain.maintenance.schedule import LaneName

WHO = (
    "Hartmann Weber Mira Jonas Keller Okafor Lindqvist Moreau Tanaka Silva Brandt Novak Haddad Petrov".split()
)
WHAT = "export import backup invoice checkout pipeline migration sensor camera garden boiler boat cellar roof".split()
DOES = "fails freezes leaks restarts overheats drifts stalls repeats vanishes rattles".split()
WHEN = "Fridays Mondays mornings evenings winters deployments updates holidays storms weekends".split()
WHERE = "Berlin Lisbon Oslo Lagos Kyoto Porto Tallinn Ghent Turin Leeds attic harbour office depot".split()
FEW = 60  # words that somebody has who always writes about the same
SEARCH = """
import sys
from time import perf_counter
from pathlib import Path
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.services.retrieval.request import read_request
from clawmem.app.settings.model import load_settings

with open_services(load_settings(vault=Path(sys.argv[1])), read_only=True) as services:
    search = services.pipeline("search")
    asked = ["why does the {} of {} fail".format(a, b) for a in sys.argv[3].split() for b in sys.argv[4].split()]
    search(read_request(asked[0], now_ms=services.clock.now_ms()))
    print("ready", flush=True)
    for number in range(int(sys.argv[2])):
        began = perf_counter()
        search(read_request(asked[number % len(asked)], now_ms=services.clock.now_ms()))
        print((perf_counter() - began) * 1000)
"""


def say(line: str) -> None:
    """A line of what was measured, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def statements(count: int, chance: Random) -> list[str]:
    """Of which one in ten is there twice."""

    def one() -> str:
        who, what, does, when, where = (chance.choice(every) for every in (WHO, WHAT, DOES, WHEN, WHERE))
        return f"The {what} of {who} {does} on {when} in {where} since line {chance.randrange(9000)}"

    different = [one() for _ in range(count - count // 10)]
    return [*different, *chance.sample(different, count // 10)]


def fill(services: Services, texts: Sequence[str]) -> None:
    """An observation of each."""
    now, memories = services.clock.now_ms(), memory_writer(services.vault, services.clock)
    for start in range(0, len(texts), 100):
        with services.vault.transactions.writing():
            for number, text in enumerate(texts[start : start + 100], start=start):
                path = f"agent/observations/2026-01-01-bench-observation-{number:06}.md"
                memories.write(
                    path, text, f"# {text}\n\n> {text}\n", "observation", 0.8, iso_utc(now + number)
                )


class Held(NamedTuple):
    """How long a write transaction held the vault, by the clock on the wall and in processor time; milliseconds."""

    wall: float
    cpu: float

    def until_now(self) -> Held:
        """From when *self* was taken until now."""
        return Held(perf_counter() * 1000 - self.wall, thread_time() * 1000 - self.cpu)


def moment() -> Held:
    """Now."""
    return Held(perf_counter() * 1000, thread_time() * 1000)


@contextmanager
def timed_transactions() -> Iterator[list[Held]]:
    """What each write transaction of this process took meanwhile."""
    held: list[Held] = []
    begun = [moment()]
    usual = Database.write

    def write(self: Database, sql: str, *given: object) -> object:
        alone = moment()
        was_open = self.in_transaction
        done = usual(self, sql, *given)  # type: ignore[arg-type]
        if sql == "begin immediate":
            begun[0] = moment()
        elif sql == "commit" or not was_open:
            held.append((begun[0] if sql == "commit" else alone).until_now())
        return done

    Database.write = write  # type: ignore[method-assign,assignment]
    try:
        yield held
    finally:
        Database.write = usual  # type: ignore[method-assign]


def searching(vault: Path, count: int) -> subprocess.Popen[str]:
    """A process that has the vault open and begins to search."""
    command = [sys.executable, "-c", SEARCH, str(vault), str(count), " ".join(WHAT), " ".join(WHO)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "ready\n"
    return process


def told(process: subprocess.Popen[str]) -> list[float]:
    """Its milliseconds, one a search."""
    return [float(line) for line in process.communicate()[0].splitlines()]


def p95(values: Sequence[float]) -> float:
    """Of milliseconds."""
    return quantiles(values, n=20)[-1]


def measure_ticks(vault: Path, pending: int, searches: int) -> None:
    """The tick, the merge of everything, and who searches meanwhile."""
    settings = load_settings(vault=vault)
    with open_services(settings) as services:
        fill(services, statements(pending, Random(7)))
    idle = told(searching(vault, searches // 2))
    with open_services(settings) as services:
        busy = searching(vault, searches)
        with timed_transactions() as held:
            began = process_time()
            ticked = services.lanes.tick(LaneName.LIGHT)
            tick_s = process_time() - began
            began = process_time()
            _, newest = services.observations.newest(pending)
            merged = services.consolidation(newest, PhaseRun())
            merge_s = process_time() - began
            ticks = 1
            while busy.poll() is None and ticks < 200:
                services.lanes.tick(LaneName.LIGHT)
                ticks += 1
        meanwhile = told(busy)
    idle += told(searching(vault, searches // 2))  # a busy machine is no better before than after
    say(
        f"tick over {pending} pending: {tick_s:.2f} s CPU; {'; '.join(f'{run.phase} {run.status}: {run.created} made' for run in ticked)}"
    )
    say(f"merge of all {merged.selected}: {merge_s:.2f} s CPU, {merged.created} made")
    for what, took in (("wall", [one.wall for one in held]), ("CPU", [one.cpu for one in held])):
        figures = f"median {median(took):.1f}, p95 {p95(took):.1f}, longest {max(took):.1f} ms"
        say(f"{len(held)} write transactions, {what}: {figures}")
    ratio = p95(meanwhile) / p95(idle)
    say(
        f"{searches} searches, p95: idle {p95(idle):.1f} ms, during {ticks} ticks {p95(meanwhile):.1f} ms ({ratio:.2f} x)"
    )


def measure_lookups(rows: int) -> None:
    """How long it takes to find what may be the same."""
    for size in (rows // 4, rows // 2, rows, rows * 2):
        measure_lookups_among(f"{size} rows", statements(size, Random(size)), statements(200, Random(1)))
    for longest in (6, 14, 30):
        texts = of_few_words(rows, longest, Random(longest))
        measure_lookups_among(f"{rows} rows of up to {longest} of {FEW} words", texts, texts[:200])


def of_few_words(size: int, longest: int, random: Random) -> list[str]:
    """Statements that are made of the same few words, so that every word stands in many of them."""
    words = [f"word{number:02}" for number in range(FEW)]
    return [" ".join(random.sample(words, random.randint(longest // 2, longest))) for _ in range(size)]


def measure_lookups_among(what: str, texts: list[str], asked: list[str]) -> None:
    """How long it takes to find those of *texts* that may be the same as one that is *asked* for."""
    began = process_time()
    nearby = StatementIndex(enumerate(texts))
    built_s = process_time() - began
    took = []
    for text in asked:
        began = process_time()
        nearby.near(text)
        took.append((process_time() - began) * 1000)
    line = f"median {median(took):.2f}, p95 {p95(took):.2f}, longest {max(took):.2f} ms"
    say(f"{what}: built in {built_s:.2f} s, a lookup {line}")


def measure_hosts(vault: Path, seconds: float) -> None:
    """Two processes: when the ticks began."""
    environ = {**os.environ, "CLAWMEM_CONSOLIDATION_INTERVAL": "15000", "CLAWMEM_NO_LOCAL_MODELS": "true"}
    command = [
        sys.executable,
        "-m",
        "clawmem",
        "--vault",
        str(vault),
        "maintain",
        "light",
        "--every",
        "15",
    ]
    since = iso_utc(0)
    with open_services(load_settings(vault=vault)) as services:
        since = iso_utc(services.clock.now_ms())
    hosts = [subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) for _ in range(2)]
    end = monotonic() + seconds
    while monotonic() < end:
        sleep(0.5)
    for host in hosts:
        host.terminate()
        host.wait()
    with open_services(load_settings(vault=vault), read_only=True) as services:
        runs = [run for run in services.vault.journal.runs(10_000, "light") if run.started_at >= since]
    began = sorted(parse_iso(run.started_at) or 0 for run in runs if run.phase == "enrich")
    apart = [(later - earlier) / 1000 for earlier, later in pairwise(began)]
    skipped = sum(run.phase == "gate" for run in runs)
    say(
        f"2 hosts, {seconds:.0f} s: {len(began)} ticks, apart {apart} s, {skipped} times the other had the lease"
    )


def main() -> None:
    """Measure and say it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pending", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--hosts-s", type=float, default=60.0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder, "vault.sqlite")
        measure_ticks(vault, chosen.pending, chosen.searches)
        measure_lookups(chosen.rows)
        measure_hosts(vault, chosen.hosts_s)


if __name__ == "__main__":
    main()
