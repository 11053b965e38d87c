"""Saving a thought: a file of the user's that can be found at once, by every interface."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json, write_notes
from command_process import start_process
from interface_world import InterfaceWorld
from typer.testing import CliRunner

from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.app.interfaces.cli import operations
from clawmem.app.interfaces.cli.command_line import cli
from clawmem.domain.documents.frontmatter import split
from clawmem.domain.documents.times import parse_iso

THOUGHT = "Haruka prefers the green ticket machine, the red one sticks."
INBOX = "_clawmem"
NOTES = {"rent.md": "# Rent\n\nThe rent is 850 a month.\n", "b.md": "# Boat\n\nIt is red.\n"}


def saved_files(notes: Path, folder: str = INBOX) -> list[Path]:
    """Return the saved files, drafts included, in the order of their names."""
    return sorted((notes / folder).iterdir()) if (notes / folder).exists() else []


def front_matter(file: Path) -> dict[str, object]:
    return parse_front_matter(split(file.read_text("utf-8")).text)


def test_a_thought_becomes_a_note_of_the_user(remembered: Invoke, notes: Path) -> None:
    """Title, tags, time and the replaced note are in the file, which words and meaning find at once."""
    redis = "decisions/2026-02-11-redis.md"

    said = ask_json(remembered, "remember", THOUGHT, "--tag", "#team,taste", "--supersedes", redis)

    [file] = saved_files(notes)
    head = front_matter(file)
    assert file.name.endswith("-haruka-prefers-the-green-ticket-machine.md")
    assert (head["title"], head["tags"], head["supersedes"]) == (THOUGHT, ["team", "taste"], redis)
    assert head["content_type"] == "decision"  # as what it replaces
    assert split(file.read_text("utf-8")).body == f"\n{THOUGHT}\n"
    assert (said["action"], said["origin"], said["supersedes"]) == ("saved", "user", f"notes/{redis}")
    assert "clawmem forget" in remembered("undo").output  # no act, which could not change the file
    for verb in ("search", "query --mode=vectors"):
        [found] = ask_json(remembered, verb, "-n", 1, "green or red ticket machine that sticks")["results"]
        assert found["file"] == said["file"] == f"notes/{INBOX}/{file.name}"
    found = ask_json(remembered, "search", "sessions Redis", "--all")["results"]
    assert {one["file"]: one for one in found}[f"notes/{redis}"]["superseded_by"]["file"] == said["file"]
    [listed] = [one for one in ask_json(remembered, "list")["documents"] if one["file"] == said["file"]]
    assert parse_iso(listed["authored_at"]) == parse_iso(str(head["created"]))
    assert ask_json(remembered, "update")["unchanged"] == 4


def test_every_interface_saves_and_names_who_wrote(world: InterfaceWorld) -> None:
    """A person at the command line is the user, programs are assistants; a second saying is known to each of them."""
    said = {
        "user": world.json("remember", "The spare key lies below the blue flower pot."),
        "assistant": world.mcp("memory_remember", text="The neighbour waters the plants on Sundays.")[1],
        "rest": world.rest("POST", "/remember", text="Parcels are left with the bakery.", title="Parcels"),
    }

    assert {name: one["origin"] for name, one in said.items()} == {
        "user": "user", "assistant": "assistant", "rest": "assistant"
    }  # fmt: skip
    for question, one in (("spare key flower pot", "user"), ("who waters the plants", "assistant")):
        [found, *_] = world.rest("POST", "/search", query=question)["results"]
        assert (found["file"], found["origin"]) == (said[one]["file"], said[one]["origin"])
        assert said[one]["file"] in world.hook(
            "context-surfacing", "UserPromptSubmit", prompt=f"{question} today?"
        )
    again = world.rest("POST", "/remember", text="the neighbour waters the plants on sundays")
    assert (again["action"], again["file"]) == ("known", said["assistant"]["file"])
    assert "add anyway: true; to replace that note, supersedes: " in again["remarks"][0]
    again = world.mcp("memory_remember", text=again["title"], supersedes=said["rest"]["file"])[1]
    assert (again["action"], again["file"]) == ("saved", said["assistant"]["file"])
    assert again["supersedes"] == said["rest"]["file"]


def test_what_is_known_is_not_written_twice(remembered: Invoke, notes: Path, environ: dict[str, str]) -> None:
    """The note and its line are named; --anyway writes under a free name. Of processes at once one writes."""
    known = remembered("remember", "login sessions live in Redis, for 14 days")

    assert known.exit_code == 1
    assert "Known already: notes/decisions/2026-02-11-redis.md:3 " in known.stdout
    assert saved_files(notes) == []
    same = ("remember", "Login sessions live in Redis for 14 days.")
    for _ in range(2):
        assert remembered(*same, "--anyway").exit_code == 0
    first, second = sorted(saved_files(notes), key=lambda file: len(file.name))
    assert second.stem == f"{first.stem}-2"
    assert remembered("remember", "Login sessions live in Redis for 30 days.").exit_code == 0
    assert "--supersedes" in remembered(*same).stderr
    (notes / "kiln.md").write_text(
        "# Kiln\n\nIt is old. The glaze fires at 1240 degrees. Ask Noor first.\n", "utf-8"
    )
    assert remembered("update").exit_code == 0
    assert "edit that line" in remembered("remember", "the glaze fires at 1240 degrees").stderr
    assert remembered("remember", "The glaze fires at 1250 degrees.").exit_code == 0
    count, quiet = len(saved_files(notes)), subprocess.DEVNULL
    processes = [
        start_process("remember", THOUGHT, environ=environ, stdout=quiet, stderr=quiet) for _ in range(4)
    ]
    assert sorted(process.wait() for process in processes) == [0, 1, 1, 1]
    assert len(saved_files(notes)) == count + 1


@pytest.mark.parametrize(
    ("arguments", "stdin", "remedy"),
    [
        (["  "], b"", "Write what there is to remember."),
        (["-"], b"", "Write what there is to remember."),
        (["-"], b"\xff\xfe", "Convert it"),
        (["a\x1b[2Jb"], b"", "the control character U+001B. Remove it"),
        (["-"], b"word " * 20_001, "Save it as a file"),
        (["-"], b"word " * 200_000, "stdin is too long"),
        (["x", "--title", "a\nb"], b"", "The title is empty, or has a line break"),
        (["x", "--tag", "a\x07"], b"", "The tag is empty, or has a line break"),
        (["x", "--in", "nowhere"], b"", "Did you mean: notes?"),
        (["x", "--supersedes", "sessions"], b"", "Keep sessions in Redis"),
        (["x", "--supersedes", "2026"], b"", ""),
        ([], b"", "TEXT"),
        (["- [ ] call Bo"], b"", "Write -- before a text"),
        (["---\ntitle: Bo\n---\nBo calls"], b"", "Write -- before a text"),
    ],
)  # fmt: skip
def test_bad_input_writes_nothing(
    remembered: Invoke, notes: Path, arguments: list[str], stdin: bytes, remedy: str
) -> None:
    """The error says what is wrong and what to do."""

    done = CliRunner().invoke(cli, ["remember", *arguments], input=stdin)

    assert done.exit_code in (2, 3), done.output
    assert remedy in done.stderr
    assert not (notes / INBOX).exists()


def configured(home: Path) -> Path:
    return next(home.rglob("config.yaml"))


def narrowed(notes: Path, config: Path) -> None:
    config.write_text(config.read_text("utf-8").replace("**/*.md", "decisions/*.md"), "utf-8")


def taken_by_a_file(notes: Path, config: Path) -> None:
    (notes / INBOX).write_text("", "utf-8")


def link_to_elsewhere(notes: Path, config: Path) -> None:
    (notes / INBOX).symlink_to(notes.parent)


def unmounted(notes: Path, config: Path) -> None:
    notes.rename(notes.with_name("away"))


def foreign_inbox(notes: Path, config: Path) -> None:
    config.write_text(config.read_text("utf-8") + f"inbox: {notes.parent / 'other'}\n", "utf-8")


def unread_inbox(notes: Path, config: Path) -> None:
    config.write_text(config.read_text("utf-8") + "inbox: vendor/new\n", "utf-8")


def distrusted(notes: Path, config: Path) -> None:
    config.write_text(config.read_text("utf-8").replace("pattern", "trust: shared\n    pattern"), "utf-8")


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        (narrowed, "Set inbox: FOLDER"),
        (taken_by_a_file, "No file can be written at"),
        (link_to_elsewhere, "it lies outside of"),
        (unmounted, "its disk is not mounted"),
        (foreign_inbox, "Choose a folder in one of them: "),
        (unread_inbox, "inbox: vendor/new is not read"),
        (distrusted, "clawmem trust set notes user"),
    ],
)  # fmt: skip
def test_a_place_that_cannot_take_a_note(
    remembered: Invoke, home: Path, notes: Path, change: Callable[[Path, Path], None], remedy: str
) -> None:
    """No file remains that would not be found, and the error names the way out."""
    change(notes, configured(home))
    before = sorted(map(str, notes.parent.rglob("*.md")))

    done = remembered("remember", THOUGHT, "--supersedes", "people/haruka.md")

    assert done.exit_code != 0
    assert remedy in done.stderr, done.output
    assert sorted(map(str, notes.parent.rglob("*.md"))) == before


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Therapy session on Tuesdays at four", "note"),
        ("The status of the chat with the research project is open", "note"),
        ("The decision of the jury was unfair", "note"),
        ("Bob said that we decided to sell", "note"),
        ("Decision: the queue moves to Postgres", "decision"),
        ("We decided to close on Mondays", "decision"),
        ("Always oil the bandsaw on Fridays. It squeaks otherwise.", "preference"),
    ],
)
def test_a_word_of_the_text_gives_no_type(remembered: Invoke, text: str, kind: str) -> None:
    """A remembered text is a note, whatever words its file is named after; a decision or a preference is in the profile."""
    file = ask_json(remembered, "remember", text)["file"]

    listed = ask_json(remembered, "list")["documents"]
    assert [row["content_type"] for row in listed if row["file"] == file] == [kind]
    assert (f"- {text} ({file})" in remembered("profile").stdout) == (kind != "note")


def test_the_inbox_decides_collection_and_folder(
    remembered: Invoke, home: Path, notes: Path, tmp_path: Path
) -> None:
    """A folder below each collection, or an absolute one, whose collection is the usual one."""
    other = tmp_path / "other"
    write_notes(other, {"a.md": "# A\n\nText.\n"})
    remembered("bootstrap", other)
    config = configured(home)
    plain = config.read_text("utf-8")

    several = remembered("remember", THOUGHT)
    assert several.exit_code == 2
    assert "notes, other" in several.stderr

    def said(*arguments: Any) -> str:
        return str(ask_json(remembered, "remember", *arguments, "--anyway")["file"]).rpartition("/")[0]

    assert said(THOUGHT, "--in", "other") == f"other/{INBOX}"
    config.write_text(f"{plain}inbox: 00 Inbox/new\n", "utf-8")
    assert said(THOUGHT, "--in", "other") == "other/00 Inbox/new"
    config.write_text(f"{plain}inbox: {os.fspath(other / 'In')}\n", "utf-8")
    assert said(THOUGHT) == "other/In"
    assert said(THOUGHT, "--in", "notes") == f"notes/{INBOX}"


@pytest.mark.parametrize("name", ["car^et.md", "C# notes.md", "p|q.md", "b]]x.md"])
def test_only_the_note_that_was_meant_is_superseded(remembered: Invoke, notes: Path, name: str) -> None:
    """Signs of links in a file name lead to no other note: the claim is exact, or nothing is saved."""
    others = ("car.md", "C.md", "p.md", "b.md")
    write_notes(notes, {f"a/{one}": f"# {one}\n\nAbout {one} alone.\n" for one in (*others, name)})
    remembered("update")

    done = remembered("remember", "The key was repaired in May.", "--supersedes", f"a/{name}")

    for one in others:
        assert ask_json(remembered, "get", f"a/{one}")["superseded_by"] is None
    meant = ask_json(remembered, "get", f"a/{name}")["superseded_by"]
    assert (meant is not None) == (done.exit_code == 0), done.output
    assert len(saved_files(notes)) == (done.exit_code == 0)


CORRECTIONS = [
    "Correction: the rent is 900 a month.",
    "Actually the rent is 900.",
    "scratch that, the rent is 900 a month",
    "I no longer pay a rent of 850.",
    "Korrektur: the rent is 900 a month.",
    "Doch nicht: the rent is 900 a month.",
    "Ich hab mich geirrt: the rent is 900 a month.",
    "I was wrong: the rent is 900 a month.",
    "Berichtigung: rent costs 900 €",
    "Correction: the flat costs 900 a month, not 850",
]


@pytest.mark.parametrize("text", CORRECTIONS)
def test_a_correction_names_the_note_that_it_corrects(remembered: Invoke, notes: Path, text: str) -> None:
    """Programs repeat it with ``supersedes``, also in nearly the same words: the first file gets it."""
    write_notes(notes, NOTES)
    remembered("update")

    said = ask_json(remembered, "remember", text)
    [similar] = said["similar"]
    assert (said["action"], similar["file"]) == ("saved", "notes/rent.md") and similar["docid"] in said[
        "remarks"
    ][0]
    again = ask_json(remembered, "remember", f"{text}!", "--supersedes", similar["docid"])
    assert (again["action"], again["file"], again["remarks"]) == ("saved", said["file"], [])
    assert (again["supersedes"], again["similar"]) == ("notes/rent.md", [])
    [file] = saved_files(notes)
    assert ask_json(remembered, "remember", text, "--supersedes", "b.md")["file"] == said["file"]
    assert front_matter(file)["supersedes"] == ["rent.md", "b.md"]
    assert ask_json(remembered, "get", "rent.md")["superseded_by"]["file"] == again["file"]


CONTACTS = {
    "contacts.md": "# Contacts\n\n## Ines Kubo\n\n- lives in Aarau\n\n## Oskar\n\n- Wohnung\n  - wohnt in Bern\n",
    "band.md": "# Band\n\nJonas has a room\nin Olten, and lives there.\n",
    "market.md": "# Market\n\nInes sells pots in Aarau. Oskar was in Bern; Jonas saw Olten.\n",
    "bar.md": "# Bar\n\nIl caffè lo porta Bianchi.\n",
    "yoga.md": "# Woche\n\n- Dienstags Yoga im Lindenhof\n",
    "salt.md": "# Kitchen\n\nWe buy salt from Knoll.\n",
    "since.md": "# Kitchen since May\n\nWe buy salt from Lenz.\n",
    "later.md": "# Later\n\nInes no longer eats meat, and Jonas moved to another table.\n",
}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Correction: Ines no longer lives in Aarau", "contacts.md"),
        ("Ines moved from Aarau to Chur, she lives there since May", "contacts.md"),
        ("Oskar wohnt nicht mehr in Bern", "contacts.md"),
        ("Oskar hat keine Wohnung mehr in Bern", "contacts.md"),
        ("Ich unterrichte dienstags kein Yoga mehr", "yoga.md"),
        ("Jonas doesn't live in Olten any more", "band.md"),
        ("The market changed from Ines to Jonas", "market.md"),
        ("scratch that, the market is run by Rosa Diaz", "market.md"),
        ("Correzione: il caffè lo porta Rossi, non Bianchi", "bar.md"),
        ("I no longer buy salt from Knoll, it is Lenz now", "salt.md"),
        ("We buy salt from Lenz instead of Knoll", "salt.md"),
    ],
)
def test_a_correction_names_the_note_with_the_fact(
    remembered: Invoke, notes: Path, text: str, place: str
) -> None:
    """Rather than a later one that mentions the same names; the name may stand in a heading, and the fact below it."""
    write_notes(notes, CONTACTS)
    remembered("update")

    similar = ask_json(remembered, "remember", text)["similar"]
    assert [note["file"] for note in similar] == [f"notes/{place}"]


def test_a_correction_asks_on_a_terminal(
    remembered: Invoke, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it replaces the note; other texts ask nothing."""
    write_notes(notes, NOTES)
    remembered("update")
    monkeypatch.setattr(operations, "may_ask", lambda ctx: True)

    kept = CliRunner().invoke(cli, ["remember", CORRECTIONS[0]], input="n\n")
    assert (kept.exit_code, "Does it replace notes/rent.md?" in kept.stdout) == (0, True)
    done = CliRunner().invoke(cli, ["remember", CORRECTIONS[1]], input="y\n")
    assert (done.exit_code, "superseding notes/" in done.stdout) == (0, True)
    for other in (
        "The ferry leaves at nine.",
        "From January on the standup is at 850.",
    ):  # a number alone is no subject
        assert "replace" not in CliRunner().invoke(cli, ["remember", other]).stdout


