"""Looking after the memory by hand: what comes back again, what is said twice, what might be done."""

from __future__ import annotations

import pytest
from wired import publisher, wired

from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.capture.briefing import reflect
from clawmem.contracts.samples import document, fragments
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING
from clawmem.ports.records import FragmentKind
from clawmem.ports.telemetry import Recall, RecallHit
from clawmem.ports.vault import Vault

PUMP = "The booking pump needs a grease nipple every spring before launching"
OTHERS = [
    "Bread with caraway seeds for Sunday", "Lantern oil from the chandler in town", "Rope splicing by the harbour light",
    "Winter cover with new eyelets", "Compass swung after the engine was moved",
]  # fmt: skip


def note(vault: Vault, path: str, body: str, days: int = 0, **fields: object) -> int:
    """A note that was written so many days ago."""
    changed = iso_utc(START_MS - days * DAY_MS)
    given = {"title": body.split(".")[0], "authored_at": changed, **fields}
    with vault.transactions.writing():
        return publisher(vault).publish(
            document(path, body, **given), body, fragments(body, kind=FragmentKind.DOCUMENT)
        )


@pytest.fixture
def vault() -> Vault:
    made = open_vault(":memory:")
    for number, text in enumerate(OTHERS):
        note(made, f"other{number}.md", f"{text}.")
    return made


def paths(found: object) -> list[str]:
    return [one.path for one in found]  # type: ignore[attr-defined]


class TestReflection:
    """What a window of days has in common."""

    def test_a_window(self, vault: Vault) -> None:
        """Decisions and lessons of these days, the latest first; what is older says nothing."""
        for days in (1, 2, 3, 30):
            note(vault, f"d{days}.md", "Keep the slot hold.", days, content_type="decision")
            note(vault, f"l{days}.md", "Never again.", days, content_type="antipattern")

        found = reflect(vault.documents, vault.usage, ManualClock(), 14)

        assert [one.file for one in found.decisions] == ["notes/d1.md", "notes/d2.md", "notes/d3.md"]
        assert [one.file for one in found.antipatterns] == ["notes/l1.md", "notes/l2.md", "notes/l3.md"]
        assert [(one.text, one.times) for one in found.phrases][:1] == [("keep slot hold", 3)]
        note(vault, "copy.md", "Keep the slot hold.", 1, content_type="decision")
        assert reflect(vault.documents, vault.usage, ManualClock(), 14).phrases[0].times == 3


def test_what_is_wanted_and_what_is_of_no_use(vault: Vault) -> None:
    """The status counts both kinds of candidates among what was put beside prompts."""
    wanted, useless, pinned = (
        note(vault, f"{name}.md", name, pinned=name == "c") for name in ("a", "b", "c")
    )
    for number, day in enumerate((0, 3, 7, 7, 7)):
        asked = [RecallHit(wanted, 1, 0.9, True)] if number < 3 else []
        hits = (*asked, RecallHit(useless, 2, 0.8), RecallHit(pinned, 3, 0.7))
        at = iso_utc(START_MS - day * DAY_MS)
        asking = Recall(at, CONTEXT_SURFACING, f"q{number}", 1.0, 9, hits=hits)
        vault.telemetry.record(asking._replace(session_id="s"))

    counted = wired(vault).lifecycle().status(None)

    assert (counted.recalls, counted.surfaced) == (5, 3)
    # What is of no use to anybody, however often, is wanted by its spread as well: both are said.
    assert (counted.pin_candidates, counted.snooze_candidates) == (2, 1)


class TestDuplicates:
    """Unsure notes that say what another one says."""

    def test_the_unsure_one_goes(self, vault: Vault) -> None:
        """And says for which; the other stays, and what was put away comes back when it is wanted."""
        kept = note(vault, "kept.md", f"{PUMP}. Wipe it.", confidence=0.8)
        gone = note(vault, "gone.md", f"{PUMP}. Twice.", confidence=0.2)
        lifecycle, curator = wired(vault).lifecycle(), wired(vault).curator()

        [(document, other, overlap)] = curator.duplicates()
        lifecycle.archive([(document, "a copy")], "test")

        assert (document.id, other.id) == (gone, kept)
        assert overlap > 0.8
        assert paths(lifecycle.archived()) == ["gone.md"]
        assert curator.duplicates() == []
        lifecycle.restore([document], "test")
        assert paths(lifecycle.archived()) == []

    def test_one_of_several_stays(self, vault: Vault) -> None:
        """Of notes that are all unsure and say the same, one is left."""
        for number in range(4):
            note(vault, f"{number}.md", f"{PUMP}.", confidence=0.1 + number / 100)

        found = wired(vault).curator().duplicates()

        gone = {document.path for document, _, _ in found}
        assert len(gone) == 3
        assert not gone & {other.path for _, other, _ in found}
        assert wired(vault).curator().duplicates(0) == []
