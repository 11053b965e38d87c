"""Somebody else's package against the wheel, in an environment where there is no checkout."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "third_party" / "acme-memory"
NOT_SOURCE = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")

# A lease that lives a millisecond too long, and tokens that are given twice.
BROKEN = {
    "test_current_is_the_live_lease",
    "test_every_history_follows_the_rules",
    "test_expiry_is_exclusive",
    "test_late_release_spares_the_new_holder",
    "test_live_lease_passes",
    "test_no_token_is_given_twice",
    "test_old_token_is_lost",
}

Process = subprocess.CompletedProcess[str]
Judged = dict[str, dict[str, bool]]
Clawmem = Callable[..., Process]


pytestmark = pytest.mark.skipif(not find_spec("setuptools_scm"), reason="needs setuptools-scm to build")


def run(*command: object, cwd: Path) -> Process:
    """A process that sees nothing of how this run finds its packages."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return subprocess.run(
        list(map(str, command)),
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**kept, "HOME": str(cwd), "NO_COLOR": "1"},
    )


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment in which both wheels are installed, and what they need can be found."""
    folder = tmp_path_factory.mktemp("acme")
    shutil.copytree(PROJECT, folder / "checkout", ignore=NOT_SOURCE)
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", folder)
    done = run(sys.executable, "-m", "pip", "wheel", *options, folder / "checkout", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    wheels = [wheel, *folder.glob("*.whl")]
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, symlinks=True)
    interpreter = place / "bin" / "python"
    options = ("--no-deps", "--no-index", "--no-compile", "--quiet")
    done = run(sys.executable, "-m", "pip", "--python", interpreter, "install", *options, *wheels, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    (packages,) = place.glob("lib/python*/site-packages")
    # Behind its own packages. The links of an editable clawmem are not followed from there.
    others = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    (packages / "others.pth").write_text("".join(f"{entry}\n" for entry in others), "utf-8")
    return interpreter


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project's tests, without the source that was installed."""
    folder = tmp_path_factory.mktemp("project") / "acme-memory"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("src", "__pycache__"))
    return folder


@pytest.fixture(scope="module")
def judged(python: Path, project: Path) -> Judged:
    """Run the project's tests of its leases: whether each of a class passed."""
    report, classes = project / "report.xml", ("TestJsonLeases", "TestCarelessLeases")
    options = ("-p", "no:cacheprovider", f"--junitxml={report}", "-k", "Leases")
    done = run(python, "-m", "pytest", *options, project / "tests", cwd=project)
    assert report.exists(), done.stdout + done.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))
    return {
        name: {
            str(case.get("name")): len(case) == 0
            for case in cases
            if str(case.get("classname")).endswith(name)
        }
        for name in classes
    }


@pytest.fixture
def clawmem(python: Path, tmp_path: Path) -> Clawmem:
    """Run the installed command, in an empty home."""
    return lambda *args: run(python.parent / "clawmem", *args, cwd=tmp_path)


def test_a_good_adapter_passes(judged: Judged) -> None:
    """A contract over one fixture: every test of it is run, and passes."""
    passed = judged["TestJsonLeases"]

    assert set(passed) > BROKEN
    assert {name for name, good in passed.items() if not good} == set()


def test_a_wrong_adapter_fails(judged: Judged) -> None:
    """The tests that fail are those of the promises that it breaks."""
    assert {name for name, good in judged["TestCarelessLeases"].items() if not good} == BROKEN


def test_the_vectors_are_in_the_wheel(clawmem: Clawmem, tmp_path: Path) -> None:
    """A port is judged by an installed clawmem, without the repository."""
    code = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'unsupported': True}), flush=True)\n"
    )
    (tmp_path / "port.py").write_text(code, "utf-8")

    done = clawmem("conformance", "vectors", "--json", "--cmd", shlex.join([sys.executable, "port.py"]))

    assert done.returncode == 0, done.stderr
    files = {path.stem for path in (ROOT / "contracts" / "vectors").glob("*.json")}
    assert set(json.loads(done.stdout)["policies"]) == files


def test_a_backend_is_found_by_its_name(clawmem: Clawmem, tmp_path: Path) -> None:
    """``--backend acme`` is enough: words are kept and found by the engine of the other package."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "queue.md").write_text("# Queue\n\nThe retry queue drains at night.\n", "utf-8")
    for step in (("bootstrap", "notes", "--skip-embed"), ("search", "retry queue")):
        done = clawmem("--backend", "acme", *step)
        assert done.returncode == 0, done.stderr

    assert done.stdout.startswith("notes/queue.md:")
    (kept,) = tmp_path.rglob("index.json")
    assert "retry queue drains" in kept.read_text("utf-8").lower()
