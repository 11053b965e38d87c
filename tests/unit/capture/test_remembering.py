"""What a text says that no longer holds."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.versions import replaced_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It is 68, not 62.", {"62"}),
        ("Nicht mehr Gleis 4, sondern Gleis 7.", {"4"}),
        ("Un joint de 38 en fait, pas de 40", {"40"}),
        ("She comes on Fridays, no rota anymore since 1 Oct, 40 each time", set()),
    ],
)
def test_numbers_that_no_longer_hold(text: str, numbers: set[str]) -> None:
    """Those next after a negation of a value; "no rota since 1 Oct" replaces no number."""
    assert replaced_numbers(text) == numbers
