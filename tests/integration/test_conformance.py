"""``clawmem conformance vectors``: programs that are right, wrong, lost and rude, each a real process."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from command_line import Invoke

from clawmem.app.conformance.judging import Case, PortProgram, VectorFile, Verdict, judge, load_vectors

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "other-port" / "port.mjs"
POLICIES = {file.policy for file in load_vectors()}

needs_node = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")

# Answers with this implementation, as the unit tests do.
OURS = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "tests" / "unit")!r})
from test_vectors import answer
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({{"id": asked["id"], "output": answer(asked["policy"], asked["input"])}}), flush=True)
"""

# A port of the one policy "double", whose last line is what a test makes it do with an input.
PORT = """
import json, os, sys, time
def say(line):
    print(line, flush=True)
def answer(**form):
    say(json.dumps({"id": id, **form}))
for line in sys.stdin:
    asked = json.loads(line)
    id, given = asked["id"], asked["input"]
    if given != 3:
        answer(output=2 * given)
    else:
        __SLIP__
"""
DOUBLE = VectorFile("double", 0.0, tuple(Case(f"of {n}", n, 2 * n) for n in (1, 2, 3, 4, 5)))

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a Python program; the command that runs it."""

    def written(code: str) -> str:
        path = tmp_path / "a port.py"
        path.write_text(code, "utf-8")
        return shlex.join([sys.executable, str(path)])

    return written


@pytest.fixture
def slipping(write: Write) -> Callable[..., list[Verdict]]:
    """Judge the port of "double" that does this when it is asked for the double of 3."""

    def judged(slip: str, *, timeout_s: float = 20.0) -> list[Verdict]:
        return judge(PortProgram(write(PORT.replace("__SLIP__", slip)), timeout_s), [DOUBLE])

    return judged


def every_case() -> int:
    return sum(len(file.cases) for file in load_vectors())


@pytest.fixture
def conformance(invoke: Invoke) -> Invoke:
    return lambda *args: invoke("conformance", "vectors", *args)


def outcomes(report: list[Verdict]) -> list[str]:
    return [str(verdict.outcome) for verdict in report]


def test_our_own_implementation_conforms(conformance: Invoke, write: Write) -> None:
    """Every case of every file passes, through the protocol."""
    done = conformance("--json", "--cmd", write(OURS))

    report = json.loads(done.stdout)
    assert done.exit_code == 0
    assert report["conforms"] and not report["failures"]
    assert set(report["policies"]) == POLICIES
    assert all(counts["passed"] == sum(counts.values()) for counts in report["policies"].values())


@needs_node
def test_the_example_passes_what_it_implements(conformance: Invoke) -> None:
    """The port in JavaScript passes two files, and says of the others that it has none."""
    done = conformance("--json", "--cmd", f"node {shlex.quote(str(EXAMPLE))}")

    policies = json.loads(done.stdout)["policies"]
    assert done.exit_code == 0
    assert {name for name, counts in policies.items() if counts["passed"]} == {"mmr", "rrf"}
    assert {name for name, counts in policies.items() if counts["unsupported"]} == POLICIES - {"mmr", "rrf"}


@needs_node
def test_a_defect_in_the_example_is_found(conformance: Invoke, tmp_path: Path) -> None:
    """Another damping is another answer: each case that it changes is shown, with the place."""
    defect = tmp_path / "port.mjs"
    defect.write_text(EXAMPLE.read_text("utf-8").replace("DAMPING = 60", "DAMPING = 50"), "utf-8")

    done = conformance("--cmd", f"node {shlex.quote(str(defect))}", "--only", "rrf")

    assert done.exit_code == 7
    assert "FAIL  rrf: one leg, one key\n" in done.stdout
    assert '      input: {"rankings": {"lexical": ["a"]}}\n' in done.stdout
    assert '"$[0][1]: expected 0.066393, got 0.0696' in done.stdout
    assert "rrf: small k" not in done.stdout
    assert "\n10 cases: " in done.stdout


@pytest.mark.parametrize("slip", ["answered = True", "os.system('sleep 60')"])
def test_silence_costs_the_time_out(slipping: Callable[..., list[Verdict]], slip: str) -> None:
    """A program that hangs, or that waits for what it has started, is killed and started anew."""
    began = monotonic()

    report = slipping(slip, timeout_s=2.0)

    assert outcomes(report) == ["passed", "passed", "failed", "passed", "passed"]
    assert "no answer within 2 s; is every line ended and flushed" in next(
        verdict.reason for verdict in report if verdict.reason
    )
    assert monotonic() - began < 40


def test_a_program_that_never_answers_is_given_up(conformance: Invoke, write: Write) -> None:
    """Three losses are enough to know, over all policies; nobody waits for five hundred."""
    done = conformance("--cmd", write("import sys; sys.exit('no such module')"))

    assert done.exit_code == 7
    assert done.stdout.count("FAIL") == done.stdout.count("no such module") == 3
    assert f"\n{every_case():,} cases: 0 passed, 3 failed, 0 unsupported" in done.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "--cmd"),
        (("--cmd", ""), "is empty"),
        (("--cmd", "no-such-program-here"), "cannot be started"),
        (("--cmd", "node 'port"), "it is no command"),
        (("--cmd", "node", "--only", "rff"), "--only 'rff' is not known"),
        (("--cmd", "node", "--timeout", "0"), "--timeout"),
    ],
)
def test_bad_usage(conformance: Invoke, args: tuple[Any, ...], said: str) -> None:
    """What cannot be begun ends with 2 and a sentence."""
    done = conformance(*args)

    assert done.exit_code == 2
    assert said in done.stderr


def test_pytest_is_not_needed(write: Write, environ: dict[str, str], home: Path) -> None:
    """The command works where clawmem was installed without the extra for contracts."""
    code = (
        "import sys; sys.modules['pytest'] = None\n"
        "from clawmem.app.interfaces.cli import command_line\n"
        "command_line.cli()"
    )
    command = [sys.executable, "-c", code, "conformance", "vectors", "--cmd", write(PORT), "--only", "rrf"]

    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=home, env=environ)

    assert done.returncode == 7, done.stderr
    assert "10 cases: 0 passed" in done.stdout
