"""Names: what their vectors cannot say of every kind."""

from __future__ import annotations

from itertools import permutations

from clawmem.domain.knowledge.entities import Name, is_same


def test_what_is_never_one_thing() -> None:
    """People, organisations, places and what is made are four things, whatever they are called."""
    for one, other in permutations(("person", "org", "location", "tool"), 2):
        assert not is_same(Name("Aurora", one), Name("Aurora", other))
    for one, other in permutations(("project", "service", "tool", "concept"), 2):
        assert is_same(Name("Aurora", one), Name("Aurora", other))
