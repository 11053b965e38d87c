"""Options of the command line that filter and steer, and errors for programs."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from command_line import Invoke, ask_json, found_paths, write_notes


@pytest.mark.parametrize("verb", ["search", "query --mode=vectors", "query"])
def test_a_time_limits_what_is_seen(remembered: Invoke, verb: str) -> None:
    """Both days count as a whole; what was written outside of them is not there, however well it fits."""

    def found(*options: str) -> set[str]:
        done = remembered(verb, "--json", "sessions", "redis", "postgres", *options)
        assert done.exit_code == 0, done.stderr
        return {Path(result["path"]).name for result in json.loads(done.stdout)["results"]}

    redis, postgres = "2026-02-11-redis.md", "2026-06-09-postgres.md"
    assert {redis, postgres} <= found()
    assert found("--until", "2026-06-08") == found("--as-of", "2026-02-11") == {redis}
    assert found("--since", "2026-02-12", "--until", "2026-06-09") == {postgres}
    assert found("--since", "0001-01-01", "--until", "2026-02-10") == set()


@pytest.mark.parametrize(
    "words", ["as of April 2026", "as-of 2026-04-30", "as per Apr 2026", "Stand Ende April 2026"]
)
def test_a_question_names_its_day(remembered: Invoke, notes: Path, words: str) -> None:
    """What was written later is not there; a text that was changed later is marked."""
    with (notes / "decisions/2026-02-11-redis.md").open("a", encoding="utf-8") as file:
        file.write("\nFor now.\n")
    remembered("update")
    found = ask_json(remembered, "search", "sessions redis postgres", words)

    assert (found["as_of"], len(found["results"])) == ("2026-04-30", 1)
    assert found["results"][0]["changed_after"] > "2026-06"
    assert "as_of" not in ask_json(remembered, "search", "sessions redis postgres as of today")


def test_the_project_of_a_note_is_shown(invoke: Invoke, home: Path) -> None:
    """`get` and `list` show it, and a question is limited to it, in any case."""
    notes = {name: f"---\nproject: {name}\n---\nThe ferry is late.\n" for name in ("Harbour", "Kiln")}
    write_notes(home / "notes", {f"{name}.md": text for name, text in notes.items()})
    write_notes(
        home / "slip", {"Slip.md": "The ferry is red.\n", "Own.md": "---\nProject: Kiln\n---\nA ferry.\n"}
    )
    invoke("collection", "add", home / "slip", "--project", "Harbour")
    invoke("bootstrap", home / "notes", "--skip-embed")

    shown = invoke("get", "Kiln").stderr
    assert "written: 20" in shown and "origin: user; trusted: yes; project: Kiln" in shown
    found = ask_json(invoke, "list", "--where", "project=harbour")["documents"]
    assert {note["file"]: note["properties"] for note in found} == {
        "notes/Harbour.md": {"project": ["Harbour"]},
        "slip/Slip.md": {"project": ["Harbour"]},  # as its collection says
    }
    assert sorted(found_paths(invoke, "search", "ferry", "--where", "project=kiln")) == ["Kiln.md", "Own.md"]


def test_a_first_name_means_the_person_with_a_note(invoke: Invoke, home: Path) -> None:
    """By its type, folder or tag. As a link with the whole name does; of two people with that first name it means none."""
    person, links = "---\ntype: person\n---\nBorn in Graz.\n", "[[Ines Kubo]] came with [[Tom Reed]].\n"
    notes = dict.fromkeys(("Ines Kubo.md", "Tom Reed.md", "Tom Baker.md"), person)
    notes |= {"links.md": links, "blue.md": "Ines likes blue.\n", "kiln.md": "The kiln is of Tom.\n"}
    notes |= {
        "People/Mara Voss.md": "Born in Bern.\n",
        "Otto Lindt.md": "#people/choir\n",
        "tea.md": "The tea is of Mara and Otto.\n",
    }
    write_notes(home / "notes", notes)
    invoke("bootstrap", home / "notes", "--skip-embed")
    invoke("maintain", "enrich", "--no-model")

    assert "Ines Kubo" in ask_json(invoke, "get", "blue.md")["entities"]
    assert "Ines Kubo" in ask_json(invoke, "get", "links.md")["entities"]
    assert {"Mara Voss", "Otto Lindt"} <= {*ask_json(invoke, "get", "tea.md")["entities"]}
    assert not {"Tom Reed", "Tom Baker"} & {*ask_json(invoke, "get", "kiln.md")["entities"]}


def test_what_a_later_note_takes_back_leaves_the_profile(invoke: Invoke, home: Path) -> None:
    """A superseded decision is left out; a sentence without a link puts its doubt beside it."""
    decision, dated = (
        "---\ntype: decision\ndate: 2026-01-0{}\n---\n# {}\n\n{}\n",
        "---\ndate: 2026-03-01\n---\n",
    )
    notes = {
        "database.md": decision.format(1, "Database", "We decided to use MongoDB for the catalogue."),
        "fridays.md": decision.format(2, "Fridays", "We release every Friday."),
        "backups.md": decision.format(4, "Backups", "Hetzner keeps the backups."),
        "lunch.md": decision.format(5, "Lunch", "Lunch is at noon."),
        "price.md": decision.format(6, "Price", "A litre costs 0.92."),
        "a.md": f"{dated}Accepted. **Supersedes [Database](database.md)**, of [[lunch]].\n\n- supersedes [[fridays|that]]\n",
        "c.md": f"{dated}This note supersedes [[price]]. The second part of [[lunch]] is obsolete.\n",
        "b.md": f"{dated}We no longer keep the backups at Hetzner.\n",
    }
    write_notes(home / "notes", notes)
    invoke("bootstrap", home / "notes", "--skip-embed")

    assert [line for line in invoke("profile").stdout.splitlines() if line.startswith("- ")] == [
        "- Lunch is at noon. (notes/lunch.md, 2026-01-05)",
        "- Backups: Hetzner keeps the backups. (perhaps no longer so, see notes/b.md; notes/backups.md, 2026-01-04)",
    ]


@pytest.mark.parametrize(
    ("words", "step"),
    [
        (("get", "qqq"), "clawmem search WORDS"),
        (("get", "qqq*"), "clawmem list"),
        (("timeline", "qqq"), "clawmem search WORDS"),
        (("links", "qqq"), "clawmem search WORDS"),
        (("list", "--tag", "qqq"), "clawmem tags"),
        (("list", "--where", "qqq=1"), "clawmem get NOTE --json"),
        (("entities", "--facts", "qqq"), "clawmem entities"),
        (("search", "qqq"), "other words"),
        (("links", "haruka"), "[[Name]]"),
    ],
)
def test_what_is_not_there_names_the_next_step(remembered: Invoke, words: tuple[str, ...], step: str) -> None:
    """In one sentence."""
    assert step in remembered(*words).output


def test_types_of_one_word_are_shown(invoke: Invoke, home: Path) -> None:
    """`list` shows them, and searches are limited to them; a sentence, a number or a folder's own type is none."""
    heads = {
        "a": "type: Meeting",
        "b": "Type: livre",
        "decisions/c": "type: adr",
        "d": 'type: "[[Book]] notes"',
        "e": "type: 7",
        "f": "type: meeting\ncontent_type: note",
        "g": 'type: "[[Book]]"',
    }
    notes = {f"{name}.md": f"---\n{head}\n---\nThe ferry is late.\n" for name, head in heads.items()}
    write_notes(home / "notes", notes | {"pages/h.md": "type:: [[Person]]\n\n- Writes.\n"})
    invoke("bootstrap", home / "notes", "--skip-embed")

    listed = ask_json(invoke, "list")["documents"]
    assert {Path(note["file"]).stem: note["content_type"] for note in listed} == {
        "a": "meeting",
        "b": "livre",
        "c": "decision",
        "d": "note",
        "e": "note",
        "f": "note",
        "g": "book",
        "h": "person",
    }
    assert found_paths(invoke, "search", "ferry", "--type", "meeting") == ["a.md"]


