"""The verbs pin, snooze, forget, lifecycle, diary and profile, in both forms of their answers."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, age_documents, configure
from typer.testing import CliRunner, Result

from clawmem.app.interfaces.cli.command_line import cli

OLD = "decisions/2026-02-11-redis.md"


def done(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def read(invoke: Invoke, *args: object) -> Any:
    return json.loads(done(invoke(*args, "--json")))


def test_a_sweep(invoke: Invoke, notes: Path, home: Path) -> None:
    """Previewed until the policy is in earnest; what was archived is found, restored, archived again and purged."""
    done(invoke("bootstrap", notes, "--skip-embed"))
    age_documents(home, OLD)
    refused = invoke("archive")
    assert (refused.exit_code, "No lifecycle policy" in refused.output) == (4, True)
    policy = "archive_after_days: 30, purge_after_days: 0.000000001, exempt_collections: [nopes]"
    policy += ", type_overrides: {decison: 1}"
    configure(home, f"lifecycle: {{{policy}}}")
    for words in (("archive", "--dry-run"), ("doctor",)):
        output = invoke(*words).output
        assert "'nopes' is no collection" in output and "'decison' is no content type" in output

    preview = read(invoke, "archive")
    assert (preview["dry_run"], preview["archived"]) == (True, [f"notes/{OLD}"])
    assert "Nothing was changed. To do it" in invoke("archive").stderr
    config = home / ".config/clawmem/config.yaml"
    config.write_text(config.read_text("utf-8").replace("30,", "30, dry_run: false,"), "utf-8")
    assert read(invoke, "archive", "--dry-run")["dry_run"] is True
    swept = invoke("archive")
    assert f"archived: notes/{OLD}" in done(swept) and "clawmem restore NOTE" in swept.stderr

    assert "-c NAME, or --all" in invoke("restore").stderr
    assert invoke("restore", "-c", "nope").exit_code == 3
    candidates = invoke("restore", "redis sessions")
    assert (candidates.exit_code, OLD in candidates.stderr) == (3, True)
    assert read(invoke, "restore", f"notes/{OLD}")["documents"][0]["file"] == f"notes/{OLD}"
    assert "redis" in done(invoke("search", "redis"))
    [restore, archive] = read(invoke, "undo")["acts"]
    assert (restore["act"], archive["act"]) == ("restore", "archive")
    assert archive["why"] == "written 2026-02-11, neither changed nor read for more than 30 days"

    assert "takes back act" in done(invoke("undo", restore["id"]))
    assert read(invoke, "archive", "--purge", "--dry-run")["purged"] == [f"notes/{OLD}"]
    assert read(invoke, "archive", "--purge")["purged"] == [f"notes/{OLD}"]
    counted = read(invoke, "archive", "--status")
    assert (counted["active"], counted["archived"], counted["forgotten"]) == (2, 0, 1)
    assert read(invoke, "undo")["acts"][0]["act"] == "purge"
    assert "1 by forgetting" in done(invoke("update"))


@pytest.mark.parametrize(
    "until",
    "morgen|next friday|in zwei Wochen|nächste Woche|31.12.2099|May 3, 2099|9d|1. Januar|January|SOON".split(
        "|"
    ),
)
def test_a_day_to_come_in_words(remembered: Invoke, until: str) -> None:
    """In English and German, of this year or the next; a day that is over is refused, and other words name the forms."""
    today = datetime.now()
    until = until.replace("SOON", f"{today + timedelta(5):%d %B}")
    note = read(remembered, "snooze", f"notes/{OLD}", "--until", until)
    latest = "2100" if "2099" in until else str(today + timedelta(366))
    assert str(today) < note["snoozed_until"] <= latest
    assert "still to come" in remembered("snooze", OLD, "--until", "yesterday").stderr
    assert "tomorrow" in remembered("snooze", OLD, "--until", "soon").stderr


def test_an_empty_vault_names_the_first_step(invoke: Invoke) -> None:
    """Wherever a person looks for notes."""
    assert invoke("vault", "init").exit_code == 0
    for words in (("query", "ferry"), ("search", "ferry"), ("list",), ("status",), ("update",)):
        assert "clawmem bootstrap PATH" in invoke(*words).output, words
    assert "mem0" in invoke("import").stderr


def test_enrichment_without_its_model_fails(remembered: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is named; without a configured model the rules do all of it."""
    assert remembered("maintain", "enrich").exit_code == 0
    monkeypatch.setenv("CLAWMEM_LLM_URL", "http://127.0.0.1:9")
    failed = remembered("maintain", "enrich", "--all")
    assert (failed.exit_code, "cannot answer now" in failed.stderr) == (1, True)


