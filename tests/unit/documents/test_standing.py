"""Whether the record of a file is up to date."""

from __future__ import annotations

import pytest

from clawmem.contracts.samples import document
from clawmem.domain.documents.identity import is_current, is_forgotten
from clawmem.ports.records import InactiveReason


@pytest.mark.parametrize(
    ("reason", "same", "edited", "kept_away"),
    [
        (None, True, False, False),
        (InactiveReason.ARCHIVED, True, False, False),
        (InactiveReason.SUPERSEDED, True, False, False),
        (InactiveReason.REMOVED, False, False, False),
        (InactiveReason.FORGOTTEN, True, False, True),
    ],
)
def test_by_reason(reason: InactiveReason | None, same: bool, edited: bool, kept_away: bool) -> None:
    """An edit makes every document new but a forgotten one; a removed one is new whatever its file says."""
    known = document("a.md")._replace(inactive=reason, source_hash="aa")

    assert is_current(known, "aa") is same
    assert is_current(known, "bb") is edited
    assert is_forgotten(known) is kept_away


def test_an_unknown_file() -> None:
    """It is neither up to date nor kept away."""
    assert not is_current(None, "")
    assert not is_forgotten(None)
