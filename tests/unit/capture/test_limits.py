"""How much of a conversation is kept, asked about and handed on: each limit, and one past it."""

from __future__ import annotations

from clawmem.domain.capture import observations
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.handoff import state_of
from clawmem.domain.capture.notes import Note
from clawmem.domain.capture.observations import observer_prompt, read_notes
from clawmem.ports.sessions import Speaker, TranscriptMessage

U, A = Speaker.USER, Speaker.ASSISTANT


def said(*texts: tuple[Speaker, str]) -> list[TranscriptMessage]:
    return [TranscriptMessage(f"m{line}", line, who, text) for line, (who, text) in enumerate(texts, start=1)]


def section(state: str, heading: str) -> list[str]:
    return state.partition(f"## {heading}\n\n")[2].partition("\n\n")[0].strip().splitlines()


def found(kind: Kind, messages: list[TranscriptMessage]) -> list[Note]:
    return [Note(kind, "", message.text, message, 0.8) for message in messages]


def test_before_compaction_fifteen_decisions_of_150_characters() -> None:
    """The sixteenth is left out, and what is longer is cut."""
    messages = said(*((U, f"{number:02} {'x' * 200}") for number in range(16)))

    kept = section(state_of(messages, found(Kind.DECISION, messages)), "Key Decisions This Session")

    assert [line[2:4] for line in kept] == [f"{number:02}" for number in range(15, 0, -1)]
    assert {len(line) for line in kept} == {len("- ") + 150}


def test_before_compaction_ten_questions_of_the_last_twenty_messages() -> None:
    """Of twenty-one the first is too old, and of the others the last ten count."""
    old = said((U, "Who pays?"), *((A, f"Message {number}.") for number in range(20)))
    many = said(*((U, f"Question {number:02}?") for number in range(21)))

    assert section(state_of(old, []), "Open Questions / Unresolved") == ["None."]
    assert section(state_of(many, []), "Open Questions / Unresolved") == [
        f"- Question {number:02}?" for number in range(11, 21)
    ]


def test_before_compaction_500_characters_of_the_last_request() -> None:
    """What the person asked last, cut, although the assistant spoke after it."""
    state = state_of(said((U, "first"), (U, "y" * 501), (A, "later")), [])

    assert section(state, "Last User Request") == ["y" * 500]


def test_what_an_observer_is_told() -> None:
    """The last hundred messages, 200 characters of the person's and 500 of the assistant's, 2000 tokens together."""
    short = observations.transcript_excerpt(said((U, "u" * 201), (A, "a" * 501)))
    many = observations.transcript_excerpt(said(*((U, f"<{number}>") for number in range(101))))
    long = observations.transcript_excerpt(said(*((A, "z" * 500) for _ in range(100))))

    assert (short.count("u" * 200), short.count("u" * 201)) == (1, 0)
    assert (short.count("a" * 500), short.count("a" * 501)) == (1, 0)
    assert ("<0>" in many, "<1>" in many, "<100>" in many) == (False, True, True)
    assert len(long) <= 2000 * 4
    assert "<100>" in observer_prompt(many)
    assert (observations.OBSERVE.max_tokens, observations.OBSERVE.temperature) == (2000, 0.3)


def test_what_an_observer_is_believed() -> None:
    """Without a title or with a placeholder nothing; titles of 80 characters, facts of five and more."""
    messages = said((U, "We'll use Postgres for the ledger."))
    good = {"type": "decision", "title": "t" * 90, "quote": "We'll use Postgres for the ledger."}
    facts = ["five5", "four", "{{fact}}"]
    bad = [{**good, "title": ""}, {**good, "title": "${title}"}]

    [note] = read_notes({"observations": [*bad, {**good, "facts": facts}]}, messages)

    assert (note.kind, len(note.title), note.facts) == (Kind.DECISION, 80, ("five5",))
    assert note.confidence == 0.90
