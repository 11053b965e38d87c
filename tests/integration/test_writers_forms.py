"""Front matter, names of files and times of day as people and their programs write them."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from command_line import Invoke, ask_json, write_notes


def test_a_bad_line_of_front_matter_is_lost_alone(invoke: Invoke, tmp_path: Path) -> None:
    """The message names the line; other keys, the other values of a list, and keys without a blank after the colon count."""
    notes = {
        "open.md": "---\ntitle:: Larch\ntags: [a, b\ndate: 2024-05-05\n---\nText.\n",
        "tab.md": "---\ntitle: Birch\n\tfoo: bar\nlast modified: 2024-5-5\n---\nText.\n",
        "list.md": "---\ntags:\n- one\n- @two\n- three\n---\nText.\n",
        "near.md": "---yaml\nprivate:true\ntitle:Alder\ndate:2024-05-05\n---\nText.\n",
    }
    write_notes(tmp_path / "v", notes)

    read = invoke("bootstrap", tmp_path / "v").stdout

    assert {
        line.split(": ")[0].strip("- "): line.rsplit(" ", 1)[1]
        for line in read.splitlines()
        if "in line" in line
    } == {"v/list.md": "4.", "v/open.md": "3.", "v/tab.md": "3."}
    listed = {one["title"]: one["authored_at"][:10] for one in ask_json(invoke, "list")["documents"]}
    assert {listed[title] for title in ("Larch", "Birch", "Alder")} == {"2024-05-05"}
    assert "v/near.md" in invoke("list", "--where", "private=true").stdout
    assert invoke("list", "--tag", "three").stdout.count("v/list.md") == 1


def test_front_matter_of_hugo(invoke: Invoke, tmp_path: Path) -> None:
    """TOML and JSON count like YAML, tables too; a bad line is lost alone, an export keeps it, and ``+++`` may be text."""
    locker = '+++\ntitle = "Locker"\ndate = 2024-05-03\ntags = ["gym", "code"]\nprivate = true\n+++\n'
    notes = {
        "locker.md": f"{locker}The locker at the gym has code 4711.\n",
        "jig.md": '+++\r\ntitle = "Jig"\r\n[taxonomies]\r\ntags = [\r\n  "wood",\r\n]\r\n+++\r\n- [ ] Sand it\r\n',
        "bad.md": '+++\ntitle = "Clamp"\ndate = 2024-13-45\nprivate = true\n+++\nThe clamp slips.\n',
        "plane.md": '+++\ntitle = "Plane"\nshelf = "north"\n+++\nThe number five plane.\n',
        "open.md": '+++\ntitle = "Vise"\n\nThe vise.\n',
        "json.md": '{\n  "title": "Bolt",\n  "date" "2024-05-04",\n  "private": true\n}\n\nThe gym bolt code.\n',
        "data.md": '{\n  "private": true\n}\n',
        "text.md": "+++\n---\n\nOf three plus signs.\n",
        "yaml.md": "---\nkey: a\n+++\nsum: a = b\n---\nText.\n",
    }
    write_notes(tmp_path / "v", notes)

    read = invoke("bootstrap", tmp_path / "v").stdout

    assert all(f"v/{name}.md: front matter left out in line 3: " in read for name in ("bad", "json"))
    assert "v/open.md: front matter taken as text: it has no line +++ at its end" in read
    assert "v/text.md" not in read
    listed = {one["title"]: one["authored_at"][:10] for one in ask_json(invoke, "list")["documents"]}
    assert listed["Locker"] == "2024-05-03"
    assert invoke("surface", "gym locker code").stdout == ""
    private = ask_json(invoke, "list", "--where", "private=true")["documents"]
    assert {one["file"] for one in private} == {"v/locker.md", "v/bad.md", "v/json.md"}
    assert "v/jig.md" in invoke("list", "--tag", "wood").stdout
    assert invoke("list", "--tasks").stdout.splitlines()[1].split() == ["Sand", "it", "v/jig.md", "8"]
    best = ask_json(invoke, "query", "what is the shelf of the plane")["results"][0]
    assert (best["file"], best["snippet"].splitlines()[-1]) == ("v/plane.md", 'shelf = "north"')
    (tmp_path / "v" / "locker.md").unlink()
    invoke("export", "--format", "markdown", tmp_path / "out")
    assert (tmp_path / "out" / "v" / "locker.md").read_text() == notes["locker.md"]


def test_names_of_logseq(invoke: Invoke, tmp_path: Path) -> None:
    """A journal is its day in every form, a namespace a path, an escaped sign the sign; exact case goes first."""
    ends = {
        "Mar 9th, 2026": "journals/2026_03_09.md",
        "Monday, March 9th, 2026": "journals/2026_03_09.md",
        "2026-03-09": "journals/2026_03_09.md",
        "2026/03/09": "journals/2026_03_09.md",
        "2026-03-09 Monday": "journals/2026_03_09.md",
        "Mon, 09-03-2026": "journals/2026_03_09.md",  # the format of the graph; else September 3rd or March 9th
        "14-03-2026": "journals/2026/03/14.md",
        "2026/03/14": "journals/2026/03/14.md",
        "a/b/c": "pages/a___b___c.md",
        "a/b": "pages/a%2Fb.md",
        "What?": "pages/What%3F.md",
        "Reading: Q?": "pages/reading.md",  # by its title::
        "202401021200": "202401021200 Moon.md",  # as a Zettelkasten links
        "20240102130000": "pages/tides.md",
        "upper": "sub/upper.md",
        "UPPER": "Upper.md",
    }
    links = "\n".join([*(f"- [[{target}]]" for target in ends), "[F sharp](F%23.md)"])
    links += "\n- Rang #[[Gwil Spars]] #ash of #larch\n  tags:: [[upper]], oak\n"
    ends |= {name: f"pages/{name}.md" for name in ("Gwil Spars", "larch", "oak")} | {"F#.md": "F#.md"}
    write_notes(
        tmp_path / "v",
        {**dict.fromkeys(ends.values(), "Text.\n"), "links.md": links, "202603091530.md": "Id.\n"}
        | {
            "pages/reading.md": "date:: [[Mar 5th, 2026]]\ntitle:: Reading: Q?\n\n- Text\n  title:: Dune\n  type:: find\n  tags:: elm\n"
        }
        | {"pages/tides.md": "---\nid: '20240102130000'\n---\nText.\n"}
        | {"logseq/config.edn": '{:journal/page-title-format "EEE, dd-MM-yyyy"}'},
    )
    invoke("bootstrap", tmp_path / "v")

    found = ask_json(invoke, "links", "v/links.md")["links"]

    assert {one["written"]: (one["target"] or "").removeprefix("v/") for one in found} == ends | {"ash": ""}
    assert "v/" not in invoke("links", "--broken").stdout  # a tag needs no page
    assert ask_json(invoke, "get", "[[Mon, 09-03-2026]]")["file"] == "v/journals/2026_03_09.md"
    assert ask_json(invoke, "get", "upper")["file"] == "v/sub/upper.md"
    notes = ask_json(invoke, "list", "--limit", "50")["documents"]
    days = {note["title"]: note["authored_at"][:10] for note in notes}
    assert "a/b/c" in days and days["Reading: Q?"] == "2026-03-05"
    # Those of a block are no properties of its page, but are found.
    assert {note["content_type"] for note in notes} == {"note"} and "elm" not in invoke("tags").stdout
    assert "v/pages/reading.md" in invoke("list", "--where", "type=find").stdout


def test_vaults_of_other_programs(invoke: Invoke, tmp_path: Path) -> None:
    """Dendron's links begin with their text, Pandoc's headings end with attributes, fields may open a text without rulers."""
    dendron = "---\nid: k3j2\ntitle: Sail\ndesc: ''\n---\n[[Where it is|dev.sail.maker#loft]]\n"
    notes = {
        "dev.sail.md": dendron,
        "dev.sail.maker.md": "## Loft\n\nIn Kappeln.\n",
        "guide.md": "# **Guide \\- all** {#top .wide}\n\n## Set it up {: #install }\n\nRun it. [up](guide.md#top)\n\n"
        f"[image1]: <data:image/png;base64,{'iVBORw0K' * 3000}>\n",
        "start.md": "[a](guide.md#install) [b](guide.md#set-it-up) [[Where it is|dev.sail.maker]] [[Roam tasks]]\n",
        "Roam-Tasks.md": "- {{[[TODO]]}} fix the winch\n- {{[[DONE]]}} oil the block\n",
        "mast.md": "Title: Mast repair\nDate: 2023-05-06\nTags: rig, spars\n\nOf a MultiMarkdown file.\n",
        "Rig 0f3a.md": "# Rig\n\nLast edited: March 6, 2023 10:12 AM\nCreated: May 6, 2023 9:01 PM\nTags: rig\n\nOf Notion.\n",
        "Ann.md": "# Ann\nTitle: Professor\nBirth date: 3 May 1970\n",
        "Card.md": "# Card valid until 1 January 2027\n\nOf the library.\n",
        "aa1c2d4e5a6b47c8d9e0f1a2b3c4d5e6.md": "Boiler manual\n\nOf Joplin.\n# Valves\n",
        "Ropes.textbundle/text.md": "Of Bear.\n",
        ".Far.md.icloud": "bplist",
        "Books 0f3a_all.csv": "Name\nStoner\n",
    }
    write_notes(tmp_path / "v", notes)

    read = invoke("bootstrap", tmp_path / "v").stdout

    assert "1 by iCloud, which has not downloaded them" in read and "(.csv)" in read
    broken = ask_json(invoke, "links", "--broken")["links"]
    assert [(one["written"], one["line"]) for one in broken] == [("Where it is", 1)]
    assert ask_json(invoke, "links", "v/dev.sail.md")["links"][0]["target_line"] == 1
    assert [one["text"] for one in ask_json(invoke, "list", "--tasks")["tasks"]] == ["fix the winch"]
    guide = ask_json(invoke, "get", "v/guide.md")
    assert guide["title"] == "Guide - all" and "iVBORw0K" not in guide["text"]
    rigs = ask_json(invoke, "list", "--tag", "rig", "--since", "2023-05-06", "--until", "2023-05-06")[
        "documents"
    ]
    assert {one["title"] for one in rigs} == {"Mast repair", "Rig"}
    listed = {*invoke("list", "--limit", "50").stdout.split()}
    assert {"Boiler", "Ropes"} <= listed and not {"Professor", "1970-05-03", "2027-01-01"} & listed

    (tmp_path / "v/mast.md").rename(stub := tmp_path / "v/.mast.md.icloud")
    assert "0 removed" in (done := invoke("update").stdout) and "2 by iCloud" in done
    assert invoke("get", "v/mast.md").exit_code == invoke("doctor", "--verify").exit_code == 0
    for file in (stub, stub.with_name("mast.md")):
        assert "iCloud has not downloaded it" in invoke("doctor", file).stdout


@pytest.mark.parametrize(
    "zone", ["Pacific/Pago_Pago", "Asia/Tokyo", "America/Havana"]
)  # a day of the first begins 20 hours after that of the second; in Havana 8 March begins at 1 o'clock
def test_days_are_those_of_the_writer(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    """A day alone, and a time of day without an offset, belong to the day that is written there."""
    notes = {
        "2026-03-08.md": "Larch.\n",
        "late.md": "---\ndate: 2026-03-08T23:30\n---\nLarch.\n",
        "early.md": "---\ndate: 2026-03-08 00:30\n---\nLarch.\n",
        "before.md": "---\ndate: 2026-03-07T23:30\n---\nLarch.\n",
        "after.md": "---\ndate: 2026-03-09 00:30\n---\nLarch.\n",
        "2026-03-09.md": "Larch.\n",
        "2026-03-01.md": "Pine.\n",
        "2026-03-05.md": "---\nsupersedes: 2026-03-01.md\n---\nPine.\n",
    }
    today = str(datetime.now(ZoneInfo(zone)).date())
    write_notes(tmp_path / "v", notes | {f"{today}.md": "Heron.\n"})
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        invoke("bootstrap", tmp_path / "v")
        found = ask_json(invoke, "search", "larch", "--since", "2026-03-08", "--until", "2026-03-08")[
            "results"
        ]
        answers = ask_json(invoke, "query", "what happened on 2026-03-08")["results"]
        until = {note["file"] for note in ask_json(invoke, "list", "--as-of", "2026-03-07")["documents"]}
        before = ask_json(invoke, "search", "pine", "--as-of", "2026-03-04")["results"]
        listed = invoke("list").stdout
        entry = ask_json(invoke, "diary", "write", "A stork.")["file"]
        labels = [ask_json(invoke, "search", word)["results"][0]["age"] for word in ("heron", "stork")]
        assert (entry[: len(f"_clawmem/diary/{today}")], labels) == (f"_clawmem/diary/{today}", ["today"] * 2)
        assert f"written: {today}" in invoke("get", entry).stderr
    time.tzset()

    for results in (found, answers):
        assert {one["file"] for one in results} == {"v/2026-03-08.md", "v/late.md", "v/early.md"}
    assert until == {"v/before.md", "v/2026-03-01.md", "v/2026-03-05.md"}
    assert [note["superseded_by"] for note in before] == [None]
    early = "01:30" if zone == "America/Havana" else "00:30"
    for moment in ("2026-03-08 00:00", "2026-03-08 23:30", f"2026-03-08 {early}", "2026-03-07 23:30"):
        assert moment in listed


def test_a_heading_without_text_is_found_at_its_line(invoke: Invoke, tmp_path: Path) -> None:
    """The heading itself, not the whole note."""
    body = "# Choices\n\nAll of spring.\n\n## Tiles of slate\n\n## Gutters of zinc\n\n## Walls\n\nLarch boards.\n"
    write_notes(tmp_path / "v", {"roof.md": body})
    invoke("bootstrap", tmp_path / "v")

    for question, line in {"gutters zinc": 7, "tiles slate": 5, "larch boards": 11}.items():
        assert f"v/roof.md:{line} " in invoke("search", question).stdout


def test_a_moved_folder_is_recognised_by_its_texts(invoke: Invoke, tmp_path: Path) -> None:
    """Its notes, also an edited one, move to the new collection and keep their docids; no note is there twice."""
    notes = {
        f"{tree}.md": f"The {tree} grows on the hill behind the old house.\n"
        for tree in ("larch", "birch", "rowan")
    }
    write_notes(tmp_path / "old", notes)
    invoke("bootstrap", tmp_path / "old")
    docids = {one["docid"] for one in ask_json(invoke, "list")["documents"]}
    (tmp_path / "old").rename(tmp_path / "new")
    missing = invoke("update").stdout
    assert "collection add PATH --name old; " in missing and "collection remove old" in missing
    with (tmp_path / "new/birch.md").open("a") as file:
        file.write("It is tall.\n")

    invoke("collection", "add", tmp_path / "new")
    invoke("update")

    moved = ask_json(invoke, "list")["documents"]
    assert {one["file"] for one in moved} == {f"new/{path}" for path in notes}
    assert {one["docid"] for one in moved} == docids
    assert "collection remove old" in invoke("update").stdout
