"""Every command: help, answers in both forms, and what it says when it cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from command_line import Invoke, assert_refused, write_file
from typer.main import get_command

from clawmem.app.interfaces.cli.command_line import cli, hoisted


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
    assert "--vault" in shown.output or len(command) == 2


def test_the_root_help_lists_verbs_and_exit_codes(invoke: Invoke) -> None:
    """``clawmem`` alone shows its help."""
    shown = invoke()

    assert shown.exit_code == 0
    assert shown.output == invoke("help").output == invoke("-h").output == invoke("--help").output
    assert invoke("help", "search").output == invoke("search", "-h").output
    assert "Exit codes: 0 done" in shown.output
    every = invoke("help", "--all").output
    assert all(f"  {verb[0]} " in every for verb in every_command())
    assert "..." not in every.partition("First steps")[2]  # no line is cut
    assert "clawmem help --all" in shown.output
    assert "  conformance " not in shown.output


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("serch",), 2, "Did you mean: search"),
        (("collection", "ad"), 2, "Did you mean: add"),
        (("search",), 2, "QUESTION"),
        (("search", "x", "--nope"), 2, "--nope"),
        (("search", "x", "-n", "many"), 2, "--limit"),
        (("vsearch", "x", "--floor", "0.5"), 2, "Ask with query"),
        (("timeline", "haruka.md", "--before", "21"), 2, "less than or equal to 20"),
        (("plan", " "), 2, "empty"),
        (("export", "out.zip"), 2, "export -o FILE"),
        (("status", "more"), 2, "status --help"),
        (("search", "x", "--unit", "word"), 2, "--unit must be 'document' or 'line'"),
        (("search", "x", "-c", "nope"), 3, "Did you mean: notes"),
        (("search", "x", "--backend", "nope"), 4, "Known are: lancedb, sqlite, tantivy"),
        (("get", "clawmem://notes/../secret"), 2, ".."),
        (("collection", "add", "missing"), 2, "not a folder"),
        (("collection", "add", ".", "--name", "a b"), 2, "letters"),
        (("collection", "add", ".", "--name", "_clawmem"), 2, "reserved"),
        (("collection", "add", ".", "--pattern", "x" * 1001), 2, "1000"),
        (("collection", "remove", "nope"), 3, "Did you mean: notes"),
        (("bench", "retrieval", "."), 2, "no judged collection"),
        (("bench", "retrieval", ".", "--mode", "magic"), 2, "search, vsearch, query"),
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


def test_behind_a_double_dash_nothing_is_an_option() -> None:
    """What comes behind ``--`` is a word."""
    assert hoisted(["search", "--vault=x", "--", "--json"]) == ["--vault=x", "search", "--", "--json"]
    assert hoisted(["search", "--vault", "x", "y"]) == ["--vault", "x", "search", "y"]
    assert hoisted(["search", "--vault"]) == ["--vault", "search"]


def test_a_result_says_everything_a_program_needs(remembered: Invoke) -> None:
    """A result in JSON names its document, place, score and snippet; --explain adds how it came about."""
    [first, *_] = json.loads(remembered("search", "redis", "--json").stdout)["results"]
    explained = json.loads(remembered("query", "redis", "--json", "--explain").stdout)

    assert first["file"] == "notes/decisions/2026-02-11-redis.md"
    assert first["docid"].startswith("#")
    assert 0 < first["score"] <= 1
    assert first["start_line"] <= first["end_line"]
    assert "Redis" in first["snippet"]
    assert {"line", "vector"} <= explained["results"][0]["legs"].keys()
    assert [stage["name"] for stage in explained["trace"]["stages"]][-1] == "cut"


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


def test_collections_are_chosen_by_comma_or_repetition(remembered: Invoke, tmp_path: Path) -> None:
    """-c takes several, either way; the others are not seen."""
    write_file(tmp_path / "work" / "plan.md", "# Plan\n\nSessions with the team.\n")
    remembered("bootstrap", tmp_path / "work")

    def collections(*args: str) -> set[str]:
        return {
            r["collection"]
            for r in json.loads(remembered("search", "sessions", *args, "--json").stdout)["results"]
        }

    assert collections("-c", "work") == {"work"}
    assert collections("-c", "work,notes") == {"work", "notes"}
    assert collections("-c", "work", "-c", "notes") == {"work", "notes"}


def test_vsearch_keeps_back_what_is_far_off(remembered: Invoke) -> None:
    """By default a score below 0.15 is no answer by meaning; the threshold can be lowered."""
    few = json.loads(remembered("vsearch", "sessions", "--json").stdout)["results"]
    all_of_them = json.loads(remembered("vsearch", "sessions", "--min-score", "0", "--json").stdout)[
        "results"
    ]

    assert all(result["score"] >= 0.15 for result in few)
    assert len(all_of_them) == 3


def test_update_sees_changes_and_removals(remembered: Invoke, notes: Path) -> None:
    """One pass reads the new, drops the gone, and makes the vectors, or says that they are due."""
    (notes / "new.md").write_text("# New\n\nSomething about gardening.\n", "utf-8")
    (notes / "people/haruka.md").unlink()

    done = remembered("update", "--no-embed")

    assert "notes: 1 added, 0 updated, 1 removed, 2 unchanged" in done.stdout
    assert "1 texts wait for vectors. Next: clawmem embed" in done.stdout
    assert "Vectors: 1 made" in remembered("update").stdout
    assert "Vectors" not in remembered("update").stdout
    assert json.loads(remembered("search", "haruka", "--json").stdout)["results"] == []


def test_enriching_goes_on_where_it_was(remembered: Invoke) -> None:
    """What is new is enriched once, by --all and ``reindex --enrich`` as well; get and status show what came of it."""
    assert "0 documents, 0 by a model, 3 wait; run: clawmem enrich" in remembered("status").stdout
    first = json.loads(remembered("enrich", "--limit", "1", "--json").stdout)
    then = remembered("enrich", "--no-model").stdout

    assert (first["by_rules"], first["waiting"], first["costs"]) == (1, 2, [])
    assert "2 documents by rules, 0 by a model" in then
    assert json.loads(remembered("enrich", "--json").stdout)["by_rules"] == 0
    assert json.loads(remembered("enrich", "--all", "--json").stdout)["by_rules"] == 0
    assert json.loads(remembered("reindex", "--enrich", "--json").stdout)["enrich"]["by_rules"] == 0
    assert "Nothing to do: no note has changed" in remembered("reindex", "--enrich").stdout
    shown = json.loads(remembered("get", "notes/people/haruka.md", "--json").stdout)
    assert "haruka" in shown["note"]["keywords"]
    assert shown["note"]["origin"] == "rules"
    assert isinstance(shown["entities"], list)
    assert json.loads(remembered("status", "--json").stdout)["notes"]["notes"] == 3


def test_enriching_warns_if_no_document_has_a_name(invoke: Invoke, tmp_path: Path) -> None:
    """Twenty documents without any name are reported on stderr and as ``warnings``, because a cause may lie behind it."""
    for number in range(20):
        (tmp_path / f"{number}.md").write_text(f"the rain of day {number} was warm\n", "utf-8")
    assert invoke("bootstrap", tmp_path, "--yes").exit_code == 0

    done = invoke("enrich", "--all", "--json")

    [warning] = json.loads(done.stdout)["warnings"]
    assert warning == "No name was found in 20 documents."
    assert done.stderr == f"clawmem: {warning}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a Unix shell")
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
    assert "notes: skipped: " in bad.stdout
    assert "ended with 3: gone wrong" in bad.stdout


def test_a_removed_collection_is_no_longer_found(remembered: Invoke, notes: Path) -> None:
    """remove strikes it from the config and out of the answers; added again, it is back."""
    assert "3 of its documents" in remembered("collection", "remove", "notes").stdout
    assert json.loads(remembered("collection", "list", "--json").stdout)["count"] == 0
    assert json.loads(remembered("search", "redis", "--json").stdout)["results"] == []

    remembered("bootstrap", notes)

    assert json.loads(remembered("search", "redis", "--json").stdout)["results"]


def test_collections_are_listed_with_their_documents(remembered: Invoke, notes: Path) -> None:
    """list names folder, pattern and count."""
    [row] = json.loads(remembered("collection", "list", "--json").stdout)["collections"]

    assert row.pop("updated")
    assert row == {"name": "notes", "documents": 3, "pattern": "**/*.md", "path": str(notes), "trust": "user"}
    assert "notes" in remembered("collection", "list").stdout


def test_two_folders_of_one_name_need_a_name(remembered: Invoke, tmp_path: Path) -> None:
    """A made name that another folder has is refused, with the option that helps."""
    other = tmp_path / "elsewhere" / "Notes"
    other.mkdir(parents=True)

    refused = remembered("collection", "add", other)

    assert refused.exit_code == 2
    assert "--name" in refused.stderr
    assert remembered("collection", "add", other, "--name", "more").exit_code == 0


def test_doctor_and_verify_are_content(remembered: Invoke) -> None:
    """On a healthy vault both leave with 0."""
    examined, compared = remembered("doctor"), remembered("verify", "--json")

    assert (examined.exit_code, compared.exit_code) == (0, 0), examined.output
    assert json.loads(compared.stdout) == {"differences": [], "skipped": [], "rebuilt": []}


def test_list_shows_the_latest(remembered: Invoke) -> None:
    """list is cut to -n and kept to -c."""
    assert len(json.loads(remembered("list", "-n", "2", "--json").stdout)["documents"]) == 2
    assert len(json.loads(remembered("list", "-c", "notes", "--json").stdout)["documents"]) == 3
    assert "Haruka Mori" in remembered("list").stdout


def test_multi_get_gives_what_it_can(remembered: Invoke) -> None:
    """Documents by glob, the text of each below its name; what does not fit is said on stderr."""
    found = remembered("multi-get", "decisions/*.md")
    nothing = json.loads(remembered("multi-get", "decisions/*.md", "--max-bytes", "1", "--json").stdout)

    assert found.stdout.count("==> notes/decisions/") == 2
    assert nothing["documents"] == []
    assert len(nothing["errors"]) == 2


def test_a_note_cannot_drive_the_terminal(invoke: Invoke, notes: Path) -> None:
    """Escape sequences of a note are shown as what they are."""
    (notes / "evil.md").write_text("# Evil \x1b[2J\n\nxylophone \x1b]0;owned\x07 here\n", "utf-8")
    invoke("bootstrap", notes, "--skip-embed")

    shown = invoke("search", "xylophone").stdout

    assert "xylophone" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown
