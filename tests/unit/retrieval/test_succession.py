from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.retrieval.requested import requested
from clawmem.domain.retrieval.succession import current_first, is_replaced, passages_of, successors

KEYS = st.integers(0, 9)
RANKED = st.lists(KEYS, unique=True)
PAIRS = st.lists(st.tuples(KEYS, KEYS), max_size=12)
HIDDEN = st.sets(KEYS)


@given(RANKED, PAIRS, HIDDEN)
def test_every_item_stands_below_its_successors(
    ranked: list[int], pairs: list[tuple[int, int]], hidden: set[int]
) -> None:
    """Whatever supersedes what, nothing is above what has superseded it."""
    order = current_first(ranked, pairs, hidden - set(ranked))
    newer = successors(pairs)

    for place, key in enumerate(order):
        assert newer.get(key, set()).isdisjoint(order[place + 1 :])


@given(RANKED, PAIRS, HIDDEN)
def test_nothing_is_lost_and_only_what_holds_comes_in(
    ranked: list[int], pairs: list[tuple[int, int]], hidden: set[int]
) -> None:
    """Each item is there once; what came in has superseded one of them, is not hidden, and nothing seen follows it."""
    hidden -= set(ranked)
    order = current_first(ranked, pairs, hidden)
    newer = successors(pairs)
    came = set(order) - set(ranked)

    assert len(order) == len(set(order))
    assert set(ranked) <= set(order)
    for key in came:
        assert key not in hidden
        assert newer.get(key, set()) <= hidden
        assert any(key in newer.get(older, set()) for older in ranked)


@given(RANKED, PAIRS)
def test_the_unrelated_keep_their_places(ranked: list[int], pairs: list[tuple[int, int]]) -> None:
    """Where nothing comes in, an item that nothing superseded and that supersedes nothing is where it was."""
    listed = [(older, newer) for older, newer in pairs if {older, newer} <= set(ranked)]
    related = {key for pair in listed for key in pair}

    order = current_first(ranked, listed)

    assert [order.index(key) for key in ranked if key not in related] == [
        place for place, key in enumerate(ranked) if key not in related
    ]


@given(RANKED, PAIRS)
def test_the_unrelated_keep_their_order(ranked: list[int], pairs: list[tuple[int, int]]) -> None:
    """Also where successors come in."""
    related = {key for pair in pairs for key in pair}

    order = current_first(ranked, pairs)

    assert [key for key in order if key not in related] == [key for key in ranked if key not in related]


@given(RANKED, PAIRS, HIDDEN)
def test_a_second_time_changes_nothing(
    ranked: list[int], pairs: list[tuple[int, int]], hidden: set[int]
) -> None:
    """What is in order stays as it is."""
    hidden -= set(ranked)
    order = current_first(ranked, pairs, hidden)

    assert current_first(order, pairs, hidden) == order


@given(RANKED, PAIRS)
def test_the_order_of_the_claims_does_not_matter(ranked: list[int], pairs: list[tuple[int, int]]) -> None:
    """Whichever note was read first, the answer is the same."""
    assert current_first(ranked, pairs) == current_first(ranked, pairs[::-1])


@pytest.mark.parametrize("revisions", [200, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_long_row_of_successions(revisions: int) -> None:
    """Many revisions of one note are put right, the last one first."""
    ranked = list(range(revisions))

    assert current_first(ranked, [*pairwise(ranked)]) == ranked[::-1]


HOUSE = "## Hours\n\nOpen from 9:30 to noon.\n\n## Break\n\nThe house closes in July, no letters."


@pytest.mark.parametrize(
    ("question", "newer", "is_replacing"),
    [
        ("what are the hours, when is it open", "Break: the house closes in August.", False),
        ("when is the break, in July", "Break: the house closes in August.", True),
        ("what are the hours", "Hours: open from ten.", True),
        ("what are the hours", "Open from ten, until noon.", True),
        ("who paints the boat", "Break: the house closes in August.", True),
    ],
)
def test_a_note_replaces_the_passage_that_it_is_about(question: str, newer: str, is_replacing: bool) -> None:
    """Unless it lacks the words of the question and has more of another passage; without words of either it replaces."""
    asked = requested(question, query_forms(question).words)

    assert is_replaced(asked, passages_of(HOUSE), newer) is is_replacing


def test_a_passage_has_its_heading() -> None:
    """A heading belongs to every sentence below it."""
    assert passages_of("# A\n\nOne.\nTwo. Too.\n\n## B\nThree.\n") == [
        "# A\nOne.",
        "# A\nTwo.",
        "# A\nToo.",
        "## B\nThree.",
    ]


def test_lines_of_one_paragraph_are_replaced_one_by_one() -> None:
    """A new price leaves the telephone number on the line above current."""
    older = "# Plumber\n\nEmergency number 0160 555 3311.\nCharges 95 euros per hour.\n"
    newer = "The plumber charges 105 euros per hour."

    number = requested("emergency number of the plumber", ["emergency", "number", "plumber"])
    price = requested("what does the plumber charge", ["plumber", "charge"])

    assert not is_replaced(number, passages_of(older), newer)
    assert is_replaced(price, passages_of(older), newer)


CHOIR = """
# Choir of St. Mary

I sing alto. Conductor: Henrike Vogt (since 2024). Rehearsal Tuesdays 19:30 in the parish hall.
Membership fee 12 EUR a month. Treasurer: Bernd.

Until the parish hall has a new roof, we rehearse in the school gym, on the same day of the week.
"""


@pytest.mark.parametrize(
    ("question", "is_replacing"),
    [
        ("how much is the membership fee", False),
        ("who is the conductor", False),
        ("when is the rehearsal", True),
    ],
)
def test_a_short_note_replaces_only_the_sentence_that_it_is_about(question: str, is_replacing: bool) -> None:
    """One word that it shares with another sentence is enough, if it shares none with the answering one."""
    asked = requested(question, query_forms(question).words)

    assert (
        is_replaced(asked, passages_of(CHOIR), "The rehearsal is on Wednesdays from January.") is is_replacing
    )
