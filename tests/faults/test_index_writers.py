"""Indexes outside of the records, while processes write for a minute and others rebuild."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_process import run_process
from fault_worlds import ServedWorld
from killed_notes import configure_notes
from programs import finish, let_go, start_program

from clawmem.adapters.models.local import StaticEmbedder
from clawmem.ports.records import Grain

LATEST_S = 3.0  # for 99 of 100 writes
NOTES = 30


class TestWriters:
    @pytest.mark.parametrize(
        ("backend", "number", "seconds"),
        [
            ("tantivy", 3, 0.6),
            *(
                pytest.param(backend, 8, 60, marks=pytest.mark.slow)
                for backend in ("sqlite", "tantivy", "lancedb")
            ),
        ],
    )
    def test_several_at_once(
        self,
        served: ServedWorld,
        environ: dict[str, str],
        tmp_path: Path,
        backend: str,
        number: int,
        seconds: float,
    ) -> None:
        """Each takes in what it wrote and finds it at once; nobody is turned away, nothing is there twice."""
        write_vault(served, backend, tmp_path)

        reports = [json.loads(finish(process)) for process in writing(environ, number, seconds)]

        took = sorted(second for report in reports for second in report["took"])
        late = took[len(took) * 99 // 100]
        sys.stdout.write(f"\n{backend}: {len(took)} writes, {late:.2f} s p99, {took[-1]:.2f} s at most\n")
        assert [report["bad"] for report in reports] == [[]] * number
        assert all(report["rounds"] > 0 for report in reports)
        assert seconds < 60 or late <= LATEST_S
        served.open()
        served.indexes.keep_up()
        assert served.indexes.lagging == {}
        assert served.verify() == []
        assert served.vault.storage.check() == []
        written = sum(report["rounds"] for report in reports)
        assert served.vault.lexical.count(Grain.DOCUMENT) == NOTES + written

    @pytest.mark.parametrize(
        ("backend", "rebuilds", "seconds"),
        [
            ("tantivy", 1, 1),
            pytest.param("tantivy", 24, 60, marks=pytest.mark.slow),
            pytest.param("lancedb", 6, 30, marks=pytest.mark.slow),
        ],
    )
    def test_a_rebuild_beside_them(
        self,
        served: ServedWorld,
        environ: dict[str, str],
        tmp_path: Path,
        backend: str,
        rebuilds: int,
        seconds: float,
    ) -> None:
        """Whoever asks for a rebuild gets it while others write, and nobody is turned away."""
        write_vault(served, backend, tmp_path)
        writers = writing(environ, 3, seconds)

        for _ in range(rebuilds):
            done = run_process("rebuild", environ=environ)
            assert (done.returncode, done.stderr) == (0, "")

        reports = [json.loads(finish(process)) for process in writers]
        assert [report["bad"] for report in reports] == [[]] * 3
        served.open()
        served.indexes.keep_up()
        assert served.verify() == []


def write_vault(world: ServedWorld, backend: str, place: Path) -> None:
    """A vault of some notes at a backend, closed, for the processes that are to come."""
    for number in range(NOTES):
        world.write(f"harvest{number}.md", f"# Harvest {number}\n\n{'It was a good crop. ' * number}\n")
    world.embedder = StaticEmbedder()
    world.update()
    world.embed()
    world.indexes.move(backend)
    world.vault.close()
    configure_notes({"HOME": str(place / "home")}, place / "notes")


def writing(environ: dict[str, str], number: int, seconds: float) -> list[subprocess.Popen[str]]:
    """Processes that have begun to write at the same moment."""
    writers = [start_program(WRITER, one, seconds, environ=environ) for one in range(number)]
    let_go(*writers)
    return writers


WRITER = """
import contextlib, importlib.util, io, json, pathlib, sys, time
import clawmem.adapters.files.disk, clawmem.adapters.files.front_matter, clawmem.adapters.sqlite.vault
import clawmem.app.bootstrap.container, clawmem.app.bootstrap.opening, clawmem.app.services.indexing.update, ruamel.yaml, tantivy
from clawmem.app.interfaces.cli.command_line import cli

number, seconds = sys.argv[1:]
notes, bad, took, rounds = pathlib.Path.home().parent / "notes", [], [], 0


def run(*args):
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            cli([*args, "--json"])
        except SystemExit as left:
            code = left.code
    if code or errors.getvalue():
        bad.append([args, code, errors.getvalue()])
    return json.loads(out.getvalue() or "{}")


run("search", "harvest")
run("update", "--embed")
print("ready", flush=True)
sys.stdin.readline()
until = time.monotonic() + float(seconds)
while not rounds or time.monotonic() < until:
    word = f"word{number}x{rounds}"
    (notes / f"{word}.md").write_text(f"# Note\\n\\n{word} is new.\\n")
    (notes / f"harvest{int(number) % 3}.md").write_text(f"# Harvest\\n\\nNow by {word}.\\n")
    began = time.monotonic()
    run("update", "--embed")
    took.append(time.monotonic() - began)
    answer = run("search", word)
    if f"{word}.md" not in json.dumps(answer):
        bad.append(answer)
    rounds += 1
print(json.dumps({"rounds": rounds, "bad": bad, "took": took}))
"""
