"""Links between notes are resolved as Obsidian does, and shown from both ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, ask_json, write_notes

NOTES = {
    "index.md": "# Start\n\nThe boiler is described in [[Boiler]]. Ask [[Ann|the plumber]] first.\n",
    "house/boiler.md": "---\naliases: [Heating]\n---\n# The boiler\n\n## Pressure\n\nKeep it at 1.5 bar. ^bar\n",
    "people/ann.md": "# Ann Obi\n\nShe repairs the [[heating#Pressure]] and reads [[boiler^bar]].\n",
}


@pytest.fixture
def folder(tmp_path: Path, invoke: Invoke) -> Path:
    """A folder of three notes that link to each other, indexed."""
    root = tmp_path / "notes"
    write_notes(root, NOTES)
    invoke("collection", "add", root)
    invoke("update")
    return root


def ends(invoke: Invoke, name: str) -> list[tuple[str, str | None, int | None]]:
    file, links = ask_json(invoke, "get", name)["file"], ask_json(invoke, "links", name)["links"]
    return [(one["written"], one["target"], one["target_line"]) for one in links if one["source"] == file]


def test_links_and_backlinks(invoke: Invoke, folder: Path) -> None:
    """Each link is shown with its sentence and the line of the heading or block that it names, from both ends."""
    assert ends(invoke, "ann") == [
        ("heating#Pressure", "notes/house/boiler.md", 6),
        ("boiler#^bar", "notes/house/boiler.md", 8),
    ]
    shown = ask_json(invoke, "links", "boiler")
    assert [
        (one["source"], one["line"], one["context"])
        for one in shown["links"]
        if one["target"] == "notes/house/boiler.md"
    ] == [
        ("notes/index.md", 3, "The boiler is described in [[Boiler]]."),
        ("notes/people/ann.md", 3, "She repairs the [[heating#Pressure]] and reads [[boiler^bar]]."),
        ("notes/people/ann.md", 3, "She repairs the [[heating#Pressure]] and reads [[boiler^bar]]."),
    ]
    assert "notes/index.md" in invoke("links", "boiler").output
    write_notes(
        folder,
        {
            "old.md": "---\ndate: 2020-05-01\n---\nSee [[older]].\n",
            "older.md": "---\ndate: 2020-04-01\n---\nx\n",
        },
    )
    invoke("update")
    assert ask_json(invoke, "links", "older.md", "--as-of", "2020-04-15")["links"] == []
    assert len(ask_json(invoke, "links", "older.md", "--as-of", "2020-05-02")["links"]) == 1
    assert invoke("links", "older.md", "--causes", "--as-of", "2020-05-02").exit_code == 0


def test_references(invoke: Invoke, folder: Path) -> None:
    """A link by the label of a definition leads to its note; brackets and footnotes without one are text."""
    text = (
        "See [Ann's page][A], [boiler][] or [Boiler], [not](boiler.md), [x] and [^1].\n- [a] Call\n\n"
        "[a]: people/ann.md 'Ann'\n[boiler]: <house/boiler.md#pressure>\n[^1]: index.md\n[x]: https://x.example\n"
    )
    write_notes(folder, {"refs.md": text, "foam.md": '[[ann]]\n\n[ann]: people/ann.md "Ann Obi"\n'})
    invoke("update")

    boiler, ann = (
        ("house/boiler.md#pressure", "notes/house/boiler.md", 6),
        ("people/ann.md", "notes/people/ann.md", None),
    )
    assert ends(invoke, "refs") == [ann, boiler, boiler, ("boiler.md", "notes/house/boiler.md", None), ann]
    assert ends(invoke, "foam") == [("ann", "notes/people/ann.md", None)]


def test_broken_links(invoke: Invoke, folder: Path) -> None:
    """A link to no note or file of the collection, or no heading of its note, is listed with its place."""
    files = "![[photo.HEIC|200]] [a](scans/my%20report.pdf#page=2) [b](scans/) [[report.pdf]] ![](.attachments/x.png)"
    write_notes(
        folder,
        {
            "new.md": f"See [[Attic]], [[Roof]], [[boiler#Colour]], [[#Here]] and ![[photo.png]].\n{files}\n",
            "house/Day.md": "[[scans/report.pdf]] ![](y.png) [[Template]]\n",
        },
    )
    for name in (
        "img/photo.HEIC",
        "scans/my report.pdf",
        "scans/report.pdf",
        ".attachments/x.png",
        "dist/Template.md",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"")
    write_notes(folder.parent / "barn", {"parts/roof.md": "# Tiles\n"})
    invoke("collection", "add", folder.parent / "barn")
    invoke("update")

    found = ask_json(invoke, "links", "--broken")["links"]

    assert [(one["written"], one["source"], one["line"], one["problem"]) for one in found] == [
        ("y.png", "notes/house/Day.md", 1, "no note is called so"),
        ("Template", "notes/house/Day.md", 1, "no note is called so"),
        ("Attic", "notes/new.md", 1, "no note is called so"),
        ("Roof", "notes/new.md", 1, "in another collection; write barn/parts/roof"),
        ("boiler#Colour", "notes/new.md", 1, "the note has no such heading"),
        ("photo.png", "notes/new.md", 1, "no note is called so"),
    ]
    assert "Only 2 are shown" in invoke("links", "--broken", "--limit", 2).stderr
    assert "are shown" not in invoke("links", "--broken").stderr


def test_links_follow_the_notes(invoke: Invoke, folder: Path) -> None:
    """A note that appears, moves or goes changes where links to it lead, although no file with a link changed."""
    write_notes(folder, {"new.md": "See [[attic]].\n", "bands.md": "[[AC/DC]], [[A/b test#Now]]\n"})
    invoke("update")
    assert ends(invoke, "new") == [("attic", None, None)]

    write_notes(
        folder,
        {
            "house/Attic.md": "---\naliases: [AC/DC]\n---\nDusty.\n",
            "dc.md": "# A/B test\n\n## Now\n",
            "b test.md": "",
        },
    )
    invoke("update")
    assert ends(invoke, "new") == [("attic", "notes/house/Attic.md", None)]
    assert ends(invoke, "bands") == [
        ("AC/DC", "notes/house/Attic.md", None),
        ("A/b test#Now", "notes/dc.md", 3),
    ]

    (folder / "house/Attic.md").rename(folder / "Attic.md")
    invoke("update")
    assert ends(invoke, "new") == [("attic", "notes/Attic.md", None)]

    (folder / "Attic.md").unlink()
    invoke("update")
    assert ends(invoke, "new") == [("attic", None, None)]


def test_one_name_of_several_notes(invoke: Invoke, folder: Path) -> None:
    """An alias goes before a title for a link, and the nearest of two aliases; a command chooses none but by collection."""
    write_notes(
        folder,
        {
            "cat.md": "---\naliases: [Mikado]\n---\n# The cat\n",
            "game.md": "# Mikado\n\nThin sticks.\n",
            "old/oven.md": "---\naliases: [The stove]\n---\n# Oven\n",
            "hob.md": "---\naliases: [the STOVE]\n---\n# Hob\n",
            "log.md": "[[mikado]] lay on [[The stove]].\n",
        },
    )
    write_notes(folder.parent / "barn", {"log.md": "[[Hay]]\n"})
    invoke("collection", "add", folder.parent / "barn")
    invoke("update")

    assert "matches 2 documents" in invoke("links", "[[log]]").stderr
    [hay] = ask_json(invoke, "links", "[[log]]", "-c", "barn")["links"]
    assert hay["source"] == "barn/log.md"
    found = ask_json(invoke, "links", "notes/log.md")["links"]
    assert [one["target"].rpartition("/")[2] for one in found] == ["cat.md", "hob.md"]
    for name, notes in (("Mikado", ("cat.md", "game.md")), ("the stove", ("old/oven.md", "hob.md"))):
        for command in (("get", name), ("pin", name), ("forget", name, "--yes")):
            refused = invoke(*command)
            assert refused.exit_code == 3 and all(one in refused.stderr for one in notes), refused.output
    assert ask_json(invoke, "archive", "--status")["pinned"] == 0
