"""The end of a turn when things go wrong around it: what was decided is stored, and stored once."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hook_process import AT_STOP, KNOWN, ONCE, QUESTION, TURNS, Client, transcript

Moment = Callable[[Client], bool]

DECIDED_LATER = ("And the cache?", "We decided to use Valkey for the cache because its licence is free.")


# -- many at once, and killed --------------------------------------------------------------------------


def test_eight_hooks_at_once(client: Client) -> None:
    """Each answers; what the turn decided is stored once, and one more Stop stores nothing more."""
    names = ("context-surfacing", "session-bootstrap", *AT_STOP, *AT_STOP)

    for running in [client.start(name, prompt=QUESTION, source="") for name in names]:
        running.answer()
    client.ask("handoff-generator")  # whatever came between the last look into the spool and its end

    assert client.memories() == ONCE
    client.ask("decision-extractor")
    assert client.memories() == ONCE
    assert client.waiting() == []


def waits(client: Client) -> bool:
    return any(name.endswith(".job") for name in client.waiting())


def is_in_hand(client: Client) -> bool:
    return any(name.endswith(".taken") for name in client.waiting())


def is_being_written(client: Client) -> bool:
    log = client.vault.with_name(f"{client.vault.name}-wal")
    return is_in_hand(client) and log.exists() and log.stat().st_size > 50_000


def is_stored(client: Client) -> bool:
    return is_in_hand(client) and client.memories()["decision"] > 0


@pytest.mark.parametrize(
    "moment", [waits, pytest.param(is_in_hand, marks=pytest.mark.slow), is_being_written, is_stored]
)
def test_a_stop_that_is_killed(client: Client, moment: Moment) -> None:
    """At whichever moment, a call that nothing happens to finishes it, and nothing is there twice."""
    running = client.start("decision-extractor")
    while running.process.poll() is None and not moment(client):
        time.sleep(0.0005)
    running.kill()

    client.ask("handoff-generator")

    assert client.memories() == ONCE
    assert client.waiting() == []
    client.ask("decision-extractor")
    assert client.memories() == ONCE


def test_a_stop_that_is_killed_again_and_again(client: Client) -> None:
    """What kills whoever does it is given up after three attempts; the next turn's end does it all the same."""
    for _ in range(4):
        running = client.start("decision-extractor")
        while running.process.poll() is None and not is_in_hand(client):
            time.sleep(0.0005)
        running.kill()

    client.ask("handoff-generator")
    client.ask("decision-extractor")

    assert client.memories() == ONCE
    assert client.waiting() == []


def test_a_prompt_that_is_killed(client: Client) -> None:
    """At whichever moment, the vault serves the next one, and no turn is counted twice."""
    for after_s in (0.05, 0.1, 0.2, 0.3):
        running = client.start("context-surfacing", prompt=f"{QUESTION} ({after_s})")
        time.sleep(after_s)
        running.kill()

    assert KNOWN in client.ask("context-surfacing", prompt=QUESTION).context
    numbers = [turn.turn_index for turn in client.turns()]
    assert numbers == [*range(len(numbers))]


# -- transcripts ---------------------------------------------------------------------------------------


def test_a_transcript_whose_last_line_is_being_written(client: Client) -> None:
    """Half a line is left for the Stop that finds it whole; what stands above it is stored meanwhile."""
    file = transcript(client.conversation, *TURNS, DECIDED_LATER)
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.index(b"Valkey")])
    client.ask("decision-extractor")
    assert client.texts("decision").count("> We decided to use Postgres") == 1
    file.write_bytes(whole)

    client.ask("decision-extractor")
    stored = client.memories()

    assert client.texts("decision").count("> We decided to use Valkey") == 1
    client.ask("decision-extractor")
    assert client.memories() == stored
