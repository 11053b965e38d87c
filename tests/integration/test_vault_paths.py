"""Vault paths that lead to something else than a vault."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from command_line import Invoke, configure
from command_process import Run


def of_another_program(place: Path) -> Path:
    """A database that clawmem did not make."""
    with sqlite3.connect(place) as connection:
        connection.execute("create table moz_places (url text)")
    connection.close()
    return place


def a_text(place: Path) -> Path:
    """A file that is no database."""
    place.write_text("root:x:0:0:root:/root:/bin/sh\n" * 200, "utf-8")
    return place


def a_folder(place: Path) -> Path:
    """A folder."""
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


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_vault_is_not_the_usual_one(remembered: Invoke, run: Run, empty: str) -> None:
    """An unset variable of a script: refused, also where a server would answer or a client connects."""
    for command in (("status",), ("search", "redis"), ("mcp",)):
        refused = run(*command, "--vault", empty)

        assert refused.returncode == 2
        assert "--vault is empty" in refused.stderr


@pytest.mark.parametrize("is_one_word", [True, False])
def test_advice_names_the_chosen_vault(
    invoke: Invoke, notes: Path, tmp_path: Path, is_one_word: bool
) -> None:
    """Commands in errors, remarks and texts can be copied; a note that quotes a command stays as it is."""
    vault = tmp_path / "my notes.sqlite"
    option = [f"--vault={vault}"] if is_one_word else ["--vault", str(vault)]
    named = f"clawmem --vault '{vault}' "
    (notes / "advice.md").write_text("# Vectors\n\nRun: clawmem embed\n", "utf-8")

    missing = invoke(*option, "search", "x")
    read = invoke(*option, "bootstrap", notes, "--skip-embed")
    asked = invoke(*option, "query", "vectors")
    failed = invoke("query", "--mode", "vectors", "x", *option, "--json")

    assert f"Run: {named}bootstrap PATH" in missing.stderr
    assert f"Next: {named}embed" in read.stdout and f"Next: {named}query" in read.stdout
    assert f"run: {named}embed" in invoke(*option, "status").stdout
    assert f"Run: {named}embed" in asked.stderr
    assert "Run: clawmem embed" in asked.stdout
    assert f"Run: {named}embed" in json.loads(failed.stdout)["error"]
    assert "Run: clawmem embed" in invoke("--vault", vault, "get", "advice.md").stdout


def test_advice_for_a_named_vault(invoke: Invoke, notes: Path, home: Path, tmp_path: Path) -> None:
    """A command on the folders of the config file, which such a vault refuses, is recommended without it."""
    assert invoke("bootstrap", notes).exit_code == 0
    configure(home, f"autoEmbed: false\nvaults: {{work: {tmp_path}/work.sqlite}}")
    (home / "work").mkdir()
    (home / "work/plan.md").write_text("# Plan\n\nText.\n", "utf-8")
    assert invoke("vault", "sync", "work", home / "work").exit_code == 0

    assert (
        "Run: clawmem --vault work embed"
        in invoke("--vault", "work", "query", "--mode", "vectors", "x").stderr
    )
    assert "--vault work vault" not in invoke("--vault", "work", "update").stderr
