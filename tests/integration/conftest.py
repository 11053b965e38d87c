from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import addressed_notes
import pytest
from client_files import SOMEBODY
from command_line import Invoke, invoke_in, write_file, write_notes
from command_process import Run, run_process, write_program
from embedding_shelf import Shelf
from filelock import FileLock
from graph_vault import Remembering
from hook_process import Answered, Hook, ask_inside
from interface_world import InterfaceWorld, interface_world
from notes_vault import STORIES, NotesVault
from process_environ import process_environ
from scripted_server import Models

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.indexing import embed
from clawmem.app.settings.model import load_settings
from clawmem.ports.vault import Vault

NOTES = {
    "decisions/2026-02-11-redis.md": "# Keep sessions in Redis\n\nLogin sessions live in Redis for 14 days.\n",
    "decisions/2026-06-09-postgres.md": "# Move sessions to Postgres\n\nOne database is enough for us.\n",
    "people/haruka.md": "---\ntags: [team]\n---\n# Haruka Mori\n\nDesigns ticket machines.\n\nCounts seconds.\n",
}

ROOT = Path(__file__).parents[2]
NOT_SOURCE = shutil.ignore_patterns(
    *(".git", ".venv", ".links", ".*_cache", ".hypothesis", "__pycache__"),
    *("build", "dist", "*.egg-info", "*.sqlite*", "_version.py"),
)
ALIKE = 14  # notes of `many` about one subject


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a tree without git, as in an unpacked archive, which lies next to it; built once for all workers."""
    pytest.importorskip("uv")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheel"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            shutil.copytree(ROOT, folder / "checkout", ignore=NOT_SOURCE)
            uv = (
                Path(sys.executable).with_name("uv"),
                "build",
                "--offline",
                "--no-build-isolation",
                "--quiet",
            )
            options = ("--wheel", "--python", sys.executable, "--out-dir", folder)
            environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
            subprocess.run([*uv, *options, folder / "checkout"], check=True, env=environ)
    return next(folder.glob("*.whl"))


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with closing(open_vault(str(tmp_path / "vault.sqlite"))) as vault:
        yield vault


@pytest.fixture
def notes_vault(tmp_path: Path) -> Iterator[NotesVault]:
    """An empty folder of notes and an empty vault over it."""
    with closing(NotesVault(tmp_path)) as made:
        yield made


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def models() -> Iterator[Models]:
    """Adapters and servers that end with the test."""
    with ExitStack() as stack:
        yield Models(stack)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def settings(home: Path) -> Path:
    file = home / ".claude" / "settings.json"
    write_file(file, SOMEBODY)
    return file


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    write_notes(folder, NOTES)
    return folder


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    """What a process of clawmem sees: no variable of this machine's user."""
    return process_environ(home, USERPROFILE=str(home), NO_COLOR="1", CLAWMEM_NO_SERVER="1")


@pytest.fixture
def run(home: Path, environ: dict[str, str]) -> Run:
    """Run ``clawmem`` as a process of its own, in the empty home."""

    def start(*args: object, fresh: bool = False, **extra: str) -> subprocess.CompletedProcess[str]:
        return run_process(*args, environ={**environ, **extra}, cwd=home, fresh=fresh)

    return start


@pytest.fixture
def invoke(home: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``clawmem`` inside of this process, in the empty home; quicker, where the process is no matter."""
    return invoke_in(home, environ, monkeypatch)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembering]:
    """A vault whose graphs can be made and asked."""
    made = Remembering(tmp_path)
    yield made
    made.vault.close()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program ``clawmem``, as the plugin of another program finds it."""
    file = write_program(tmp_path / "clawmem")
    monkeypatch.setenv("CLAWMEM_BIN", str(file))
    return file


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """The stories with vectors of the first model; from here on a batch is one text."""
    made = Shelf(tmp_path)
    made.add(STORIES)
    made.embed(HashingEmbedder())
    monkeypatch.setattr(embed, "BATCH", 1)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "lancedb"])