def test_lists_are_of_a_day(remembered: Invoke, notes: Path) -> None:
    """What was written later is not in a list, and `get` marks what was changed or written later, not what was read first."""
    redis, day = "decisions/2026-02-11-redis.md", ("--as-of", "2026-04-30")
    assert [note["title"] for note in ask_json(remembered, "list", *day)["documents"]] == [
        "Keep sessions in Redis"
    ]
    assert ask_json(remembered, "list", *day)["total"] == 1
    assert ask_json(remembered, "timeline", redis, *day)["after"] == []
    assert "This text was changed" not in remembered("get", redis, *day).stderr
    with (notes / redis).open("a", encoding="utf-8") as file:
        file.write("\nFor now.\n")
    remembered("update")
    assert "This text was changed on 20" in remembered("get", redis, *day).stderr
    later = "This text was written on 2026-06-09"
    assert later in remembered("get", "decisions/2026-06-09-postgres.md", *day).stderr
    assert later in remembered("get", "decisions/*.md", *day).stdout
    assert "This text was changed" not in remembered("get", redis).stderr


def test_kinds_and_tags_limit_what_is_seen(invoke: Invoke, tmp_path: Path) -> None:
    """What is of another type or lacks a tag is not there, however well it fits."""
    notes = tmp_path / "notes"
    notes.mkdir()
    heads = {"a": "content_type: decision\ntags: [Queue]", "b": "content_type: research\ntags: [queue, slow]"}
    for name, head in heads.items():
        (notes / f"{name}.md").write_text(
            f"---\n{head}\n---\n\nThe queue of the press is slow today.\n", "utf-8"
        )
    assert invoke("bootstrap", str(notes)).exit_code == 0

    seen = {
        (): {"a", "b"},
        ("--tag", "queue"): {"a", "b"},
        ("--type", "decision", "--type", "research"): {"a", "b"},
        ("--type", "decision"): {"a"},
        ("--tag", "QUEUE", "--tag", "slow"): {"b"},
        ("--type", "research"): {"b"},
        ("--type", "decision", "--tag", "slow"): set(),
    }
    modes = map("query --mode={}".format, ("vectors", "auto", "plan", "intent"))
    for verb, options in product(("search", "query", *modes), seen):
        found = found_paths(invoke, verb, "why is the queue of the press slow", *options)
        assert {Path(path).stem for path in found} == seen[options], (verb, options)


