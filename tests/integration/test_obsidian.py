"""A vault of Obsidian with every construct is read as Obsidian reads it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from command_line import Invoke, ask_json, write_notes
from command_process import run_process
from process_environ import process_environ

VAULT = Path(__file__).parent.parent / "data" / "obsidianvault"


@pytest.fixture(scope="module")
def boats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose index has a copy of the vault, as the collection ``boats``."""
    home = tmp_path_factory.mktemp("home")
    folder = copytree(VAULT, home / "boats")
    for command in (("collection", "add", str(folder)), ("update",)):
        run_process(*command, environ=process_environ(home), cwd=home, check=True)
    return home


@pytest.fixture
def read(invoke: Invoke, boats: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """``invoke`` over the index of the vault, which no test changes."""
    for name, value in process_environ(boats).items():
        monkeypatch.setenv(name, value)
    return invoke


def ends(read: Invoke, note: str) -> list[tuple[str, str | None, int | None]]:
    found = ask_json(read, "links", note)["links"]
    return [
        (one["written"], (one["target"] or "").removeprefix("boats/"), one["target_line"]) for one in found
    ]


def names(found: Any) -> set[str]:
    return {one["path"] for one in found["results"]}


def test_forms_of_links(read: Invoke) -> None:
    """Each form leads to its note and line; a place of the same note is no link."""
    puffin, ines = "Boats/Puffin.md", "People/Ines Sørli.md"

    assert ends(read, "Harbour") == [
        ("Puffin", "Log/Puffin.md", None),  # two notes have the name: the shorter path
        ("Boats/Heron", "Boats/Heron.md", None),
        ("Heron", "Boats/Heron.md", None),
        ("Boats/Puffin#Hull", puffin, 18),
        ("Boats/Puffin#Hull#Planks", puffin, 22),
        ("Boats/Puffin#^keel", puffin, 20),
        ("Boats/Puffin#^rudder-note", puffin, 28),
        ("red boat", puffin, None),
        ("Ines Sørli.md", ines, None),
        ("ines SØRLI", ines, None),
        ("Boats/Puffin#Rig", puffin, 26),
        ("sail.png", "", None),
        ("manual.pdf#page=3", "", None),
    ]
    assert {one["kind"] for one in ask_json(read, "links", "Harbour")["links"][-3:]} == {"embed"}
    block = ask_json(read, "get", "((6512AB34-0c1d-4e5f-8a9b-0123456789ab))")
    assert (block["file"], block["text"].splitlines()[0]) == (
        "boats/Blocks.md",
        "- The mooring costs 900 a year",
    )


def test_broken_links(read: Invoke) -> None:
    """Notes, headings and blocks that do not exist are listed; a note in a folder that is not indexed exists."""
    found = ask_json(read, "links", "--broken")["links"]

    assert [(one["written"], one["line"]) for one in found if one["source"] == "boats/Broken.md"] == [
        ("Missing boat", 3),
        ("Puffin#Sails", 3),
        ("Boats/Puffin#^nothing", 3),
        ("Boats/Gone.md", 3),
        ("Lost drawing", 3),
    ]
    assert {one["source"] for one in found} == {
        *("boats/Broken.md", "boats/Block user.md", "boats/Boats/Sails/Note.md", "boats/Fields.md"),
        *("boats/Parts list.md", "boats/Harbour.md"),
    }


def test_properties(read: Invoke) -> None:
    """All values are kept, of any type, with the fields of the text; style classes are left out."""
    puffin, fields, wrong = (
        ask_json(read, "get", name)["properties"]
        for name in ("Boats/Puffin.md", "Fields.md", "Wrong types.md")
    )

    assert puffin == {
        "aliases": ["Red boat", "The dinghy"],
        "status": ["active"],
        "built": ["1962"],
        "owner": ["[[Ines Sørli]]"],
        "crew": ["[[Ines Sørli]]", "Tove"],
        "insured": ["true"],
        "created": ["2025-04-02"],
        "tags": ["boat/dinghy", "restoration", "boatyard/winter"],
    }
    assert ask_json(read, "get", "Boats/Puffin.md")["authored_at"].startswith("2025-04-02")
    assert fields == {
        "due": ["2025-08-01"],
        "Cost": ["120"],
        "colour": ["dark red"],
        "hours": ["12"],
        "aliases": ["Paint job"],
        "tags": ["painting", "cold season"],
    }
    assert ask_json(read, "get", "paint job")["file"] == "boats/Fields.md"
    assert wrong["status"] == ["active", "[paused]"] and wrong["rating"] == ["4.5"] and wrong["empty"] == []
    assert ask_json(read, "get", "Broken front matter")["properties"] == {"status": ["active"]}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--where", "status=active"), {"Boats/Puffin.md", "Log/Puffin.md", "Projects/2025/Refit.md"}),
        (("--where", "Status=ACTIVE", "--where", "built=1962"), {"Boats/Puffin.md"}),
        (("--where", "status=active, built=1962"), {"Boats/Puffin.md"}),
        (("--where", "owner=[[ines sørli]]"), {"Boats/Puffin.md"}),
        (("--where", "crew=Ines Sørli"), {"Boats/Puffin.md"}),
        (("--where", "built", "--where", "status!=active"), {"Boats/Heron.md"}),
        (("--where", "status=unknown"), set()),
        (("--where", "built=1963"), set()),
        (("--tag", "boat"), {"Boats/Puffin.md", "Boats/Heron.md", "Tags.md"}),
        (("--tag", "#Boat/Dinghy/"), {"Boats/Puffin.md", "Tags.md"}),
        (("--tag", "restoration"), {"Boats/Puffin.md", "Projects/2024/Refit plan.md"}),
        (("--tag", "restoration", "--where", "status!=dropped"), {"Boats/Puffin.md"}),
        (("--tag", "НЕТ"), None),
        (("--tag", "привет"), {"Tags.md"}),
    ],
)
def test_questions_about_tags_and_properties(
    read: Invoke, options: tuple[str, ...], found: set[str] | None
) -> None:
    """Only notes with the properties, and with the tags or tags below them, are answers."""
    if found is None:
        assert read("search", "boats", *options).exit_code == 3
        return
    question = "puffin heron boats refit tags planks sold dear cold club trip"
    assert names(ask_json(read, "search", question, "--all", "--limit", "50", *options)) == found