def test_diary(remembered: Invoke) -> None:
    """Entries come back whole, newest first, by writer; they are searched, and secrets in them are reported."""
    password = "hunter" + "2-correct-horse"
    done(remembered("diary", "write", "The lighthouse was repainted."))
    second = read(remembered, "diary", "write", f"password={password}", "-t", "../x", "-a", "scout")
    assert "A secret seems to stand" in second["remarks"][0]
    assert second["file"].startswith("_clawmem/diary/")
    assert second["file"].endswith("-x.md")

    entries = read(remembered, "diary", "read")["entries"]
    assert [entry["agent"] for entry in entries] == ["scout", "user"]
    assert entries[1]["text"] == entries[1]["title"] == "The lighthouse was repainted."
    assert entries[0]["text"] == f"password={password}"
    assert [
        entry["agent"] for entry in read(remembered, "diary", "read", "-a", "user", "-n", "5")["entries"]
    ] == ["user"]
    assert "lighthouse was repainted" in done(remembered("diary", "read"))
    assert "_clawmem/diary/" in done(remembered("search", "lighthouse"))
    assert remembered("diary", "write", " ").exit_code == 2
    assert CliRunner().invoke(cli, ["diary", "write", "-"], input=b"The ferry waits.").exit_code == 0
    assert "The ferry waits." in remembered("diary", "read").output
    assert "degraded" not in remembered("query", "lighthouse").output
    assert remembered("diary", "read", "-n", "0").exit_code == 2
    unknown = remembered("diary", "read", "-a", "scot")
    assert (unknown.exit_code, "Did you mean: scout, user?" in unknown.stderr) == (3, True)


@pytest.mark.parametrize("option", ["--agent", "--topic"])
@pytest.mark.parametrize("name", ["a\n---\norigin: user", "a\x1b[2J", "a\u2028b", "x" * 101])
def test_a_name_in_the_diary_is_one_line(remembered: Invoke, option: str, name: str) -> None:
    """A writer or a topic with a line break or a control character, or of more than 100 characters, is refused."""
    assert remembered("diary", "write", "The lighthouse was repainted.", option, name).exit_code == 2
    assert read(remembered, "diary", "read")["count"] == 0


def test_one_note_is_archived_and_restored(remembered: Invoke) -> None:
    """By its address, with the reason in the list of acts; it has its vectors again, also if the vault had none left."""
    assert f"Archived: notes/{OLD}" in done(remembered("archive", OLD, "--why", "moved to Postgres"))
    assert remembered("get", OLD).exit_code == 3
    assert read(remembered, "undo")["acts"][0]["why"] == "moved to Postgres"
    for note in read(remembered, "list")["documents"]:
        done(remembered("forget", note["docid"], "--yes"))
    for words in ("restore", OLD), ("undo", read(remembered, "undo")["acts"][0]["id"] + 2):
        done(remembered(*words))
        assert read(remembered, "status")["embeddings"]["pending"] == 0
        done(remembered("get", OLD))
        done(remembered("archive", OLD))
        done(remembered("embed"))


def test_a_note_whose_file_is_gone_stays_archived(invoke: Invoke, notes: Path, home: Path) -> None:
    """The next update would remove it; the others are restored."""
    done(invoke("bootstrap", notes, "--skip-embed"))
    age_documents(home)
    configure(home, "lifecycle: {archive_after_days: 30, dry_run: false}")
    done(invoke("archive"))
    assert "No document is due" in invoke("archive").stderr
    text = (notes / OLD).read_text("utf-8")
    (notes / OLD).unlink()

    restored = invoke("restore", "--all")

    assert restored.exit_code == 1
    assert f"notes/{OLD} stays archived: its file is gone" in restored.stderr
    assert OLD not in restored.stdout and "2026-06-09-postgres.md" in restored.stdout
    done(invoke("update"))
    assert invoke("restore", f"notes/{OLD}").exit_code == 1

    (notes / "elsewhere.md").write_text(text, "utf-8")
    assert "0 added, 0 updated" in done(invoke("update")) and invoke("get", "elsewhere.md").exit_code == 3
    assert "notes/elsewhere.md" in done(invoke("restore", "--all"))
    (notes / "elsewhere.md").rename(notes / OLD)
    assert "0 removed" in done(invoke("update"))

    done(invoke("archive", OLD, "--why", "moved"))
    done(invoke("collection", "remove", "notes", "--yes"))
    for words in ("--all", f"notes/{OLD}"):
        refused = invoke("restore", words)
        assert (refused.exit_code, "collection add FOLDER --name notes" in refused.stderr) == (1, True)


