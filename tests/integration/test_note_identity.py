"""Notes that move, and texts that were forgotten: what stays the same note, and what never returns by itself."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, write_file, write_notes
from typer.testing import Result

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.settings.model import load_settings
from clawmem.ports.records import Document, InactiveReason

ZED = "# Confidential Zed\n\nThe private phone of the ferry pilot Zed is 099-777-4242.\n"
HOLM = "# Anders Holm\n\nRepairs the church organ and keeps the keys of the bell tower.\n"
BERG = "# Anders Berg\n\nSells apples on the square every second Saturday of the month.\n"
PHONE = "099-777-4242"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "desk"
    write_notes(made, {"zed.md": ZED, "people/anders-holm.md": HOLM, "people/anders-berg.md": BERG})
    return made


@pytest.fixture
def world(invoke: Invoke, folder: Path) -> Invoke:
    """``invoke`` over a vault that holds that folder."""
    assert invoke("bootstrap", folder, "--skip-embed").exit_code == 0
    return invoke


def at(path: str) -> Document | None:
    collection, _, rest = path.partition("/")
    with open_services(load_settings(), read_only=True) as services:
        return services.vault.documents.at(collection, rest)


def known(path: str) -> Document:
    document = at(path)
    assert document is not None, path
    return document


def is_served(path: str) -> bool:
    document = at(path)
    return document is not None and document.inactive is None


def vault_holds(text: str) -> bool:
    file = load_settings().vault
    return any(
        text.encode() in part.read_bytes() for part in file.parent.glob(f"{file.name}*") if part.is_file()
    )


def probes(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)["probes"]
    return {name: hits for name, hits in found.items() if hits}


def move(folder: Path, old: str, new: str) -> None:
    (folder / new).parent.mkdir(parents=True, exist_ok=True)
    (folder / old).rename(folder / new)


# -- forgetting takes every place of a note ----------------------------------------------------------------


@pytest.mark.parametrize("in_two_passes", [False, True])
def test_forgetting_a_moved_note_leaves_nothing(world: Invoke, folder: Path, in_two_passes: bool) -> None:
    """The proof is right to find nothing."""
    if in_two_passes:
        text = (folder / "zed.md").read_text("utf-8")
        (folder / "zed.md").unlink()
        world("update")
        (folder / "zed-new.md").write_text(text, "utf-8")
    else:
        move(folder, "zed.md", "zed-new.md")
    world("update")
    assert vault_holds(PHONE)

    done = world("forget", "Confidential Zed", "--yes", "--prove", "--json")

    assert (done.exit_code, probes(done), vault_holds(PHONE)) == (0, {}, False)
    assert known("desk/zed-new.md").inactive is InactiveReason.FORGOTTEN


def test_a_removed_copy_is_forgotten_too(world: Invoke, folder: Path) -> None:
    """A copy whose file was deleted before is not served, but its text is in the vault."""
    (folder / "copy.md").write_text(ZED, "utf-8")
    world("update")
    (folder / "copy.md").unlink()
    world("update")

    done = world("forget", "desk/zed.md", "--yes", "--prove")

    assert (done.exit_code, vault_holds(PHONE)) == (0, False)
    assert "also forgotten: desk/copy.md" in done.stdout
    assert "said in" not in done.stdout


def test_an_earlier_version_is_forgotten_too(world: Invoke, folder: Path) -> None:
    """A note that was removed and later written again leaves a removed record with nearly the same text."""
    (folder / "zed.md").unlink()
    world("update")
    (folder / "boats.md").write_text(f"{ZED}\nHe sails on Mondays as well.\n", "utf-8")
    world("update")
    assert known("desk/zed.md").inactive is InactiveReason.REMOVED

    done = world("forget", "Confidential Zed", "--yes", "--prove", "--json")

    assert (done.exit_code, vault_holds(PHONE)) == (0, False)
    assert known("desk/zed.md").inactive is InactiveReason.FORGOTTEN


def test_the_proof_finds_what_a_removed_note_says(world: Invoke, folder: Path) -> None:
    """Another note, whose file is gone, quotes the sentence: its text is left in the vault, and the proof says so."""
    quote = ZED.splitlines()[-1]
    (folder / "minutes.md").write_text(f"# Minutes\n\nWe met at noon on the pier.\n\n{quote}\n", "utf-8")
    world("update")
    (folder / "minutes.md").unlink()
    world("update")

    done = world("forget", "desk/zed.md", "--yes", "--prove")

    assert done.exit_code == 7
    assert "unserved notes: desk/minutes.md (removed)" in done.stdout
    assert "retained in: desk/minutes.md (removed)" in done.stdout
    assert "said in" not in done.stdout
    assert vault_holds(PHONE)


def test_the_proof_finds_a_served_copy(world: Invoke, folder: Path) -> None:
    """Forgetting one of two notes keeps the other, and does not claim that the text is gone."""
    (folder / "copy.md").write_text(ZED, "utf-8")
    world("update")

    done = world("forget", "desk/zed.md", "--yes", "--prove")

    assert (done.exit_code, is_served("desk/copy.md")) == (7, True)
    assert "same text: desk/copy.md (served)" in done.stdout
    assert world("forget", "desk/copy.md", "--yes", "--prove").exit_code == 0
    assert not vault_holds(PHONE)


# -- a forgotten text does not return ----------------------------------------------------------------------


@pytest.mark.parametrize("twin", [False, True])
def test_a_forgotten_file_that_is_moved_or_copied_stays_away(world: Invoke, folder: Path, twin: bool) -> None:
    """It is named by each pass, and doctor does not complain about it; a served twin of before stays."""
    if twin:
        (folder / "twin.md").write_text(HOLM, "utf-8")
        world("update")
    assert (
        "stay: desk/twin.md." in world("forget", "desk/people/anders-holm.md", "--preview").output
    ) == twin
    assert world("forget", "desk/people/anders-holm.md", "--yes").exit_code == 0
    move(folder, "people/anders-holm.md", "old/anders.md")
    (folder / "copy.md").write_text(HOLM, "utf-8")

    for _ in range(2):
        told = world("update").stdout
        for path in ("old/anders.md", "copy.md"):
            assert f"{path} has the text of a note that was forgotten on request" in told
            assert not is_served(f"desk/{path}")
    assert (vault_holds("church organ"), is_served("desk/twin.md")) == (twin, twin)
    assert world("doctor", "--verify").exit_code == 0
    assert "anders.md" not in world("doctor").output
    assert "forgotten on request" in world("doctor", folder / "copy.md").stdout


def test_a_forgotten_file_that_is_written_again_stays_away(world: Invoke, folder: Path) -> None:
    """Doctor and get say so; a new text is indexed under another name."""
    assert world("forget", "Anders Holm", "--yes").exit_code == 0
    assert "was forgotten" not in world("update").stdout  # the file as it was needs no word
    (folder / "people/anders-holm.md").write_text(HOLM + "He moved to Larvik.\n", "utf-8")
    os.utime(folder / "people/anders-holm.md", (time.time() + 60,) * 2)

    world("update")
    told = [
        world("doctor", folder / "people/anders-holm.md").stdout,
        world("get", "desk/people/anders-holm.md").stderr,
    ]

    assert all("another name" in one for one in told)
    move(folder, "people/anders-holm.md", "people/holm.md")
    world("update")
    assert is_served("desk/people/holm.md")


def test_other_white_space_is_no_other_text(world: Invoke, folder: Path) -> None:
    """A forgotten text stays away after its lines were wrapped anew; a served twin stays when its are."""
    (folder / "twin.md").write_text(HOLM, "utf-8")
    world("update")
    world("forget", "desk/people/anders-holm.md", "--yes")
    wrapped = HOLM.replace(". ", ".\n").replace("\n", "\n\n")
    (folder / "people/anders-holm.md").unlink()
    (folder / "copy.md").write_text(wrapped, "utf-8")
    (folder / "twin.md").write_text(wrapped, "utf-8")

    assert "copy.md has the text of a note that was forgotten on request" in world("update").stdout

    assert not is_served("desk/copy.md")
    assert is_served("desk/twin.md")
    assert world("doctor", "--verify").exit_code == 0


def test_a_note_that_becomes_a_forgotten_text_is_withdrawn(world: Invoke, folder: Path) -> None:
    """A file that is overwritten with the forgotten text is not served with its old text either."""
    world("forget", "Anders Holm", "--yes")
    (folder / "people/anders-berg.md").write_text(HOLM, "utf-8")

    assert "1 removed" in world("update").stdout
    assert not is_served("desk/people/anders-berg.md")
    assert world("doctor", "--verify").exit_code == 0


def test_short_and_empty_notes_are_not_recognised(world: Invoke, folder: Path) -> None:
    """Of daily notes made from one short template, forgetting one hides none of the others, old or new."""
    for day in range(1, 4):
        (folder / f"2026-03-0{day}.md").write_text("# Today\n\n- [ ] \n", "utf-8")
        (folder / f"empty-{day}.md").write_text("", "utf-8")
    world("update")

    for path in ("desk/2026-03-01.md", "desk/empty-1.md"):
        assert world("forget", path, "--yes").exit_code == 0
    (folder / "2026-03-04.md").write_text("# Today\n\n- [ ] \n", "utf-8")
    (folder / "empty-4.md").write_text("", "utf-8")
    assert "forgotten" not in world("update").stdout

    for day in range(2, 5):
        assert is_served(f"desk/2026-03-0{day}.md")
        assert is_served(f"desk/empty-{day}.md")


# -- a moved note stays the same note ----------------------------------------------------------------------


@pytest.mark.parametrize("way", ["one pass", "two passes", "there and back"])
def test_a_moved_note_keeps_what_was_learnt(world: Invoke, folder: Path, way: str) -> None:
    """Pin, snooze and number stay, whether one pass sees the move or one sees the removal and the next the file."""
    world("pin", "Anders Holm")
    world("snooze", "Anders Holm", "--until", "2099-01-01")
    before = known("desk/people/anders-holm.md")

    if way == "two passes":
        (folder / "people/anders-holm.md").unlink()
        world("update")
        (folder / "holm.md").write_text(HOLM, "utf-8")
    else:
        move(folder, "people/anders-holm.md", "holm.md")
    told = world("update").stdout
    if way == "there and back":
        move(folder, "holm.md", "elsewhere.md")
        world("update")
        move(folder, "elsewhere.md", "holm.md")
        world("update")

    after = known("desk/holm.md")
    assert (after.id, after.pinned, after.snoozed_until, after.inactive) == (
        before.id,
        True,
        before.snoozed_until,
        None,
    )
    assert ("1 updated, 0 removed" in told) or way == "two passes", told
    assert "holm.md" in world("search", "church organ").stdout
    assert world("doctor", "--verify").exit_code == 0


SAUNA = "# Sauna\n\nAlder for the benches, not aspen. The stove comes in May.\n"


@pytest.mark.parametrize(
    ("old", "new", "target"),
    [
        ({"s.md": SAUNA}, {"old/sauna.md": SAUNA + "\nOne more line.\n"}, "old/sauna.md"),
        (
            {"a.md": "---\nphone: 12\n---\n", "b.md": ""},
            {"c.md": "---\nphone: 12\n---\n", "d.md": ""},
            "c.md",
        ),
        ({"a/s.md": SAUNA, "b/s.md": SAUNA}, {"c/b/s.md": SAUNA, "c/a/s.md": SAUNA}, "c/a/s.md"),
        ({"a.md": SAUNA, "b.md": ZED + "x"}, {"b.md": SAUNA, "a.md": ZED + "x"}, "b.md"),
        ({"a.md": SAUNA, "b.md": ZED + "x"}, {"c.md": SAUNA, "a.md": ZED + "x"}, "c.md"),
        ({"a.md": SAUNA}, {"a.md": HOLM + "x", "a (copy).md": SAUNA}, "a.md"),
        ({"a.md": SAUNA, "b.md": SAUNA + "Blue."}, {"a.md": SAUNA + "Blue."}, "a.md"),
        ({"a.md": SAUNA + "Red.", "b.md": SAUNA + "Blue."}, {"c.md": SAUNA + "Grey."}, ""),
    ],
)
def test_moved_and_changed_files(
    world: Invoke, folder: Path, old: dict[str, str], new: dict[str, str], target: str
) -> None:
    """Renamed and edited, twins, exchanged names, a chain; not a copy, a replaced text, or two that are as near."""
    write_notes(folder, old)
    world("update")
    first = next(iter(old))
    number = known(f"desk/{first}").id
    world("pin", f"desk/{first}")
    for path in old:
        (folder / path).unlink()
    write_notes(folder, new)
    done = world("update")
    assert (f"{first} was pinned, and its file is gone" in done.stdout) == (not target)
    pinned = [path for path in new if is_served(f"desk/{path}") and known(f"desk/{path}").is_pinned]
    assert pinned == list(filter(None, [target]))
    assert not target or known(f"desk/{target}").id == number
    assert all(is_served(f"desk/{path}") == (path in new) for path in {*old, *new})
    assert "0 added, 0 updated, 0 removed" in world("update").stdout


@pytest.mark.parametrize("twin", ["a/s.md", ""])
def test_the_time_of_a_file_tells_a_note_from_its_copy(world: Invoke, folder: Path, twin: str) -> None:
    """Whether the copy was known before, or came with the move."""
    times = {"s.md": 1_700_000_000, "a/s.md": 1_700_009_999}
    for path in filter(None, ("s.md", twin)):
        write_file(folder / path, SAUNA)
        os.utime(folder / path, (times[path], times[path]))
    world("update")
    number = known("desk/s.md").id
    world("pin", "desk/s.md")
    move(folder, "s.md", "z/a/t.md")
    move(folder, twin, "b/s.md") if twin else write_file(folder / "b/s.md", SAUNA)

    world("update")

    assert (known("desk/z/a/t.md").id, known("desk/b/s.md").is_pinned) == (number, False)


@pytest.mark.parametrize("names", [("aaa", "zzz"), ("zzz", "aaa")])
def test_a_note_moved_to_another_collection(
    world: Invoke, folder: Path, tmp_path: Path, names: tuple[str, str]
) -> None:
    """Whichever of the two collections is looked through first."""
    source, target = (tmp_path / name for name in names)
    for place in (source, target):
        write_file(place / "index.md", f"# Index of {place.name}\n\nNothing much is in here yet.\n")
    (source / "moved.md").write_text("# Beehives\n\nThe hives stand behind the barn.\n", "utf-8")
    for place in (source, target):
        assert world("collection", "add", place).exit_code == 0
    world("update")
    world("pin", "Beehives")
    (source / "moved.md").rename(target / "moved.md")

    assert "pinned" not in world("update").stdout
    assert known(f"{names[1]}/moved.md").pinned
    assert not is_served(f"{names[0]}/moved.md")