@pytest.mark.parametrize(
    ("options", "exit_code", "said"),
    [
        (("--tag", "bota"), 3, "No tag matches 'bota'. Did you mean: boat"),
        (("--where", "statsu=active"), 3, "No property matches 'statsu'. Did you mean: status"),
        (("--where", "status=actve"), 3, "No value of status matches 'actve'. Did you mean: Active"),
        (("--where", "=active"), 2, "'=active' is no condition on a property. Write NAME=VALUE"),
        (("--where", "length>5"), 2, "'length>5' is no condition on a property. Write NAME=VALUE"),
        (("--where", ""), 2, "--where is empty"),
    ],
)
def test_unknown_tags_and_properties(
    read: Invoke, options: tuple[str, ...], exit_code: int, said: str
) -> None:
    """What no note has is refused with similar names, instead of an answer without notes."""
    done = read("query", "boats", *options)
    assert (done.exit_code, said in done.stderr) == (exit_code, True), done.stderr


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (
            ("--where", "status", "--sort", "built"),
            [
                ("Boats/Puffin.md", {"status": ["active"], "built": ["1962"]}),
                ("Boats/Heron.md", {"status": ["sold"], "built": ["1971"]}),
            ],
        ),
        (
            ("--where", "built", "--sort", "BUILT"),
            [("Boats/Puffin.md", {"BUILT": ["1962"]}), ("Boats/Heron.md", {"BUILT": ["1971"]})],
        ),
    ],
)
def test_list_by_property(
    read: Invoke, options: tuple[str, ...], found: list[tuple[str, dict[str, list[str]]]]
) -> None:
    """A list needs no question: it has the notes that meet the conditions, in order, with the values it was asked by."""
    listing = ask_json(read, "list", *options)
    shown = [(one["file"].removeprefix("boats/"), one["properties"]) for one in listing["documents"]]
    assert shown[: len(found)] == found


