"""Sentences that say what changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.versions import states_change, states_other_value, weight_of_change

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


@pytest.mark.parametrize(
    ("sentence", "is_other"),
    [
        ("From the first of July the workshop goes to €865 a month.", True),
        ("The workshop is €780 a month.", False),  # the same value
        ("The workshop costs €120 a month for power and €90 a month for water.", False),  # a list of others
        ("The workshop is 92 square metres, for months.", False),  # another unit
        ("The flat goes to €865 a month.", False),  # another subject
        ("The workshop closes for 2 months.", False),  # another measure
    ],
)
def test_another_value(sentence: str, is_other: bool) -> None:
    topic = ("pay", "workshop", "month")
    older = "Lease\nThe rent of the workshop is €780 a month, notice six months ahead."
    assert states_other_value(f"Letter.\n{sentence} Not a surprise.", topic, older) is is_other


def test_the_weight_of_a_change() -> None:
    weights = {"orthodontist": 4.0, "joris": 2.0, "pell": 4.0, "weeks": 1.0}
    body = "Mrs Pell retires. From now on Joris goes to Dr Vasquez, every eight weeks."
    assert weight_of_change("2026-10-05", body, ["orthodontist", "joris"], weights) == 2.0 + 1.0 + 4.0 / 2
    assert weight_of_change("2026-10-05", body, ["orthodontist"], weights) == 0.0  # nothing of the question
    assert (
        weight_of_change("2026-10-05", "Joris and Mrs Pell laughed.", ["joris"], weights) == 0.0
    )  # no marker


@given(st.text(), st.lists(st.text(min_size=1), max_size=5), st.text())
def test_any_text(body: str, topic: list[str], older: str) -> None:
    assert not (states_change(body, topic, older) and not body)
    assert not states_change(body, [], older)
    assert not states_other_value(body, [], older)
