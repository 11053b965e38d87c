from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Invoke, invoke_in, write_notes
from command_process import run_process
from fault_worlds import ServedWorld, World
from hook_process import NOTES, Client
from process_environ import process_environ

NOBODY = 65534


@pytest.fixture
def vault_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the lanes of a process without local models find their vault."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAWMEM_NO_LOCAL_MODELS", "true")
    return tmp_path / "vault.sqlite"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedWorld]:
    """An empty folder and an empty vault, as every command opens it."""
    made = ServedWorld(tmp_path)
    yield made
    made.vault.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An empty folder and an empty vault."""
    made = World(tmp_path)
    yield made
    made.vault.close()


@pytest.fixture
def worlds(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Makes worlds that share the folder ``notes``, each with a vault of its own name."""
    made: list[World] = []

    def make(name: str) -> World:
        made.append(World(tmp_path, tmp_path / f"{name}.sqlite"))
        return made[-1]

    yield make
    for one in made:
        one.vault.close()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """What a process of clawmem sees: a home of its own, and no variable of this machine's user."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return {**_environ_of(home), "INDEX_PATH": str(tmp_path / "vault.sqlite")}


def _environ_of(home: Path) -> dict[str, str]:
    return process_environ(home, USERPROFILE=str(home), NO_COLOR="1", CLAWMEM_NO_SERVER="1")


@pytest.fixture(scope="session")
def remembering_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a vault of a few notes and their vectors; to be copied."""
    home = tmp_path_factory.mktemp("home")
    write_notes(home / "notes", NOTES)
    run_process("bootstrap", "notes", environ=_environ_of(home), cwd=home, check=True)
    return home


@pytest.fixture
def client(remembering_home: Path, tmp_path: Path) -> Iterator[Client]:
    """A client over a vault of a few notes."""
    home = tmp_path / "home"
    shutil.copytree(remembering_home, home)
    made = Client(home, _environ_of(home))
    yield made
    made.close()


@pytest.fixture
def invoke(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``clawmem`` inside of this process over ``vault.sqlite``; the collection ``notes`` is configured."""
    configure(tmp_path)
    return invoke_in(tmp_path / "home", environ, monkeypatch)


def configure(place: Path) -> None:
    """Write down the collection ``notes`` for a home next to it."""
    config = place / "home/.config/clawmem/config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    folder = str(place / "notes").replace("'", "''")
    config.write_text(f"collections:\n  notes:\n    path: '{folder}'\n", "utf-8")


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder, and this process without the rights of a superuser, which permissions mean nothing to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        was = os.geteuid()
        if was == 0:
            os.chown(folder, NOBODY, -1)
            try:
                os.seteuid(NOBODY)
            except OSError:
                pytest.skip("this superuser cannot step down")
        try:
            yield folder
        finally:
            os.seteuid(was)
            for path in [folder, *folder.rglob("*")]:
                path.chmod(0o700)