def test_tasks_are_listed_by_their_day(invoke: Invoke, tmp_path: Path) -> None:
    """Tasks of Obsidian, its plugins and Logseq are found by the day on which they are due, none by a day in code or of a finished one."""
    notes = {
        "tasks.md": "- [ ] Call the plumber 📅 2026-03-08\n- [ ] Buy paint ⏳ 2026-03-05\n",
        "board.md": "- [ ] Oil @{2026-03-09} @@{10:00}\n- [!] Sand @[[2026-03-10]]\n- [?] Wax @[2026-03-11](d/2026-03-11.md)\n"
        '- [>] Rest\n- [X] Saw @{2026-03-09}\n- ["] So be it\n- [i] Glue is warm\n- [1] Smith 2020\n',
        "rent.md": "paid:: [[Apr 30th, 2026]]\n- TODO Pay the rent\n  DEADLINE: <2026-03-08 Sun 10:00 +1m>\n",
        "code.md": "# Code\n\n```\nDEADLINE: <2026-03-08 Sun>\n```\n",
        "finished.md": "1. [x] Ask 📅 2026-03-08\n- [-] Go ⏳ 2026-03-05\n* DONE Pay\n  DEADLINE: <2026-03-08>\n",
    }
    write_notes(tmp_path / "notes", notes)
    invoke("bootstrap", str(tmp_path / "notes"))

    assert invoke("pin", "rent.md").exit_code == 0
    pinned = [
        ask_json(invoke, "list", "--where", text) for text in ("Pinned", "pinned=false", "pinned!=true")
    ]
    assert [record["total"] for record in pinned] == [1, 4, 4]
    due, scheduled = (invoke("list", "--where", day).output for day in ("due=2026-03-08", "scheduled"))

    assert [name in due for name in notes] == [True, False, True, False, False]
    tasks = [f"{task['text']} {task['day'][-2:]}" for task in ask_json(invoke, "list", "--tasks")["tasks"]]
    assert tasks[:3] == ["Buy paint 05", "Pay the rent 08", "Call the plumber 08"]
    assert tasks[3:] == ["Oil @@{10:00} 09", "Sand 10", "Wax 11", "Rest "]
    assert "rent.md" in invoke("list", "--where", "paid=[[2026-04-30]]").output
    assert "No note is the journal of 2026-04-30." in invoke("links", "Apr 30th, 2026").stderr
    assert "scheduled 2026-03-05" in scheduled and "rent.md" not in scheduled and "finished" not in scheduled


def test_open_tasks_answer_by_day(invoke: Invoke, tmp_path: Path) -> None:
    """The day of a task is in its line, a heading above, the front matter or the name of the note; questions get it first."""
    today = datetime.now(UTC).date()
    yesterday, tomorrow = (today + timedelta(days=days) for days in (-1, 1))
    notes = {
        "tasks.md": f"- [ ] Pay 📅 {tomorrow} ⏫ ^pay\n- [ ] Sow (due:: {yesterday})\n- [x] Go 📅 {tomorrow}\n- WAITING [#A] Rest\n",
        f"daily/{tomorrow}.md": "- [ ] Bring the car\n\n```\n- [ ] In code\n```\n",
        "farm.md": f"---\ndue: {yesterday}\naliases: [Homestead]\ntags: [cattle]\nowner: '[[Jo Tan]]'\n---\n# Farm\n## {tomorrow}\n- [ ] Milk\n## Meadow\n- [ ] Mow\n",
        f"diary/{yesterday}.md": "The key is red.\n",
        "later.md": f"- [ ] Paint ⏳ {tomorrow} 📅 2099-02-01\n- [ ] Ring Bo [[{today + timedelta(days=3)}]]\n",
    }
    write_notes(tmp_path / "notes", notes)
    invoke("bootstrap", str(tmp_path / "notes"))

    def tasks(*days: str) -> list[str]:
        return [task["text"] for task in ask_json(invoke, "list", "--tasks", *days)["tasks"]]

    def answer(question: str, least: float = 0.8) -> set[str]:
        results = ask_json(invoke, "query", question)["results"]
        return {result["snippet"].split("] ")[-1] for result in results if result["confidence"] >= least}

    of_tomorrow = {
        "Bring the car",
        "Milk",
        f"Pay 📅 {tomorrow} ⏫ ^pay",
        f"Paint ⏳ {tomorrow} 📅 2099-02-01",
    }
    sown, ring = f"Sow (due:: {yesterday})", f"Ring Bo [[{today + timedelta(days=3)}]]"
    assert tasks() == ["Mow", "Sow", "Bring the car", "Milk", "Pay", ring, "Paint", "Rest"]
    assert tasks("--since", "tomorrow", "--until", "2d") == ["Bring the car", "Milk", "Pay", "Paint"]
    assert tasks("--until", str(yesterday)) == ["Mow", "Sow"]
    assert tasks("--until", "2d") == ["Mow", "Sow", "Bring the car", "Milk", "Pay"]
    assert "No open task in these days" in invoke("list", "--tasks", "--since", "2099-03-01").output
    refused = invoke("list", "--tasks", "--since", "tomorrow", "--until", "today")
    assert (refused.exit_code, "is after" in refused.stderr) == (2, True)
    assert answer("What do I have to do tomorrow?") == answer("Was muss ich morgen erledigen?") == of_tomorrow
    assert answer("deadlines tomorrow") == of_tomorrow and answer("todos of yesterday", 0.1) == {"Mow", sown}
    assert (
        answer("What is planned for tomorrow?")
        == answer("Qu'est-ce que j'ai à faire demain ?")
        == of_tomorrow
    )
    for name in ("farm", "homestead", "cattle", "farm of Jo Tan"):  # of the file, an alias, a tag, a property
        assert answer(f"open tasks of the {name}") == {"Milk", "Mow"}
    assert answer("What do I still have to do for the meadow?") == {"Mow"}
    assert answer("Was muss ich noch für die Farm erledigen?") == {"Milk", "Mow"}
    assert answer("What is overdue?") == {"Mow", sown}
    every = {*of_tomorrow, "Rest", "Mow", sown, ring}
    assert answer("What is still open?") == answer("Was muss ich noch erledigen?") == every
    assert answer("How does Milk taste tomorrow?") == answer("what time is the farm still open") == set()
    block = invoke("surface", "--context", "Which tasks are overdue?").output
    assert ["Sow" in block, "Paint" in block, "Bring" in block] == [True, False, False]
    none = ask_json(invoke, "query", f"What do I have to do on {today + timedelta(days=9)}?")
    assert none["notice"] == f"No open task is of that time ({today + timedelta(days=9)})."
    assert [result["snippet"] for result in none["results"] if result["confidence"] > 0.1] == [
        "- WAITING [#A] Rest"
    ]


