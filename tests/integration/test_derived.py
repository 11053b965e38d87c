"""Documents that were derived from others, by every record that the vault keeps of a source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from capture_world import LEDGER, World

from clawmem.adapters.files.transcripts import DiskTranscripts
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.briefing.profile import PATH, SOURCE
from clawmem.app.services.capture.handoffs import HandoffGenerator
from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.indexing.publish import withdraw
from clawmem.app.services.lifecycle.derived import derived_documents
from clawmem.app.services.lifecycle.forget_preview import preview_forget
from clawmem.app.services.maintenance.synthesis import FOLDER, ORIGIN
from clawmem.contracts.samples import fetch
from clawmem.domain.maintenance.patterns import CONSOLIDATED
from clawmem.ports.journal import Replacement
from clawmem.ports.records import InactiveReason
from clawmem.ports.relations import Relation, RelationKind

NOW = "2023-11-14T22:13:20.000Z"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(SqliteVault(str(tmp_path / "vault.sqlite"))) as vault:
        yield World(vault, ManualClock(), tmp_path)


def write(world: World, path: str, *tags: str) -> int:
    """A memory at *path*; its id."""
    with world.vault.writing():
        return Memories(world.vault, world.clock).write(
            path, path, f"Said in {path}.", "note", 0.5, tags=tags
        )


def derived(world: World, *ids: int) -> list[str]:
    return [one.path for one in derived_documents(world.vault, ids)]


def test_conclusions(world: World) -> None:
    """By the ids in their path, served or not, and by the relation of support; over several steps."""
    one, two, three = (write(world, f"observations/{name}.md") for name in ("one", "two", "three"))
    first = write(world, f"{FOLDER}/2023-11-14-{one}-{two}-0123456789ab.md")
    second = write(world, f"{FOLDER}/2023-11-14-{first}-{three}-0123456789ab.md")
    related = write(world, f"{FOLDER}/related.md")
    edge = Relation(two, related, RelationKind.SUPPORTING, 0.8, ORIGIN, NOW)
    other = Relation(three, one, RelationKind.SUPPORTING, 0.8, "hand", NOW)
    with world.vault.writing():
        world.vault.relations.put([edge, other])
        withdraw(world.vault, [first], InactiveReason.ARCHIVED)

    paths = {number: fetch(world.vault, number).path for number in (first, second, related)}
    assert derived(world, one) == sorted([paths[first], paths[second]])
    assert derived(world, two) == sorted(paths.values())
    assert derived(world, three) == [paths[second]]
    assert derived(world, second) == []
    found = preview_forget(world.vault, world.clock, fetch(world.vault, one))
    assert [document.id for document in found.derived] == sorted([first, second], key=paths.__getitem__)

    with world.vault.writing():
        withdraw(world.vault, [first], InactiveReason.FORGOTTEN)
    assert derived(world, one) == []


def test_merged_observations(world: World) -> None:
    """What stands for an observation was derived from it; what contradicts it was not."""
    one, later = write(world, "observations/one.md"), write(world, "observations/later.md")
    merged = write(world, "patterns/one.md", CONSOLIDATED)
    for newer in (merged, later):
        world.vault.journal.replace(Replacement(newer, (one,), "why", NOW))

    assert derived(world, one) == ["patterns/one.md"]
    [standing] = [item for item in world.vault.journal.replacements(one) if item.document_id == merged]
    world.vault.journal.undo(standing.id, NOW)
    assert derived(world, one) == []


def test_the_profile(world: World) -> None:
    """The page names its sources in its tags."""
    one, other = write(world, "observations/one.md"), write(world, "observations/other.md")
    write(world, PATH, f"{SOURCE}{one}", f"{SOURCE}x")

    assert derived(world, one) == [PATH]
    assert derived(world, other) == []


def test_handoffs(world: World) -> None:
    """A handoff that repeats a captured sentence was derived from it, one of another session was not."""
    session = world.session("s1", *LEDGER)
    world.extract(session)
    HandoffGenerator(world.vault, DiskTranscripts(), world.clock)(session)
    kept = {one.content_type: one for one in world.kept()}

    assert derived(world, kept["decision"].id) == [kept["handoff"].path]
    assert derived(world, kept["handoff"].id) == []
    assert derived(world, write(world, "observations/other.md")) == []
