"""Vault paths that lead to something else than a vault."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from command_line import Invoke
from command_process import Run


def of_another_program(place: Path) -> Path:
    """A database that clawmem did not make."""
    with sqlite3.connect(place) as connection:
        connection.execute("create table moz_places (url text)")
    connection.close()
    return place


def a_text(place: Path) -> Path:
    place.write_text("root:x:0:0:root:/root:/bin/sh\n" * 200, "utf-8")
    return place


def a_folder(place: Path) -> Path:
    place.mkdir()
    return place


@pytest.mark.parametrize("make", [of_another_program, a_text, a_folder])
@pytest.mark.parametrize("command", [("status",), ("search", "x"), ("update",), ("doctor",)])
def test_the_remedy_is_to_check_the_path(
    invoke: Invoke, tmp_path: Path, make: object, command: tuple[str, ...]
) -> None:
    """Never to move the file of another program aside; it stays as it is."""
    place = make(tmp_path / "something")  # type: ignore[operator]
    before = place.read_bytes() if place.is_file() else sorted(place.iterdir())

    refused = invoke("--json", "--vault", place, *command)

    assert refused.exit_code == 5
    record = json.loads(refused.stdout)
    assert record["code"] == "NOT_A_VAULT"
    assert str(place) in record["error"] and "Check the path" in record["error"]
    assert "aside" not in record["error"]
    assert before == (place.read_bytes() if place.is_file() else sorted(place.iterdir()))


def test_no_folder_is_made_for_a_mistyped_path(invoke: Invoke, tmp_path: Path) -> None:
    """Only the usual one is; the remedy is to make it."""
    missing = tmp_path / "missing"
    for command in (("bootstrap", tmp_path), ("collection", "add", tmp_path), ("vault", "init"), ("update",)):
        refused = invoke("--vault", missing / "v.db", *command)
        assert (refused.exit_code, missing.exists()) == (5, False), command
        assert f"mkdir -p {missing}" in refused.stderr
    assert "Part of its path is a file" in invoke("--vault", a_text(missing) / "v.db", "search", "x").stderr
    assert invoke("vault", "init").exit_code == 0
    with sqlite3.connect(tmp_path / "no_tables.db") as empty:
        empty.execute("vacuum")
    assert "no_tables.db bootstrap PATH" in invoke("--vault", tmp_path / "no_tables.db", "status").stderr


def test_no_vault_gets_the_name_of_a_note(invoke: Invoke, tmp_path: Path) -> None:
    """A vault among the notes would be read as one; nothing is left."""
    for command in (("bootstrap", tmp_path), ("mine", tmp_path), ("vault", "init")):
        refused = invoke("--vault", tmp_path / "plan.MD", *command)
        assert (refused.exit_code, "name of a note" in refused.stderr) == (5, True), command
    assert not [*tmp_path.glob("plan*")]


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_vault_is_not_the_usual_one(remembered: Invoke, run: Run, empty: str) -> None:
    """An unset variable of a script: refused, also where a server would answer or a client connects."""
    for command in (("status",), ("search", "redis"), ("mcp",)):
        refused = run(*command, "--vault", empty)

        assert refused.returncode == 2
        assert "--vault is empty" in refused.stderr
    for words in ("setup", "setup hooks --with", "bench retrieval", "serve --host", "--json --backend"):
        refused = run(*words.split(), empty)
        assert (refused.returncode, "is empty" in refused.stderr) == (2, True), words