def test_a_conflicting_version_is_below_its_original(invoke: Invoke, tmp_path: Path) -> None:
    """Its tasks are those of its original, and the day of the conflict is neither its own nor that of a task."""
    marks = (".sync-conflict-20261002-101112-ABCDEFG", " (Ann's conflicted copy 2026-10-02)", " 2")
    text = "# Trip\n\nThe ferry to Zwolle.\n\n- [{}] book the hotel\n"
    notes = {f"Trip{mark}.md": text.format(" ") for mark in marks}
    notes |= {
        "Trip.md": text.format("x"),
        "Inbox/Trip 1.md": "# Trip\n\n- [ ] book the hotel\n",
        f"Lone{marks[0]}.md": "- [ ] walk\n",
        "Trip to Ely.md": "- [ ] row\n",
    }
    write_notes(tmp_path / "n", notes)
    invoke("bootstrap", tmp_path / "n")

    tasks, results = (
        ask_json(invoke, "list", "--tasks")["tasks"],
        ask_json(invoke, "query", "ferry hotel")["results"],
    )

    assert {(task["text"], task["day"]) for task in tasks} == {("walk", ""), ("row", "")}
    assert results[0]["path"] == "Trip.md"
    assert {result["path"] for result in results if result["changed_by"]} == {
        f"Trip{mark}.md" for mark in marks[:2]
    }
    assert not any(result["authored_at"].startswith("2026-10-02") for result in results)
    assert (
        "copy 2026-10-02).md:3-5, perhaps no longer so, see n/Trip.md"
        in invoke("surface", "ferry hotel").stdout
    )


