"""Every command: help, answers in both forms, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from command_line import Invoke, assert_refused
from typer.main import get_command

from clawmem.app.interfaces.cli.command_line import cli


def every_command() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    root = cast(Any, get_command(cli))
    for verb in root.list_commands(None):
        below = getattr(root.get_command(None, verb), "commands", {})
        found += [(verb,), *((verb, name) for name in below)]
    return found


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_every_command_has_help(invoke: Invoke, command: tuple[str, ...]) -> None:
    """Each verb says what it does, and that the global options may stand behind it."""
    shown = invoke(*command, "--help")

    assert shown.exit_code == 0
    assert len(shown.output.split("\n\n")[1].strip()) > 15
    assert "[OPTIONS] [[" not in shown.output
    assert "--vault" in shown.output or len(command) == 2


def test_the_root_help_lists_verbs_and_exit_codes(invoke: Invoke) -> None:
    """``clawmem`` alone shows its help."""
    shown = invoke()

    assert shown.exit_code == 0
    assert shown.output == invoke("help", "--all").output == invoke("-h").output == invoke("--help").output
    assert "why [OPTIONS] [ID|FILE]" in invoke("help", "why").output
    assert invoke("help", "search").output == invoke("search", "-h").output
    assert "Exit codes: 0 done" in shown.output
    assert all(f"  {verb[0]} " in shown.output for verb in every_command())
    assert "..." not in shown.output.partition("First steps")[2]  # no line is cut


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("serch",), 2, "Did you mean 'search'"),
        (("delete", "a.md"), 2, "No such command 'delete'. Run: clawmem --help"),
        (("index", "notes"), 2, "Did you mean 'bootstrap'"),
        (("tasks",), 2, "Did you mean 'list --tasks'?"),
        (("multi-get", "a", "b"), 2, "Did you mean 'get'?"),
        (("collection", "ad"), 2, "Did you mean 'add'?"),
        (("search",), 2, "QUESTION"),
        (("search", "x", "--nope"), 2, "--nope"),
        (("search", "x", "-n", "many"), 2, "--limit"),
        (("search", "x", "-n", "3", "--limit", "4"), 2, "--limit takes one value"),
        (("status", "--vault", "a.sqlite", "--vault=b.sqlite"), 2, "--vault takes one value"),
        (("timeline", "haruka.md", "--before", "21"), 2, "less than or equal to 20"),
        (("query", "--mode", "plan", " "), 2, "empty"),
        (("surface", ""), 2, "PROMPT is empty"),
        (("why", "-5"), 2, "Write -- before a text"),
        (("models", "add", "better"), 3, "clawmem models use better"),
        (("import", "basic-memory", __file__), 2, "its folder is needed"),
        (("status", "more"), 2, "status --help"),
        (("search", "x", "--unit", "word"), 2, "--unit must be 'document' or 'line'"),
        (("search", "x", "-c", "nope"), 3, "Did you mean: notes"),
        (("search", "x", "--backend", "nope"), 4, "Known are: lancedb, sqlite, tantivy"),
        (("get", "clawmem://notes/../secret"), 2, ".."),
        (("collection", "add", "missing"), 2, "does not exist"),
        (("collection", "add", ".", "--name", "a b"), 2, "letters"),
        (("collection", "add", ".", "--name", "_clawmem"), 2, "reserved"),
        (("collection", "add", ".", "--pattern", "x" * 1001), 2, "1000"),
        (("collection", "remove", "nope"), 3, "All collections: clawmem collection list"),
        (("bench", "retrieval", "."), 2, "no judged collection"),
        (("bench", "retrieval", ".", "--mode", "magic"), 2, "words, vectors, hybrid"),
    ],
)
def test_a_refusal_is_one_sentence(remembered: Invoke, args: tuple[str, ...], code: int, said: str) -> None:
    """Bad input leaves with its code, one line on stderr that names the way out, and nothing on stdout."""
    assert_refused(remembered(*args), said, code)


def test_global_options_stand_anywhere(remembered: Invoke) -> None:
    """``--json`` before the verb, behind it, or behind its words: the same answer."""
    answers = {
        remembered(*args).stdout
        for args in (
            ("--json", "search", "sessions"),
            ("search", "--json", "sessions"),
            ("search", "sessions", "--json"),
        )
    }

    assert len(answers) == 1
    assert json.loads(answers.pop())["results"][0]["collection"] == "notes"


def test_nothing_found_is_no_error(remembered: Invoke) -> None:
    """No answer is said in words, or is an empty list that nobody judged; both leave with 0."""
    plain, as_json = remembered("search", "xylophone"), remembered("search", "xylophone", "--json")

    assert (plain.exit_code, as_json.exit_code) == (0, 0)
    assert "Nothing found for: xylophone" in plain.stdout
    assert json.loads(as_json.stdout) == {
        "query": "xylophone",
        "count": 0,
        "answered": None,
        "hidden": 0,
        "results": [],
        "degraded": {},
    }


def test_pull_runs_the_command_in_the_folder(remembered: Invoke, notes: Path, home: Path) -> None:
    """--pull runs what the config says before reading; a failure skips that collection and leaves with 1."""
    config = home / ".config/clawmem/config.yaml"
    told = config.read_text("utf-8")
    config.write_text(told + "    update: echo '# Pulled' > pulled.md\n", "utf-8")
    good = remembered("update", "--pull")
    config.write_text(told + "    update: echo gone wrong >&2; exit 3\n", "utf-8")
    bad = remembered("update", "--pull")

    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert "1 added" in good.stdout
    assert "skipped: " in bad.stdout
    assert "ended with 3: gone wrong" in bad.stdout


def test_a_note_cannot_drive_the_terminal(invoke: Invoke, notes: Path) -> None:
    """Escape sequences of a note are shown as what they are."""
    (notes / "evil.md").write_text("# Evil \x1b[2J\n\nxylophone \x1b]0;owned\x07 here\n", "utf-8")
    invoke("bootstrap", notes, "--skip-embed")

    shown = invoke("search", "xylophone").stdout

    assert "xylophone" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown
