"""Indexes outside of the records, while several processes write, ask, build and take over from each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fault_worlds import ServedWorld

from clawmem.adapters.sqlite.lexical_index import SqliteLexicalIndex
from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex
from clawmem.app.services.indexing.replication import LEASE_MS
from clawmem.contracts.samples import any_of
from clawmem.ports.errors import IndexBusy, LeaseLost
from clawmem.ports.records import Grain, InactiveReason, Marker, Role
from clawmem.ports.storage import Lease

HOUR_MS = 3_600_000
VERBS = ("search", "vsearch", "query")
TOPICS = "harvest orchard vineyard meadow granary cellar pasture hayloft stable barnyard".split()


@pytest.fixture
def another(served: ServedWorld) -> Iterator[Callable[[], ServedWorld]]:
    """Opens the same vault as another process would."""
    made: list[ServedWorld] = []

    def open_it() -> ServedWorld:
        made.append(ServedWorld(served.root.parent))
        return made[-1]

    yield open_it
    for one in made:
        one.vault.close()


class TestAtOnce:
    """What was written is found before any indexer has come by."""

    @pytest.fixture(params=["tantivy", "lancedb"])
    def undrained(self, served: ServedWorld, request: pytest.FixtureRequest) -> ServedWorld:
        """A vault whose indexes outside are never brought up to date: somebody else has the right to, and sleeps."""
        write_notes(served)
        served.update()
        served.embed()
        served.indexes.move(request.param)
        for role in Role:
            hold(served, role)
        return served

    def test_new_edited_and_withdrawn(self, undrained: ServedWorld) -> None:
        """A new note is found, an edited one by its new words, a withdrawn one not; in and out of a scope."""
        world = undrained
        world.write("new.md", "# Axolotl\n\nThe axolotl lives in a lake.\n")
        world.write("harvest0.md", "# Quokka\n\nThe quokka smiles at everybody.\n", hours_ago=1)
        world.update()
        world.embed()
        world.withdraw("orchard0.md", InactiveReason.FORGOTTEN)
        world.indexes.keep_up()

        assert world.vault.outbox.after(world.serving(Role.LEXICAL).since, Role.LEXICAL).document_ids
        for verb in VERBS:
            assert world.found("axolotl lake", verb)[0] == "new.md"
            assert world.found("quokka smiles", verb)[0] == "harvest0.md"
            assert "orchard0.md" not in world.found("orchard number 0", verb)
            assert world.ask("axolotl lake", verb).trace.degraded == {}
        assert "harvest0.md" not in world.found("crop zero")
        assert world.found("axolotl quokka") != []


class TestMeanwhile:
    """A question is answered whole, whatever an indexer does in the middle of it."""

    def test_carried_behind_the_marker(
        self, served: ServedWorld, another: Callable[[], ServedWorld], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An index that was carried on just after its marker was read is not taken for a broken one."""
        served.write("a.md", "# A\n\nzebra\n")
        served.update()
        served.indexes.move("tantivy")
        served.write("b.md", "# B\n\nokapi\n")
        served.update()
        other, before = another(), served.serving(Role.LEXICAL)
        hold(other, Role.LEXICAL)
        real = TantivyLexicalIndex.marker

        def overtaken(index: TantivyLexicalIndex) -> Marker | None:
            monkeypatch.setattr(TantivyLexicalIndex, "marker", real)
            marker = real(index)
            set_free(other, Role.LEXICAL)
            other.indexes.keep_up()
            return marker

        monkeypatch.setattr(TantivyLexicalIndex, "marker", overtaken)
        served.indexes.keep_up()

        assert served.indexes.lagging == {}
        assert served.serving(Role.LEXICAL).generation == before.generation
        assert documents(served, "okapi") == [2]

    def test_taken_over(
        self, served: ServedWorld, another: Callable[[], ServedWorld], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Neither the vault's own index, when it is emptied, nor one outside, when it is deleted, is missed."""
        served.write("a.md", "# A\n\nzebra\n")
        served.update()
        other = another().indexes

        during(monkeypatch, SqliteLexicalIndex, lambda: other.move("tantivy"))
        assert documents(served, "zebra") == [1]
        during(monkeypatch, TantivyLexicalIndex, lambda: other.rebuild(Role.LEXICAL))
        assert documents(served, "zebra") == [1]
        during(monkeypatch, TantivyLexicalIndex, lambda: other.move("sqlite"))
        assert documents(served, "zebra") == [1]


class TestClock:
    """A clock that jumps back an hour never makes two indexers commit."""

    @pytest.fixture
    def lagging(self, served: ServedWorld) -> ServedWorld:
        """A vault of which one note is outside, and another one is not yet."""
        served.write("a.md", "# A\n\nzebra\n")
        served.update()
        served.embed()
        served.indexes.move("tantivy")
        served.write("b.md", "# B\n\nokapi\n")
        served.update()
        return served

    def test_of_who_is_indexing(self, lagging: ServedWorld, another: Callable[[], ServedWorld]) -> None:
        """Its lease runs out for everybody else: another takes over, and the first one's commit is undone."""
        other = another()
        record = lagging.serving(Role.LEXICAL)
        index = lagging.indexes.engines.open(record)
        before = index.marker()

        with lagging.indexer.leased(Role.LEXICAL) as lease, pytest.raises(LeaseLost):
            assert lease
            lagging.lease_clock.advance(-HOUR_MS)
            lease.renew()
            with index.committing(lagging.vault.outbox.head()):
                index.remove(1)
                other.lease_clock.advance(LEASE_MS)
                hold(other, Role.LEXICAL)
                lease.check()

        assert index.marker() == before
        set_free(other, Role.LEXICAL)
        other.indexes.keep_up()
        assert_current(other)

    def test_in_the_middle_of_a_batch(
        self, lagging: ServedWorld, another: Callable[[], ServedWorld], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The indexer that was overtaken says that it lags, and what it had prepared does not appear."""
        other = another()
        other.lease_clock.set(lagging.lease_clock.now_ms())

        def overtaken() -> None:
            lagging.lease_clock.advance(-HOUR_MS)
            other.lease_clock.advance(LEASE_MS)
            hold(other, Role.LEXICAL)

        during(monkeypatch, TantivyLexicalIndex, overtaken, "put")
        lagging.indexes.keep_up()

        assert "lease" in lagging.indexes.lagging[Role.LEXICAL]
        index = lagging.indexes.engines.open(lagging.serving(Role.LEXICAL))
        assert (index.count(Grain.DOCUMENT), index.marker()) == (1, lagging.serving(Role.LEXICAL).since)
        assert lagging.found("okapi") == ["b.md"]
        set_free(other, Role.LEXICAL)
        lagging.lease_clock.advance(HOUR_MS)
        lagging.indexes.keep_up()
        assert_current(lagging)

    def test_of_who_wants_to_index(self, lagging: ServedWorld, another: Callable[[], ServedWorld]) -> None:
        """It waits, for as long as it thinks the other one's lease lasts, or until its clock is right again."""
        other = another()
        other.lease_clock.set(lagging.lease_clock.now_ms() - HOUR_MS)

        with lagging.indexer.leased(Role.LEXICAL):
            other.indexes.keep_up()
            assert other.vault.outbox.head() != other.vault.lexical.marker()
            with pytest.raises(IndexBusy):
                other.indexes.rebuild(Role.LEXICAL, patience_s=0)
            other.lease_clock.advance(HOUR_MS + LEASE_MS)
            other.indexes.keep_up()

        assert_current(other)


def hold(world: ServedWorld, role: Role) -> Lease:
    """Somebody else takes the right to index, for an hour, and does nothing with it."""
    now_ms = world.lease_clock.now_ms()
    lease = world.vault.leases.acquire(f"index {role}", "somebody else", now_ms=now_ms, ttl_ms=HOUR_MS)
    assert lease
    return lease


def set_free(world: ServedWorld, role: Role) -> None:
    """Somebody else gives it back."""
    lease = world.vault.leases.current(f"index {role}", now_ms=world.lease_clock.now_ms())
    assert lease and lease.holder == "somebody else"
    world.vault.leases.release(lease)


def write_notes(world: ServedWorld) -> None:
    """Three notes on each topic, of different lengths."""
    for topic in TOPICS:
        for number in range(3):
            said = f"The {topic} of year {number} had a good crop. " * (number + 1)
            words = ("zero", "one", "two")[number]
            world.write(
                f"{topic}{number}.md", f"# {topic} number {number}\n\n{said}\n\nIt was crop {words}.\n"
            )


def documents(world: ServedWorld, word: str) -> list[int]:
    hits = world.vault.lexical.search(any_of(word), Grain.DOCUMENT, 9)
    return [hit.key.document_id for hit in hits]


def assert_current(world: ServedWorld) -> None:
    """Everything was carried outside, and is found."""
    assert world.vault.lexical.marker() == world.vault.outbox.head()
    world.embed()
    world.indexes.keep_up()
    assert world.indexes.lagging == {}
    assert world.verify() == []
    assert world.found("okapi") == ["b.md"]


def during(
    monkeypatch: pytest.MonkeyPatch, kind: type, happening: Callable[[], None], method: str = "search"
) -> None:
    """Let something happen once, as soon as *method* is called."""
    real = getattr(kind, method)

    def called(self: Any, *args: Any) -> Any:
        monkeypatch.setattr(kind, method, real)
        happening()
        return real(self, *args)

    monkeypatch.setattr(kind, method, called)