def test_a_prompt_gets_the_properties_that_it_names(invoke: Invoke, tmp_path: Path) -> None:
    """By their name, also in words, or a value of one of the notes; secrets are masked."""
    notes = {
        "17.md": "---\nstatus: overdue\n---\n# Invoice 17\n\nWindows by Brandt for the bathroom.\n",
        "18.md": "---\nstatus: paid\nclient: Kluge\n---\n# Invoice 18\n\nPaint for the kitchen.\n",
        "joerg.md": "---\nphone: 0345 556677\napk_expires: May 3\ntoken: ghp_abcdefghijklmnopqrstuvwxyz0123456789\n---\n# Jörg\n\nTunes the piano.\n",
    }
    write_notes(tmp_path / "n", notes)
    assert invoke("bootstrap", tmp_path / "n").exit_code == 0

    overdue = invoke("surface", "which invoice is overdue?").stdout
    assert "status: overdue" in overdue and "paid" not in overdue
    phone = invoke("surface", "what is the phone and the token of Jörg?").stdout
    assert "phone: 0345 556677" in phone and "apk_expires" not in phone
    for name in ("apk_expires", "APK expires", "apkExpires"):
        assert "apk_expires: May 3" in invoke("surface", f"what is the {name} of Jörg?").stdout
    assert "ghp_" not in phone


def test_days_in_the_forms_of_other_programs(invoke: Invoke, tmp_path: Path) -> None:
    """Front matter of other programs and languages, and folders of years and months, tell when a note was written."""
    lines = (
        "createdAt: 8-Mar-2026",
        "Last edited time: March 8, 2026 9:15 PM",
        "date: 2026. 3. 8.",
        "date: Sun Mar  8 21:15:03 CET 2026",
    )
    texts = {f"{number}.md": f"---\n{line}\n---\nSowed beans.\n" for number, line in enumerate(lines)}
    write_notes(tmp_path / "notes", texts | {"diary/2026/03/08.md": "Sowed peas.\n"})
    invoke("bootstrap", tmp_path / "notes")

    listed = ask_json(invoke, "list", "--since", "2026-03-08", "--until", "2026-03-08")

    assert len(listed["documents"]) == len(texts) + 1


def test_names_and_templates(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file name goes before titles, an embed is no text, templates and files without their reader are counted."""
    folder = tmp_path / "desk"
    plant = "# Hoya\n\nHoya carnosa flowers when the pot is tight. ^pot\n\n- Buds ^buds\n  - Sap\n- Ants\n\n^list\n\nEnd.\n"
    write_notes(
        folder,
        {
            "Daily/2026-02-03.md": "## Day\n\nRepotted the fig.\n",
            "Plants/Hoya.md": plant,
            "Plants/Hoya 1.md": plant,
            "Moc.md": "The window.\n\n![[Hoya carnosa flowers]]\n\n- ![[Hoya]]\n",
            "A.md": "",
            "B.md": "\n",
            "Forms/Person.md": "Name:\n",
            "Snippets/Call.md": "Who:\n",
            "Forms daily.md": "Weather:\n",
            "page.html": "<p>Hello</p>",
            ".obsidian/templates.json": '{"folder": "Forms"}',
            ".obsidian/daily-notes.json": '{"template": "Forms daily"}',
            ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "Snippets/"}',
        },
    )
    monkeypatch.setitem(sys.modules, "bs4", None)
    monkeypatch.setitem(sys.modules, "markdownify", None)
    added = invoke("collection", "add", folder, "--pattern", "**/*.{md,html}")
    assert added.exit_code == 0, added.output
    done = invoke("update")
    assert (done.exit_code, "1 by packages that are not installed" in done.stdout) == (0, True), done.stdout
    for place in ("templates.json", "daily-notes.json", "plugins/templater-obsidian/data.json"):
        assert f"1 by .obsidian/{place}" in done.stdout
    documents = {one["file"]: one for one in ask_json(invoke, "list", "--limit", "50")["documents"]}
    assert {path.partition("/")[2] for path in documents} == {
        *("Daily/2026-02-03.md", "Plants/Hoya.md", "Plants/Hoya 1.md", "Moc.md", "A.md", "B.md")
    }
    assert documents["desk/Daily/2026-02-03.md"]["title"] == "2026-02-03"
    for path in ("desk/A.md", "desk/B.md"):
        assert invoke("get", f"#{documents[path]['docid'].removeprefix('#')}").exit_code == 0
    for block, lines in (("pot", (3, 3)), ("buds", (5, 6)), ("list", (5, 7))):
        shown = ask_json(invoke, "get", f"Hoya#^{block}")["text"].strip().split("\n")
        assert shown == plant.split("\n")[lines[0] - 1 : lines[1]]
    assert [one["written"] for one in ask_json(invoke, "links", "Hoya")["links"]] == ["Hoya"]
    assert ask_json(invoke, "query", "hoya carnosa flowers")["results"][0]["path"] != "Moc.md"