def test_an_answer_counts_as_an_access(remembered: Invoke) -> None:
    """A note that a question found was accessed then; the others never were."""
    before = read(remembered, "archive", "--status")
    done(remembered("search", "haruka"))
    after = read(remembered, "archive", "--status")

    assert (before["never_accessed"], before["oldest_access"]) == (3, None)
    assert (after["never_accessed"], after["recalls"]) == (2, 1)
    assert after["oldest_access"] > "2026"


@pytest.mark.parametrize("name", ["XDG_CACHE_HOME", "XDG_CONFIG_HOME"])
def test_a_relative_base_folder_is_ignored(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Otherwise the vault would follow the working folder."""
    monkeypatch.setenv(name, "cache")

    places = read(invoke, "vault", "path")

    assert places["vault"] == str(home / ".cache/clawmem/index.sqlite")
    assert places["config"] == str(home / ".config/clawmem/config.yaml")


def test_places_days_and_values_that_people_type(remembered: Invoke, notes: Path) -> None:
    """Headings of links, days in any format, and values that no note has; what cannot be meant is refused."""
    text = "---\nstatus: active\n---\n# Kiln\n\nOld.\n\n## Glaze\n\nSee [[2026-03-05]].\n\n## Ash\n"
    (notes / "kiln.md").write_text(text, "utf-8")
    (notes / "2026_03_01.md").write_text("# Day\n\nIt rained.\n", "utf-8")
    done(remembered("update"))

    assert done(remembered("get", "[[Kiln#Glaze]]")).strip() == "## Glaze\n\nSee [[2026-03-05]]."
    assert "It rained" in done(remembered("get", "March 1st, 2026"))
    for words in (["kiln.md,2026_03_01.md"], ["kiln.md,", "2026_03_01.md"]):  # unless a note has this name
        several = done(remembered("get", *words))
        assert "It rained" in several and "## Glaze" in several
    assert "ends before it begins" in remembered("get", "kiln.md:5-2").stderr
    assert "2026-03-05" not in done(remembered("links", "--broken"))
    (notes / "gone.md").symlink_to(notes / "nowhere")
    for words, fault in (
        ("collection add .. --name notes --pattern ../*.md", "matches no file"),
        (f"collection add .. --name {'x' * 101}", "longer than 100 bytes"),
        ("list --tasks --since 2026-11-29T25:61", "is no date"),
        ("list --tasks --since 9999-12-31 --until 0001-01-01", "is after 0001-01-01"),
        (f"mine {notes} --since 2999-01-01", "no day up to today"),
        *(
            (f"{verb} {'x' * 5_000}", "x")
            for verb in ("why", "doctor", "export", "backup", "import mem0", "mine")
        ),
    ):
        refused = remembered(*words.split())
        assert (refused.exit_code, fault in refused.stderr) == (2, True), words
    assert "Correct or delete it" in done(remembered("doctor", notes / "gone.md"))


def test_advice_names_the_chosen_vault(invoke: Invoke, tmp_path: Path) -> None:
    """A command to run next works on the vault that was named."""
    file = tmp_path / "v.sqlite"
    for spelling in (["--vault", file], [f"--vault={file}"]):
        assert f"clawmem --vault {file} bootstrap" in invoke(*spelling, "status").stderr
    assert "clawmem vault sync nope" in invoke("--vault", "nope", "status").stderr
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.md").write_text("# clawmem embed\nA keel. Run: clawmem embed")
    invoke("--vault", file, "bootstrap", tmp_path / "a")
    assert f"clawmem --vault {file} maintain" in invoke("--vault", file, "entities").stdout
    shown = invoke("--vault", file, "search", "keel").stdout
    assert ("Run: clawmem embed" in shown, f"clawmem --vault {file}" in shown) == (True, False)
    (tmp_path / "a" / "b.md").write_text("# clawmem embed\nA mast.")
    invoke("--vault", file, "update")
    refused = invoke("--vault", file, "get", "clawmem embed").stderr
    assert ("'clawmem embed' matches 2" in refused, f"clawmem --vault {file}" in refused) == (True, False)
