"""With `autoEmbed` in the config file, reading folders ends with the vectors that are missing."""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from watch_process import Home, soon, watching

NOTES = 3  # of the fixture; each is one text
OTHER = "# Bees\n\nBees fly at ten degrees.\n"


@pytest.fixture
def config(home: Path) -> Path:
    file = home / ".config" / "clawmem" / "config.yaml"
    file.parent.mkdir(parents=True)
    return file


def collections(config: Path, notes: Path, *, auto: bool = False, everywhere: bool = False) -> None:
    """Configure the notes, and another folder that never asks for vectors."""
    other = notes.with_name("other")
    other.mkdir(exist_ok=True)
    (other / "bees.md").write_text(OTHER, "utf-8")
    chosen = {"notes": {"path": str(notes), "autoEmbed": auto}, "other": {"path": str(other)}}
    config.write_text(json.dumps({"autoEmbed": everywhere, "collections": chosen}), "utf-8")


def stored(invoke: Any) -> tuple[int, int]:
    """Return how many texts have vectors, and how many wait."""
    counts = json.loads(invoke("status", "--json").output)["embeddings"]
    return counts["stored"], counts["pending"]


@pytest.mark.parametrize("chosen", [{"auto": True}, {"everywhere": True}])
@pytest.mark.parametrize("verb", ["update", "update --all"])
def test_reading_ends_with_vectors(
    invoke: Any, config: Path, notes: Path, verb: str, chosen: dict[str, bool]
) -> None:
    """As with --embed, whether one of the collections says so or the whole file."""
    collections(config, notes)
    read = json.loads(invoke(verb, "--json").stdout)
    assert (read["embed"], read["pending"], stored(invoke)[0]) == (None, NOTES + 1, 0)

    collections(config, notes, **chosen)
    read = json.loads(invoke(verb, "--json").stdout)

    assert (read["embed"]["embedded"], read["pending"]) == (NOTES + 1, 0)
    assert stored(invoke) == (NOTES + 1, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="processes in /proc")
def test_a_watcher_follows_the_config_file(tmp_path: Path) -> None:
    """It makes vectors where that is quick, none where the file forbids it, and reads the file again while it runs."""
    one = Home(tmp_path, notes="notes")
    folder = {"path": str(tmp_path / "notes"), "autoEmbed": False}
    one.config.write_text(json.dumps({"collections": {"notes": folder}}), "utf-8")
    one.write("notes/first.md", "# First\n")
    with watching(one):
        assert one.serves("notes", "first.md")
        assert one.embedded() == 0

        del folder["autoEmbed"]
        one.config.write_text(json.dumps({"collections": {"notes": folder}}), "utf-8")
        one.write("notes/second.md", "# Second\n")

        assert soon(lambda: one.embedded() == 2)


def slow_clock(monkeypatch: pytest.MonkeyPatch, ms_per_reading: int) -> None:
    clock = count(1_790_000_000_000, ms_per_reading)
    monkeypatch.setattr("clawmem.adapters.system.clock.SystemClock.now_ms", lambda self: next(clock))


@pytest.mark.parametrize(("ms_per_reading", "made"), [(10, NOTES), (61_000, 2)])
def test_update_makes_vectors_within_a_minute(
    remembered: Any, notes: Path, monkeypatch: pytest.MonkeyPatch, ms_per_reading: int, made: int
) -> None:
    """Without a setting. A slow model stops after a minute, and the rest is named."""
    for note in sorted(notes.rglob("*.md")):
        note.write_text(f"{note.read_text('utf-8')}\nOne more line about {note.stem}.\n", "utf-8")
    monkeypatch.setattr("clawmem.app.services.indexing.embed.BATCH", 2)
    slow_clock(monkeypatch, ms_per_reading)

    read = json.loads(remembered("update", "--json").output)

    assert (read["embed"]["embedded"], read["pending"]) == (made, NOTES - made)
    assert (f"{NOTES - made} texts wait for vectors. Next: clawmem embed" in remembered("update").output) == (
        made < NOTES - 1
    )
    remembered("update", "--embed")
    assert stored(remembered)[1] == 0


def test_no_model_server_is_asked_without_a_request(remembered: Any, notes: Path) -> None:
    """It may charge for each text; the vectors of another model are not replaced either."""
    (notes / "new.md").write_text("# New\n", "utf-8")
    server = {"CLAWMEM_EMBED_URL": "http://127.0.0.1:9"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.items():
            patch.setenv(name, value)
        read = json.loads(remembered("update", "--json").output)
    assert (read["embed"], read["pending"]) == (None, 1)
    assert json.loads(remembered("update", "--json").output)["embed"]["embedded"] == 1
