"""Nobody but the owner can read the vault, its indexes, or what hooks keep next to it, whatever the umask."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Invoke, write_file
from hook_process import ask, transcript

from clawmem.app.environment.private_files import write_whole


@pytest.fixture(autouse=True)
def generous() -> Iterator[None]:
    """A umask that withholds nothing; hook processes inherit it."""
    before = os.umask(0)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    places = [folder, *folder.rglob("*")]
    return [str(place) for place in places if place.lstat().st_mode & 0o077]


@pytest.fixture
def desk(home: Path) -> Path:
    write_file(home / "desk" / "lamp.md", "# Lamp\n\nThe lamp on the desk is green.\n")
    return home / "desk"


@pytest.mark.parametrize("backend", ["sqlite", "tantivy", "lancedb"])
def test_indexes_are_private(invoke: Invoke, home: Path, desk: Path, backend: str) -> None:
    """New ones are made so, and the next command that writes takes the rights of others from existing ones."""
    if backend != "sqlite":
        pytest.importorskip(backend)
    made = invoke("--backend", backend, "bootstrap", desk)
    assert made.exit_code == 0, made.output
    store = home / ".cache" / "clawmem"
    assert (store / "index.sqlite.indexes").exists() == (backend != "sqlite")
    assert readable_by_others(store) == []

    for place in store.rglob("*"):
        place.chmod(0o755 if place.is_dir() else 0o644)
    (desk / "chair.md").write_text("# Chair\n\nThe chair is red.\n", "utf-8")
    assert invoke("update").exit_code == 0

    assert readable_by_others(store) == []
    assert "chair" in invoke("search", "chair").stdout


def test_doctor_says_what_others_could_read(invoke: Invoke, home: Path, desk: Path) -> None:
    """And makes it private; the second time nothing is left to say."""
    invoke("--backend", "tantivy", "bootstrap", desk)
    store = home / ".cache" / "clawmem"
    hooks, topics = store / "index.sqlite.hooks", store / "sessions"
    for folder in (hooks, topics):
        write_file(folder / "log", "The lamp is green.\n")
        (folder / "log").chmod(0o644)

    first, second = invoke("doctor"), invoke("doctor")

    assert f"other users could read {hooks}, " in first.stdout
    assert "only you can read the vault and the files next to it" in second.stdout
    assert readable_by_others(store) == []


def test_the_config_file_is_private(invoke: Invoke, home: Path, desk: Path) -> None:
    """It may hold keys: a new one and its folders are for their owner alone, and rewriting widens nothing."""
    config = home / ".config/clawmem/config.yaml"
    assert invoke("vault", "init").exit_code == 0
    assert invoke("collection", "add", desk).exit_code == 0
    assert readable_by_others(home / ".config") == []

    for mode in (0o600, 0o640):
        config.chmod(mode)
        (home / f"desk{mode}").mkdir()
        assert invoke("collection", "add", home / f"desk{mode}").exit_code == 0
        assert config.stat().st_mode & 0o777 == mode


def test_what_hooks_keep_is_private(invoke: Invoke, environ: dict[str, str], home: Path, desk: Path) -> None:
    """The spool, the fingerprints of what was told, and the diary of errors."""
    invoke("bootstrap", desk)
    said = transcript(home / "said.jsonl", ("Which colour?", "We decided on green because it is calm."))
    told = {"session_id": "5f0c", "cwd": str(home), "transcript_path": str(said)}

    ask(environ, home, "context-surfacing", {
        **told, "hook_event_name": "UserPromptSubmit", "prompt": "which colour has the lamp on the desk?",
    })  # fmt: skip
    ask(environ, home, "decision-extractor", {**told, "hook_event_name": "Stop"})

    store = home / ".cache" / "clawmem"
    assert (store / "index.sqlite.hooks").is_dir()
    assert readable_by_others(store) == []


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    """A pipe or a device in the place of the file stays what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="not a file"):
        write_whole(pipe, b"text")
    assert pipe.is_fifo()
