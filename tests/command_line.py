"""The command line inside of a test, as the fixture ``invoke`` offers it, and the notes that it reads."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from typer.testing import CliRunner, Result

Invoke = Callable[..., Result]


def invoke_in(home: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """
    Return what runs a command inside of this process, in *home* and with no variable of this machine's user.

    Its first argument may be several words, such as ``query --mode=vectors``.
    """
    from clawmem.app.interfaces.cli.command_line import cli

    for name in [name for name in os.environ if name.startswith(("CLAWMEM_", "XDG_", "INDEX_PATH"))]:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home)

    def invoke(*args: object) -> Result:
        first = [str(word) for word in args[:1]]
        words = [word for text in first for word in ([text] if text.startswith("-") else text.split())]
        return CliRunner().invoke(cli, [*words, *map(str, args[1:])])

    return invoke


def write_notes(folder: Path, notes: Mapping[str, str]) -> None:
    """Write *notes*, texts by path, below *folder*."""
    for path, text in notes.items():
        write_file(folder / path, text)


def write_file(file: Path, text: str) -> Path:
    """Write *file*, and the folders that it lies in; return it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def configure(home: Path, text: str) -> None:
    config = home / ".config/clawmem/config.yaml"
    before = config.read_text("utf-8") if config.exists() else ""
    write_file(config, f"{before}{text}\n")


def age_documents(home: Path, pattern: str = "*") -> None:
    """Let the documents at paths that match *pattern* be read into the vault of *home* in September 2020."""
    with closing(apsw.Connection(str(home / ".cache/clawmem/index.sqlite"))) as vault:
        vault.execute("update documents set indexed_at = '2020-09-13' where path glob ?", (pattern,))


def assert_refused(done: Result, said: str, code: int = 5) -> None:
    """Assert that a command left with *code*, one sentence with *said* on stderr, and nothing else."""
    assert done.exit_code == code, done.output
    assert done.stderr.startswith("clawmem: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert not done.stdout


def read_json(done: Result) -> Any:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def found_paths(invoke: Invoke, *arguments: object) -> list[str]:
    """Return the paths of the documents that a command finds, best first."""
    return [one["path"] for one in ask_json(invoke, *arguments)["results"]]


def ask_json(invoke: Invoke, *arguments: object) -> Any:
    """Return what a command prints with ``--json``; fails if the command does."""
    return read_json(invoke(*arguments, "--json"))


def kept_receipts(vault_file: Path) -> list[tuple[int, int]]:
    """Return the answers whose receipts a vault keeps, and the bytes of each."""
    db = apsw.Connection(str(vault_file))
    rows = db.execute("select recall_id, length(content) from receipts order by recall_id").fetchall()
    db.close()
    return rows
