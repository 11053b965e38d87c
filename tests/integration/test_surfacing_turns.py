"""The topic of a session, its turns, and faults while a block is made."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from surfacing_home import EVERYTHING, PROMPT, Home, places

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.app.services.surfacing.turns import turns_of
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.records import Vector


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.vault.close()


class TestFocus:
    """Step 11."""

    def test_a_topic_lifts_what_is_about_it(self, home: Home) -> None:
        """What a session keeps to comes first among what is about as likely."""
        confidence = home.confidence({"decisions/backups.md": 0.65, "people/ann.md": 0.6})

        assert places(home.ask(confidence=confidence))[0] == "decisions/backups.md"
        assert places(home.ask(confidence=confidence, topic="ann safe"))[0] == "people/ann.md"

    def test_a_topic_chooses_the_line_that_is_shown(self, home: Home) -> None:
        """Of a passage that is too long to be shown whole, the topic's line is; it is the intent of the question."""
        logbook = home.vault.storage.info().location.replace("index.sqlite", "log")
        lines = "".join(f"The mast, day {n}: {'nothing new of it and ' * 6}calm.\n" for n in range(20))
        text = f"# Log\n\n{lines}The mast, day 20: a crack below the spreader.\n"
        home.take_in(Path(logbook), {"log.md": text})

        plain, with_topic = (
            home.ask("What about the mast?", topic=topic) for topic in ("", "crack spreader")
        )

        assert with_topic.request.purpose == "crack spreader"
        assert "a crack below" not in plain.block
        assert "a crack below the spreader" in with_topic.block


class TestTurns:
    """Steps 1, 2, 4, 7 and 19."""

    def test_every_turn_has_a_row(self, home: Home) -> None:
        """Silent and answered turns are counted through, in any order."""
        home.ask()
        home.ask("What colour is the mast of the boat?", confidence=lambda candidate: 0.0)
        home.ask("Who keeps the key of the safe?")

        rows = sorted(home.rows(), key=lambda row: row.turn_index)
        assert [row.turn_index for row in rows] == [0, 1, 2]
        assert [bool(row.hits) for row in rows] == [True, False, True]

    def test_each_note_is_given_once(self, home: Home) -> None:
        """A note of which two lines are shown is one hit of the turn; every note of the block is one."""
        said = home.ask(EVERYTHING, profile="deep")

        (row,) = home.rows()
        given = [hit.document_id for hit in row.hits]
        assert len(said.answer.results) > len(given)
        assert given == list(dict.fromkeys(given))
        assert set(given) == {home.id_of(path) for path in places(said)}

    def test_looking_back(self, home: Home) -> None:
        """
        A prompt that means nothing alone is looked for with the one before it; after ten minutes it is not.

        What the one before it was given is only named.
        """
        first = home.ask(
            "Who keeps the key of the safe, Ann?", confidence=home.confidence({"ops/restore.md": 0.9})
        )

        with_it = home.ask("why the zebra?", profile="speed")
        home.clock.advance(11 * 60_000)
        without = home.ask("why a zebra?", profile="speed")

        assert places(first) == ["ops/restore.md"]
        assert "people/ann.md" in places(with_it)
        assert "How to restore" in first.block and "How to restore" not in with_it.block
        assert places(without) == []

    def test_seen_recently(self, home: Home) -> None:
        """The same prompt of the same session is known for ten minutes, to the second; never with a window of 0."""
        home.ask()
        turns, now = turns_of(home.vault.telemetry, "s1"), home.clock.now_ms()

        assert turns.seen(f"  {PROMPT} ", now + 600_000)
        assert not turns.seen(PROMPT, now + 600_001)
        assert not turns.seen(PROMPT, now, within_s=0)
        assert not turns_of(home.vault.telemetry, "s2").seen(PROMPT, now)


class Stuck:
    """An embedder that does not answer in time."""

    def __init__(self, of: HashingEmbedder, seconds: float) -> None:
        self.fingerprint = of.fingerprint
        self.dimensions = of.dimensions
        self._seconds = seconds

    def embed_query(self, text: str) -> Vector:
        time.sleep(self._seconds)
        raise EmbeddingError("too late")


class TestFaults:
    """Whatever is missing, what is there answers in time."""

    def test_a_model_that_hangs(self, home: Home) -> None:
        """Words answer within the deadline, and the receipt says what was missing."""
        began = time.monotonic()
        said = home.ask(embedder=Stuck(home.embedder, 5.0))

        assert time.monotonic() - began < 5
        assert "storage box in Helsinki" in said.block
        assert said.answer.trace.degraded == {"vector": "no answer within 0.9 s"}
