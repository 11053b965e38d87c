"""Sentences that say what changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.versions import states_change

TOPIC = ("language", "new", "services")
OLDER = "We write all new services in Go."


@pytest.mark.parametrize(
    "sentence",
    [
        "As of June it is Rust for new services.",
        "New services are no longer written in Go.",
        "From this sprint on new services are in Rust.",
        "In the end the language of new services is Rust.",
        "New services, instead of Go, get Rust.",
        "Die new services nicht mehr in Go, sondern in Rust.",
        "Ab Juni new services in Rust.",
    ],
)
def test_a_marker_beside_the_subject(sentence: str) -> None:
    assert states_change(f"# Notes\n\nWeather is fine. {sentence} Lunch.", TOPIC, OLDER)


@pytest.mark.parametrize(
    "text",
    [
        "New services are written in Rust.",  # no marker
        "As of June the canteen is closed. New services are fine.",  # of another sentence
        "It is no longer raining.",
        "Until now new services were a pleasure.",
        "Done so far: the lime, the nun, the new services.",  # "nun" is English here
        "",
    ],
)
def test_no_change(text: str) -> None:
    assert not states_change(text, TOPIC, OLDER)


def test_a_single_word_is_the_whole_subject() -> None:
    assert states_change("Standup moved to 10:15.", ("standup",), "Standup is at 9:30.")


def test_words_of_the_older_note_count() -> None:
    text = "From this campaign on there are four sites, not five."
    assert states_change(
        text, ("sites", "programme", "sampling"), "One trip per site, from five sites in this campaign."
    )
    assert not states_change(text, ("sites", "programme", "sampling"), "The programme.")


@given(st.text(), st.lists(st.text(min_size=1), max_size=5), st.text())
def test_any_text(body: str, topic: list[str], older: str) -> None:
    assert not (states_change(body, topic, older) and not body)
    assert not states_change(body, [], older)
