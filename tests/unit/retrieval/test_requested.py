"""What a question asks for besides its topic, and what a text lacks of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.retrieval.requested import (
    Shortfall,
    least_unmet,
    requested,
    unmet,
)
from clawmem.domain.text.likeness import is_same_word


def lacks(question: str, text: str) -> Shortfall:
    """What *text* lacks of *question*, whose words weigh the same."""
    searched = query_forms(question).words
    return unmet(requested(question, searched), [1.0] * len(searched), text, text)


@pytest.mark.parametrize(
    ("question", "text", "name"),
    [
        ("how much did the pump of Joost cost", "The pump cost 900 euros, says Bram.", "names"),
        ("weight of Wastl", "The cat weighs 4 kg.", "names"),
        ("water depth at JX-14", "Core JX-12: water depth 31 m, ice 14 cm.", "number"),
        ("what did the fiduciaire charge for 2023", "The fiduciaire did 2025 for 340.", "number"),
        ("how many goats do the four sisters have", "Four sisters and their goats.", "slot"),
        ("when is the wedding of Ada", "Ada spoke of her wedding.", "slot"),
        ("wie viel kostet der Zaun", "Der Zaun ist aus Holz.", "slot"),
        ("Priya's phone number", "Joost 030 5557 1203", "names"),
    ],
)
def test_a_text_about_the_topic_may_lack_what_is_asked_for(question: str, text: str, name: str) -> None:
    """Another person, another number, or no number at all."""
    assert getattr(lacks(question, text), name) > 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("how many goats do the sisters have", "The sisters keep 12 goats."),
        ("how many goats do the sisters have", "Zwölf goats of the sisters."),
        ("when is the wedding of Ada", "Ada's wedding: 4 May."),
        ("when is the wedding of Ada", "Ada's wedding is on a Sunday."),
        ("the rent or the billing address of the mill", "The mill."),  # modifiers are no demand for a value
        ("Ada's phone number", "Ada"),
    ],
)
def test_a_number_or_a_time_is_a_value(question: str, text: str) -> None:
    """Only a question for a number or a time wants one."""
    assert lacks(question, text).slot == 0


@pytest.mark.parametrize(
    ("question", "text", "is_missed"),
    [
        ("how much is the rent of the loft", "The loft is on the third floor.", True),
        ("how much is the rent of the loft", "The loft is let at a rent of 740 euros.", False),
        ("when does the passport of Lou run out", "Tom's passport runs out in May.", True),
        ("what did Ada tell Lou about the raft", "Ada spoke of the raft.", False),
        ("which floor of Ada, Lou, Tom is dry", "The floor is wet.", False),
        ("where can we hire a raft for Friday", "Rafts are let by the mill.", False),
        ("who lets rafts on Sundays in March", "Rafts are let by the mill.", False),
        ("where does Ada hire a raft for Friday", "Rafts are let by the mill.", True),
        ("core JX-14", "Core JX-12.", True),
        ("who repaired the loft", "The loft.", False),
    ],
)
def test_a_text_misses_the_question_if_it_lacks_the_value_or_every_name(
    question: str, text: str, is_missed: bool
) -> None:
    """Of two names one is enough; a question with more names, or with none and no slot, is missed by no text."""
    assert requested(question, query_forms(question).words).is_missed_by(lacks(question, text)) is is_missed


@pytest.mark.parametrize(
    ("question", "has_identifier"),
    [
        ("when did Ada pay 2026-014", True),
        ("pages of the MP-40 manual", True),
        ("what failed with E1234?", True),
        ("what happened on 2026-03-14", False),
        ("what did Ada decide in 2025-2026", False),
        ("how many of the 120-150 rafts", False),
        ("is the train at 18:40 late", False),
        ("does it cost 1,200", False),
    ],
)
def test_identifiers(question: str, has_identifier: bool) -> None:
    """Dates, times, amounts and short ranges are none."""
    assert requested(question, query_forms(question).words).has_identifier is has_identifier


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("roof", "roofs", True),
        ("heat", "heating", True),
        ("decision", "decisions", True),
        ("key", "keys", True),
        ("lake", "land", False),
        ("car", "cargo", False),
        ("port", "portfolio", False),
    ],
)
def test_forms_of_a_word_share_their_stem(one: str, other: str, same: bool) -> None:
    """Short words must be equal but for a plural s, and endings are short."""
    assert is_same_word(one, other) is is_same_word(other, one) is same


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_judged(question: str, text: str) -> None:
    """Shares are shares, and an own text lacks no word of it."""
    found = lacks(question, text)

    assert 0 <= found.words <= 1
    assert lacks(question, question).words == 0
    assert least_unmet([found, Shortfall()]) == Shortfall()
