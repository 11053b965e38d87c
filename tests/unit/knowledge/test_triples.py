"""Triples: what their vectors cannot say of every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.knowledge.entities import KINDS, entity_id, ids_of
from clawmem.domain.knowledge.triples import MOST, PREDICATES, Statement, ends_statement, read_triples
from clawmem.domain.text.words import words

JSON = st.recursive(
    st.none()
    | st.integers()
    | st.text(max_size=40)
    | st.sampled_from(["ledger uses Redis", "uses", "<triple>"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["subject", "predicate", "object", "triples"]), inner)
    ),
    max_leaves=12,
)
PARTS = st.sampled_from(["ledger", "shop", "pg", "mysql"])
STATEMENTS = st.builds(Statement, PARTS, st.sampled_from(PREDICATES), PARTS)


@given(JSON)
def test_anything_can_be_read(said: object) -> None:
    """Whatever a model answers, there are at most five triples, each once, of known predicates and on one line."""
    found = read_triples(said)

    assert len(found) == len(set(found)) <= MOST
    for one in found:
        assert one.predicate in PREDICATES
        assert not any("\n" in part for part in one)


@given(st.lists(STATEMENTS, max_size=4), STATEMENTS)
def test_only_a_move_or_a_replacement_ends_anything(new: list[Statement], held: Statement) -> None:
    """What ends shares its subject or its object with one of the two, and is never among what is said."""
    if ends_statement(new, held):
        assert held not in new
        assert any(
            (one.predicate == "migrated_to" and one.subject == held.subject)
            or (one.predicate == "replaced" and one.object == held.object)
            for one in new
        )


@given(st.text(min_size=1, max_size=30), st.sampled_from(KINDS))
def test_an_id_is_among_those_of_its_name(name: str, kind: str) -> None:
    """However a name is written, what is kept under it is found by it, and by its words alone."""
    if ids_of(name):
        assert entity_id(name, kind) in ids_of(name)
        plain = " ".join(words(name))
        assert ids_of(plain) == ids_of(name) or {"+", "#"} & set(name)
