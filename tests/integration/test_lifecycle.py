"""Pins, snoozes and forgetting over a real vault: what they change, who did it, and what can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw
import pytest
from capture_world import LEDGER, World
from command_line import write_notes
from wired import session_cases, wired

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.capture.capturing import READER
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.lifecycle.forgetting import ForgetReport
from clawmem.app.services.retrieval.receipts import pack
from clawmem.app.services.retrieval.request import read_request
from clawmem.app.services.surfacing.steps import Choices, visible
from clawmem.app.settings.model import Settings
from clawmem.contracts.samples import fetch, id_of
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.journal import Act, ActEntry
from clawmem.ports.knowledge import Entity, Note, Relation, RelationKind, Triple
from clawmem.ports.sessions import Cursor, Session

SECRET = "zqx7419wobble"
SAID = f"The code of the safe is {SECRET} since Monday."
NOTES = {
    "safe.md": f"# Safe\n\n{SAID}\n\nAnn keeps the key in the harbour office.\n",
    "harbour.md": "# Harbour\n\nAnn keeps the key in the harbour office.\n",
    "ledger.md": "# Ledger\n\nThe ledger lives in Postgres.\n",
    "boats/ledger.md": "# Ledger of boats\n\nBoats are counted on Fridays.\n",
}
ANN, SAFE = Entity("default:person:ann", "Ann", "person"), Entity(f"default:tool:{SECRET}", SECRET, "tool")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    write_notes(folder, NOTES)
    return folder


@pytest.fixture(params=["sqlite", "tantivy"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def services(tmp_path: Path, notes: Path) -> Iterator[Services]:
    yield from opened(tmp_path, notes, "sqlite")


def opened(tmp_path: Path, notes: Path, backend: str) -> Iterator[Services]:
    settings = Settings(
        vault=tmp_path / "vault.sqlite",
        config_file=tmp_path / "config.yaml",
        backend=backend,
        embedder="static",
    )
    with open_services(settings) as services:
        services.update(Folder("notes", str(notes)))
        services.embed()
        services.indexes.keep_up()
        yield services


def raw(tmp_path: Path) -> list[str]:
    """The files beside the vault, itself included, that hold the secret."""
    files = [file for file in tmp_path.rglob("vault.sqlite*") if file.is_file()]
    files += [file for file in tmp_path.glob("vault.sqlite.*/**/*") if file.is_file()]
    return [file.name for file in files if SECRET.encode() in file.read_bytes()]


def document_id(services: Services, path: str) -> int:
    return id_of(services.vault.documents.at("notes", path))


# -- pins and snoozes --------------------------------------------------------------------------------------


def test_acts_are_written_down_and_taken_back(services: Services) -> None:
    """Pin, snooze, snooze longer: each by whom, when and why; taken back from the last one on."""
    number, tending = document_id(services, "ledger.md"), services.lifecycle
    later, latest = tending.read_until("3d"), tending.read_until("9d")

    tending.pin(fetch(services.vault, number), "cli", "asked often")
    tending.pin(fetch(services.vault, number), "cli")
    tending.snooze(fetch(services.vault, number), later, "cli")
    tending.snooze(fetch(services.vault, number), latest, "mcp")
    longer, first, pin = services.vault.acts.latest(9)
    assert [(e.act, e.by, e.why, e.before) for e in (pin, first, longer)] == [
        (Act.PIN, "cli", "asked often", ""),
        (Act.SNOOZE, "cli", "", ""),
        (Act.SNOOZE, "mcp", "", later),
    ]

    with pytest.raises(InvalidInput, match=rf"by act {longer.id} \(snooze\)"):
        tending.undo(pin.id, "cli")
    tending.undo(longer.id, "cli")
    assert fetch(services.vault, number).snoozed_until == later
    tending.undo(services.vault.acts.latest(1)[0].id, "cli")
    assert fetch(services.vault, number).snoozed_until == latest
    tending.snooze(fetch(services.vault, number), None, "cli")
    tending.snooze(fetch(services.vault, number), None, "cli")
    tending.pin(fetch(services.vault, number), "cli", pinned=False)
    tending.undo(services.vault.acts.latest(1)[0].id, "cli")
    assert fetch(services.vault, number).pinned
    with pytest.raises(NotFound):
        tending.undo(999, "cli")


def test_what_is_snoozed_is_found_and_not_surfaced(services: Services) -> None:
    """A search finds it, what comes unasked leaves it out until then, and says why."""
    number, now = document_id(services, "ledger.md"), services.clock.now_ms()
    services.lifecycle.snooze(fetch(services.vault, number), services.lifecycle.read_until("3d"), "cli")
    in_a_while = now + 4 * 86_400_000

    kept = {}
    for moment in (now, in_a_while):
        request = read_request("where does the ledger live", now_ms=moment)
        work, trace = services.pipeline("search").rank(request)
        assert number in {one.document_id for one in work.candidates}
        trace.stages.append(trace.stages[-1])
        kept[moment] = {
            c.document_id
            for c in visible(services.vault.captures, Choices(), request, work, trace).candidates
        }

    assert number not in kept[now]
    assert number in kept[in_a_while]


def test_a_session_hears_nothing_of_it(services: Services) -> None:
    """A note that is due for a review is not named while it is snoozed."""
    clock = ManualClock(services.clock.now_ms() + 200 * 86_400_000)
    number = document_id(services, "ledger.md")
    briefing = wired(services.vault, clock).briefings()
    assert "notes/ledger.md" in briefing.staleness()

    services.vault.documents.snooze(number, iso_utc(clock.now_ms() + 1))

    assert "notes/ledger.md" not in briefing.staleness()
    assert "notes/harbour.md" in briefing.staleness()


# -- forgetting --------------------------------------------------------------------------------------------


def known_everywhere(services: Services) -> int:
    """The note of the safe, told of in every store there is; its id."""
    vault, number, now = services.vault, document_id(services, "safe.md"), iso_utc(services.clock.now_ms())
    vault.relations.put(
        [
            Relation(
                number,
                document_id(services, "ledger.md"),
                RelationKind.CAUSAL,
                0.8,
                "hand",
                metadata={"reasoning": SAID},
            )
        ]
    )
    vault.entities.set_mentions(number, [ANN, SAFE])
    vault.triples.add(
        [Triple(ANN, "opens", f"with {SECRET}", number, said=SAID), Triple(ANN, "knows", SAFE, number)]
    )
    vault.sessions.save(Session("s", now, now, "notes/safe.md", SAID))
    vault.answers.keep("tiny", "expansion", {"what opens the safe": SECRET}, at=now)
    vault.acts.add([ActEntry(number, Act.PIN, "cli", now, SAID)])
    for about in (number, document_id(services, "ledger.md")):
        vault.notes.put(Note(about, (SECRET,), context=SAID, cause=number))
    for words in (f"what is {SECRET}", "who keeps the key of the safe"):
        request = read_request(words, now_ms=services.clock.now_ms())
        answer = services.pipeline("query")(request)
        receipt = pack(services.explain(answer, request, "query", 1.0))
        assert services.recalls.record(answer, "query", 1.0, limit=10, receipt=partial(bytes, receipt))
    return number


def test_forgetting_leaves_nothing(tmp_path: Path, notes: Path, backend: str) -> None:
    """Of a note that every store tells of no store, no answer and no byte tells any more; its file is not read again."""
    for services in opened(tmp_path, notes, backend):
        number = known_everywhere(services)
        before = services.prove(ForgetReport((fetch(services.vault, number),), (SECRET,), (SAID,)))
        assert {"search", "query", "records", "entities", "sessions", "receipts", "bytes"} <= {
            probe for probe, found in before.items() if found
        }

        done = services.forgetting([services.lookup.find("safe.md")], "cli", "no longer true")

        assert done.left == ""
        assert SECRET in done.words
        assert done.said_in == ("notes/harbour.md",)
        assert not any(services.prove(done).values())
        assert raw(tmp_path) == []
        [entry] = services.vault.acts.latest(1)
        assert (entry.document_id, entry.act, entry.by, entry.why) == (
            number,
            Act.FORGET,
            "cli",
            "no longer true",
        )
        with pytest.raises(InvalidInput, match="cannot be brought back"):
            services.lifecycle.undo(entry.id, "cli")

        (notes / "safe.md").write_text(NOTES["safe.md"] + "\nChanged since.\n", "utf-8")
        report = services.update(Folder("notes", str(notes)), force=True)
        assert (report.added, report.problems) == (0, [])
        assert not any(services.prove(done).values())
        assert services.vault.storage.check() == []
        assert services.pipeline("search")(read_request("harbour office", now_ms=0)).results


def test_it_is_not_captured_again(tmp_path: Path) -> None:
    """A forgotten sentence of a conversation: its profile, handoff and sighting go, and reading it again adds nothing."""
    with closing(open_vault(str(tmp_path / "vault.sqlite"))) as vault:
        world = World(vault, ManualClock(), tmp_path)
        session = world.session("s1", *LEDGER)
        world.extract(session)
        session_cases(vault, world.clock).session_capture().hand_over(session)
    with open_services(
        Settings(vault=tmp_path / "vault.sqlite", config_file=tmp_path / "none.yaml")
    ) as services:
        world = World(services.vault, world.clock, tmp_path)
        assert "Postgres" in services.briefings.profile()
        decision = next(one for one in world.kept() if one.content_type == "decision")
        handoffs = [one for one in world.kept() if one.content_type == "handoff"]

        assert services.forgetting([decision, *handoffs], "cli").left == ""
        assert "Postgres" not in services.briefings.profile()
        assert services.vault.sessions.get("s1") is None or services.vault.sessions.recent(1)[0].summary == ""
        services.vault.captures.advance("s1", READER, Cursor())
        world.extract(session)
        assert [
            one.id for one in world.kept() if one.content_type == "decision" and one.inactive is None
        ] == []


def test_what_keeps_the_vault_busy(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody reads what was there before, the bytes stay and that is said; the note is forgotten all the same."""
    services.vault.sessions._db._main.set_busy_timeout(200)
    reader = apsw.Connection(str(tmp_path / "vault.sqlite"))
    reader.execute("begin")
    reader.execute("select count(*) from documents").fetchall()

    assert "another process" in services.forgetting([services.lookup.find("safe.md")], "cli").left
    assert services.pipeline("search")(read_request(SECRET, now_ms=0)).results == ()
    reader.execute("commit")
    reader.close()
    assert services.forgetting.scrub() == ""
    assert raw(tmp_path) == []