def kept(shelf: Shelf, request: pytest.FixtureRequest) -> Shelf:
    """The same with every kind of vector index."""
    if request.param == "lancedb":
        pytest.importorskip("lancedb")
        shelf.indexes.move("lancedb")
    return shelf


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the notes, and with a home whose vault holds them; to be copied."""
    place = tmp_path_factory.mktemp("prepared")
    write_notes(place / "notes", NOTES)
    (place / "home").mkdir()
    environ = process_environ(place / "home", CLAWMEM_NO_SERVER="1")
    run_process("bootstrap", place / "notes", environ=environ, cwd=place / "home", check=True)
    return place


@pytest.fixture
def bootstrapped(prepared: Path, home: Path, notes: Path) -> Path:
    """The home with a vault that holds the notes, with their vectors."""
    shutil.copytree(prepared / "home", home, dirs_exist_ok=True)
    for path in NOTES:
        shutil.copystat(prepared / "notes" / path, notes / path)
    config = home / ".config/clawmem/config.yaml"
    config.write_text(config.read_text("utf-8").replace(str(prepared / "notes"), str(notes)), "utf-8")
    return home


@pytest.fixture
def remembered(bootstrapped: Path, invoke: Invoke) -> Invoke:
    """``invoke`` over a vault that holds the notes, with their vectors."""
    return invoke


@pytest.fixture(scope="module")
def indexed_home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose vault holds the `NOTES` of the module, with their vectors; to be copied."""
    place = tmp_path_factory.mktemp("indexed")
    write_notes(place / "notes", request.module.NOTES)
    environ = process_environ(place, CLAWMEM_NO_SERVER="1")
    run_process("bootstrap", place / "notes", environ=environ, cwd=place, check=True)
    return place


@pytest.fixture
def indexed(indexed_home: Path, home: Path, invoke: Invoke) -> Invoke:
    """``invoke`` over a vault with vectors of the `NOTES` of the module, in the collection ``notes``."""
    shutil.copytree(indexed_home, home, dirs_exist_ok=True)
    return invoke


@pytest.fixture(scope="module")
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InterfaceWorld]:
    """The same notes in a home of their own, asked through every interface."""
    home = tmp_path_factory.mktemp("world")
    write_notes(home / "notes", request.module.NOTES)
    with interface_world(home) as made:
        yield made


@pytest.fixture
def addressed(invoke: Invoke, tmp_path: Path) -> Invoke:
    """``invoke`` over a vault that holds the notes of `addressed_notes`."""
    write_notes(tmp_path, addressed_notes.NOTES)
    assert invoke("bootstrap", tmp_path / "work", "--skip-embed").exit_code == 0
    return invoke


@pytest.fixture
def services(addressed: Invoke) -> Iterator[Services]:
    with open_services(load_settings()) as opened:
        yield opened


@pytest.fixture
def vault_file(home: Path) -> Path:
    return home / ".cache" / "clawmem" / "index.sqlite"


@pytest.fixture
def hook(environ: dict[str, str]) -> Hook:
    """A client's call of one hook of a session."""

    def call(name: str, happening: str, **fields: Any) -> Answered:
        event = {"session_id": "5f0c", "hook_event_name": happening, "cwd": "/", **fields}
        return ask_inside(environ, name, event)

    return call


@pytest.fixture
def many(notes: Path, remembered: Invoke) -> Invoke:
    """``invoke`` over a vault of seventeen notes, fourteen of which are about the same."""
    for number in range(ALIKE):
        name = f"2026-{number % 12 + 1:02}-07-review-of-the-session-store-{number}.md"
        text = f"Redis sessions, point {number}: {'the store is slow. ' * (number + 1)}"
        write_file(notes / "meetings" / name, f"# Review {number}\n\n{text}\n")
    assert remembered("update").exit_code == 0
    return remembered
