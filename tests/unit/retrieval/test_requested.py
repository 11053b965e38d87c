"""What a question asks for besides its topic, and what a text lacks of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.retrieval.requested import (
    NOTHING_ELSE,
    Shortfall,
    is_same_word,
    least_unmet,
    requested,
    unmet,
)


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
        ("phone number of Ada", "Ada came on 2026-04-05 at 10:30.", "slot"),
        ("colour of the raft", "The raft is new.", "slot"),
        ("what does the raft cost", "The raft is 12 m long, of 2019, seen at 10:30 on 2026-05-12.", "slot"),
        ("what does the raft cost", "The raft came on 14 May with 30 kg of rope.", "slot"),
        ("how much is the rent of the loft", "The loft: pottery class for 95 euros.", "slot"),
        ("what does Ada earn", "For the raft Ada got 95 euros.", "slot"),
        ("what does the mill owe us", "The mill owes us an answer.", "slot"),
        ("Priya's phone number", "Joost 030 5557 1203", "names"),
        ("phone number of Ada", "# Crew\n\n- Ada, cook\n- Joost: 030 5557 1203\n", "slot"),
        ("phone number of Ada", "## Ada\n\nCook.\n\n## Joost\n\n030 5557 1203\n", "slot"),
    ],
)
def test_a_text_about_the_topic_may_lack_what_is_asked_for(question: str, text: str, name: str) -> None:
    """Another person, another number, or nothing of the kind that is asked for."""
    assert getattr(lacks(question, text), name) > 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("how much did the pump of Joost cost", "Joost paid 900 for his pump."),
        ("water depth at JX-14", "Core JX-14, depth of the water 31 m."),
        ("how many goats do the sisters have", "The sisters keep 12 goats."),
        ("when is the wedding of Ada", "Ada's wedding: 4 May."),
        ("wie viel kostet der Zaun", "Der Zaun: 300."),
        ("what does the raft cost", "The raft: €9."),
        ("wie viel Miete zahlen wir", "The rent is 2 065, wie viel Strom wir zahlen."),
        ("phone number of Ada", "Ada 030 5557 1203"),
        ("phone number of Ada", "# Crew\n\n- Joost: at sea\n- Ada, cook\n  030 5557 1203\n"),
        ("phone number of Ada", "## Ada\n\nCook.\n\n030 5557 1203\n\n## Joost\n"),
        ("phone number of Ada", "Cook.\n\n030 5557 1203\nAda"),
        ("what's the raft called", "The raft is called Wanda."),
        ("Rent a raft", "Rafts to rent."),
        ("how did we date the raft", "Ada: how we date a raft."),
        ("what will Ada do after she has our phone number", "After that Ada will do the phone number."),
        ("où est la régie", "la regie, rue du Lac: où est"),
    ],
)
def test_a_filler_stands_for_the_words_that_ask_for_it(question: str, text: str) -> None:
    """A text that answers lacks nothing, although it does not say "cost", "number" or "when"."""
    assert lacks(question, text) == Shortfall()


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
        ("what did the German lecture say", "Der Vortrag.", False),
        ("who repaired the loft", "The loft.", False),
    ],
)
def test_a_text_misses_the_question_if_it_lacks_the_value_or_every_name(
    question: str, text: str, is_missed: bool
) -> None:
    """Of two names one is enough; a question with more names, or with none and no slot, is missed by no text."""
    assert requested(question, query_forms(question).words).is_missed_by(lacks(question, text)) is is_missed


@pytest.mark.parametrize(
    ("question", "is_exact"),
    [
        ("when did Ada pay 2026-014", True),
        ("pages of the MP-40 manual", True),
        ("what failed with E1234?", True),
        ("Ada's phone", True),
        ("ada's phone", True),
        ("phone number of the miller", False),
        ("what happened on 2026-03-14", False),
        ("what did Ada decide in 2025-2026", False),
        ("how many of the 120-150 rafts", False),
        ("how many of the 12-15 rafts", False),
        ("is the train at 18:40 late", False),
        ("does it cost 1,200", False),
        ("what did Ada tell Lou", False),
    ],
)
def test_identifiers_and_contacts_are_exact(question: str, is_exact: bool) -> None:
    """Dates, times, amounts, short ranges and names without a contact are not."""
    assert requested(question, query_forms(question).words).is_exact is is_exact


def test_only_a_telephone_number_answers_a_question_for_one() -> None:
    """A price may be asked for in other words; a telephone number looks like one."""
    assert lacks("phone number of Ada", "Ada").slot == NOTHING_ELSE > lacks("price of the raft", "raft").slot


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
