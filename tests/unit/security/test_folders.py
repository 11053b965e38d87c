from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.security.folders import SECRET, SYSTEM, Restriction, restriction_of

HOME = "/home/user"
NAMES = st.text("abcxyz-_ .2", min_size=1, max_size=8).filter(lambda name: name.strip(".") != "")
PATHS = st.lists(NAMES, max_size=4)


@given(PATHS, st.sampled_from(sorted(SYSTEM)))
def test_nothing_below_a_folder_of_the_system_is_read(names: list[str], system: str) -> None:
    """However deep, in whichever case, and however many separators are written."""
    assert restriction_of("/".join(["", system, *names]), HOME)
    assert restriction_of("//" + "//".join([system.upper(), *names]), HOME)


@given(PATHS, NAMES)
def test_a_longer_name_is_another_name(names: list[str], more: str) -> None:
    """What only begins with the home's name is not below the home."""
    assert restriction_of("/".join([HOME + more, *names]), HOME) is Restriction.OTHERS


@given(PATHS, PATHS, st.sampled_from(sorted(SECRET)))
def test_a_place_for_secrets_is_one_wherever_it_stands(
    above: list[str], below: list[str], secret: str
) -> None:
    """As a whole name, at any depth."""
    assert restriction_of("/".join([HOME, *above, secret, *below]), HOME) is Restriction.SECRET


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_what_is_ones_own_is_read(names: list[str]) -> None:
    """Below the home everything may be read but hidden folders and secrets."""
    is_secret = any(name in SECRET or name.startswith(".") for name in names)
    assert (restriction_of("/".join([HOME, *names]), HOME) is None) is not is_secret


@given(PATHS, PATHS)
def test_nothing_leads_upwards(above: list[str], below: list[str]) -> None:
    """Not even where it would lead back."""
    assert restriction_of("/".join([HOME, *above, "..", *below]), HOME) is Restriction.UPWARDS