@pytest.mark.parametrize("folder", ["~", "/"])
@pytest.mark.parametrize("words", [("collection", "add"), ("bootstrap", "--skip-embed")], ids=" ".join)
def test_a_very_broad_folder_needs_a_confirmation(
    invoke: Invoke, home: Path, folder: str, words: tuple[str, ...]
) -> None:
    """The home folder and what contains it hold Markdown of other programs too: the refusal says what would be read."""
    write_notes(home, {"novel/one.md": "# One\n"})

    refused = invoke(*words, folder, "--name", "all")

    assert refused.exit_code == 2
    assert "Nothing was changed." in refused.stderr and "add --yes" in refused.stderr
    assert "home folder" in refused.stderr
    assert "No collections" in invoke("collection", "list").stdout
    if (folder, words[0]) == ("/", "bootstrap"):
        return  # it would read this machine
    done = invoke(*words, folder, "--name", "all", "--yes")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("get", "nothing.md"), "NOT_FOUND", 3),
        (("search", "x", "--type", "decison"), "NOT_FOUND", 3),
        (("archive", "--dry-run"), "CONFIG", 4),
        (("get", "#zz"), "INVALID_INPUT", 2),
        (("serch", "x"), "INVALID_INPUT", 2),
        (("search", "x", "-n", "many"), "INVALID_INPUT", 2),
        (("search", "x", "--colour"), "INVALID_INPUT", 2),
    ],
)
def test_an_error_is_json_where_json_was_asked_for(
    remembered: Invoke, arguments: tuple[str, ...], code: str, exit_code: int
) -> None:
    """The sentence stays on stderr; stdout has one object with the same sentence and a code."""
    done = remembered("--json", *arguments)

    record = json.loads(done.stdout)
    assert (record["code"], done.exit_code) == (code, exit_code)
    assert done.stderr.startswith(f"clawmem: {record['error']}")
