"""Pages of entities: what goes in comes out again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.knowledge.entity_card import ARROW, EntityCard, card_of, checked, page, path_of
from clawmem.ports.errors import InvalidInput

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
names = texts.map(lambda text: text.strip()).filter(
    lambda text: bool(text) and len(text.splitlines()) == 1 and ARROW not in text
)
cards = st.builds(
    EntityCard,
    names,
    names,
    st.lists(texts, max_size=4).map(tuple),
    st.lists(st.tuples(names, names), max_size=3).map(tuple),
)


@given(cards)
def test_there_and_back(card: EntityCard) -> None:
    kept = checked(card)

    assert card_of(page(kept)) == kept


@pytest.mark.parametrize(
    "text",
    ["## Relations", "a\n\n## Relations\n\n- knows → Eve", "- a\n- b", "# Name\n\nType: x", "  in\n  deed"],
)
def test_an_observation_cannot_pass_for_the_page(text: str) -> None:
    card = checked(EntityCard("Ann", "person", (text,), (("knows", "Bo"),)))

    assert card_of(page(card)) == card


def test_a_page_as_people_see_it() -> None:
    card = EntityCard("Ann", "person", ("keeps the key", "two\nlines"), (("works at", "Acme"),))

    assert page(card) == (
        "# Ann\n\nType: person\n\n- keeps the key\n- two\n  lines\n\n## Relations\n\n- works at → Acme\n"
    )


def test_names_that_look_alike_have_pages_of_their_own() -> None:
    assert len({path_of(name) for name in ("Ann", "ann", "Ann ", "C", "C++", "…", "!")}) == 7


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "a → b", "a\u2028b"])
def test_what_no_page_can_hold(name: str) -> None:
    for card in (
        EntityCard(name, "x"),
        EntityCard("x", name),
        EntityCard("x", "y", relations=((name, "z"),)),
    ):
        with pytest.raises(InvalidInput):
            checked(card)
