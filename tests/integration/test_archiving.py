"""What is put away by itself: only what is idle, only when the owner said so, written down, and never for good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke, age_documents, configure
from hook_process import ask_inside
from wired import publisher, wired

from clawmem.adapters.memory.clock import ManualClock
from clawmem.app.services.indexing.publish import Declarations
from clawmem.app.services.lifecycle.actions import Lifecycle
from clawmem.contracts.samples import document, fetch, fragments
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.ports.documents import Claims, Succession
from clawmem.ports.journal import Act, ActEntry
from clawmem.ports.records import Grain, InactiveReason, LexicalQuery, Term
from clawmem.ports.vault import Vault

IN_EARNEST = ArchivePolicy(dry_run=False)


@pytest.fixture
def lifecycle(vault: Vault, clock: ManualClock) -> Lifecycle:
    actions: Lifecycle = wired(vault, clock).lifecycle()
    return actions


def note(vault: Vault, clock: ManualClock, path: str, days: int, **fields: object) -> int:
    """A note that was indexed so many days ago."""
    body = f"The harbour of {path}."
    changed = iso_utc(clock.now_ms() - days * DAY_MS)
    claims = Claims(supersedes=("older.md",)) if path == "newer.md" else Claims()
    with vault.transactions.writing():
        return publisher(vault).publish(
            document(path, body, indexed_at=changed, **fields), body, fragments(body), Declarations(claims)
        )


def found(vault: Vault) -> set[int]:
    hits = vault.lexical.search(LexicalQuery((Term("harbour"),)), Grain.PASSAGE, 10)
    return {hit.key.document_id for hit in hits}


def test_idle_notes_are_put_away(vault: Vault, clock: ManualClock, lifecycle: Lifecycle) -> None:
    """Out of sight of every search, with who, when and why; what is used, pinned or snoozed stays."""
    idle = note(vault, clock, "idle.md", 120)
    fresh, pinned = note(vault, clock, "fresh.md", 80), note(vault, clock, "pin.md", 120, pinned=True)
    snoozed = note(vault, clock, "snoozed.md", 120)
    vault.documents.snooze(snoozed, iso_utc(clock.now_ms() + 1))

    put_away = lifecycle.sweep(IN_EARNEST, by="staleness-check")

    assert fetch(vault, idle).inactive is InactiveReason.ARCHIVED
    assert found(vault) == {fresh, pinned, snoozed}
    assert [one.id for one in put_away] == [idle]
    now = iso_utc(clock.now_ms())
    why = "written 2024-03-01, neither changed nor read for more than 90 days"
    assert vault.acts.latest(9) == [ActEntry(idle, Act.ARCHIVE, "staleness-check", now, why, id=1)]
    assert lifecycle.sweep(IN_EARNEST, by="staleness-check") == []


def test_what_is_brought_back(vault: Vault, clock: ManualClock, lifecycle: Lifecycle) -> None:
    """The same document, found as before, in whose place it took; and not put away again the next day."""
    older, newer = note(vault, clock, "older.md", 1), note(vault, clock, "newer.md", 120)
    lifecycle.sweep(IN_EARNEST, by="x")
    assert found(vault) == {older}

    [restored] = lifecycle.restore([fetch(vault, newer), fetch(vault, older)], by="x").documents
    assert restored.file == fetch(vault, newer).display_path

    assert found(vault) == {older, newer}
    assert vault.successions.direct([older]) == {Succession(older, newer)}
    clock.advance(DAY_MS)
    assert lifecycle.sweep(IN_EARNEST, by="x") == []
    clock.advance(90 * DAY_MS)
    assert {one.id for one in lifecycle.sweep(IN_EARNEST, by="x")} == {older, newer}


def test_what_was_archived_for_long(vault: Vault, clock: ManualClock, lifecycle: Lifecycle) -> None:
    """It is due for good so many days after it was archived, counted from the last time; never without a number."""
    idle = note(vault, clock, "idle.md", 120)
    policy = ArchivePolicy(purge_after_days=30)
    lifecycle.sweep(policy, by="x")
    clock.advance(30 * DAY_MS)
    assert lifecycle.due_for_good(policy) == []
    clock.advance(1)
    assert [one.id for one in lifecycle.due_for_good(policy)] == [idle]
    assert lifecycle.due_for_good(ArchivePolicy()) == []

    lifecycle.restore([fetch(vault, idle)], by="x")
    assert lifecycle.due_for_good(policy) == []
    clock.advance(91 * DAY_MS)
    lifecycle.sweep(policy, by="x")
    assert lifecycle.due_for_good(policy) == []


@pytest.mark.parametrize(("dry_run", "left"), [("true", 3), ("false", 2)])
def test_the_hook(
    dry_run: str, left: int, notes: Path, invoke: Invoke, environ: dict[str, str], home: Path
) -> None:
    """At a session's start: an idle note is named, and put away where the configuration is in earnest."""
    assert invoke("bootstrap", notes, "--skip-embed").exit_code == 0
    age_documents(home, "*redis.md")
    configure(home, f"lifecycle: {{archive_after_days: 30, dry_run: {dry_run}}}")
    told = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}

    done = ask_inside(environ, "staleness-check", told)

    assert "decisions/2026-02-11-redis.md" in done.context
    assert ("clawmem restore NOTE" in done.context) is (dry_run == "false")
    assert json.loads(invoke("status", "--json").stdout)["documents"] == left