def test_a_correction_that_supersedes_nothing(remembered: Invoke, notes: Path) -> None:
    """The next one names the note that states the fact first, which is not likely any more."""
    write_notes(notes, {"rent.md": f"---\ncreated: 2026-11-01\n---\n{NOTES['rent.md']}"})
    remembered("update")
    remembered("remember", "Correction: the rent is 900 a month, not 850.")

    assert "perhaps no longer so: see notes/_clawmem/" in remembered("query", "how much is the rent?").stdout
    similar = ask_json(remembered, "remember", "Correction: the rent is 910 a month.")["similar"]
    assert (similar[0]["file"], len(similar)) == ("notes/rent.md", 2)


def test_words_name_no_note_to_forget(remembered: Invoke) -> None:
    """They list the notes that may be meant; the list of acts has no word of a forgotten memory."""
    saved = ask_json(remembered, "remember", "The printer in the attic is broken", "--title", "Printer")
    refused = remembered("forget", "attic broken", "--yes")
    assert (refused.exit_code, f"{saved['docid']} {saved['file']}" in refused.stderr) == (3, True)
    assert remembered("forget", saved["docid"], "--yes").exit_code == 0
    shown = "".join(
        remembered(*words).output
        for words in (["undo"], ["get", saved["docid"]], ["get", saved["docid"], "--json"])
    )
    shown += remembered("forget", saved["docid"], "--yes").output
    assert saved["docid"] in shown and "printer" not in shown.lower()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ada Pike, call +44 20 7946 0958", "ada-pike-call"),
        ("+49 (89) 123456-78", "note"),
        ("Card 4111 1111 1111 1111 expires in 2027", "card-expires-in-2027"),
        ("# Wifi of the hut\n\nIt is on the door.", "wifi-of-the-hut"),
        ("---\ntitle: The sauna\n---\n\nIt heats for an hour.", "the-sauna"),
        ("***\n\nThe key hangs inside.", "the-key-hangs-inside"),
    ],
)
def test_the_name_of_a_file_is_short(remembered: Invoke, notes: Path, text: str, name: str) -> None:
    """It has no long number, and a heading is not repeated as the title."""
    assert remembered("remember", "--", text).exit_code == 0
    [file] = saved_files(notes)
    assert file.name[len("2026-11-29-") :] == f"{name}.md"
    assert text.startswith("#") is ("title" not in front_matter(file))


def test_a_forgotten_text_does_not_return(remembered: Invoke, notes: Path) -> None:
    """Whoever forgets a note is not given it back by saving it again."""
    assert remembered("remember", THOUGHT).exit_code == 0
    [file] = saved_files(notes)
    assert remembered("forget", f"notes/{INBOX}/{file.name}", "--yes").exit_code == 0
    file.unlink()

    done = remembered("remember", THOUGHT)

    assert done.exit_code == 2
    assert "forgotten on request" in done.stderr
    assert saved_files(notes) == []


def test_a_secret_is_reported_and_saved_as_written(remembered: Invoke, notes: Path) -> None:
    """The user's words stay unchanged; a remark says that a secret stands in them."""
    text = "The token is ghp_" + "a8Kq2mZ0xW4v" * 3
    done = remembered("remember", text)

    [file] = saved_files(notes)
    assert done.exit_code == 0
    assert "A secret seems to stand in the text" in done.stderr
    assert "redacted" in file.name
    assert text in file.read_text("utf-8")
    assert "secret" not in remembered("remember", "The gate code is 4711.").stderr


def test_the_diary_answers_what_was_done(remembered: Invoke) -> None:
    """Its entries come before what was remembered on that day; those of an agent are not likely."""
    entry = ask_json(remembered, "diary", "write", "Painted the keel.")
    remembered("remember", "The bike lock is blue.")
    of_agent = ask_json(remembered, "diary", "write", "Summed up the week.", "--agent", "claude")

    found = ask_json(remembered, "query", "what did I do this week", "--all")["results"]

    likely = [result["file"] for result in found if result["confidence"] >= 0.5]
    assert likely[0] == entry["file"] and of_agent["file"] not in likely
