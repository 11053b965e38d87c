"""What of an address of a server may be shown."""

from __future__ import annotations

import pytest

from clawmem.adapters.http.addresses import secrets_in, shown


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (" http://localhost:8088/v1 ", "http://localhost:8088/v1"),
        ("http://me:secret@[::1]:8088/v1", "http://[::1]:8088/v1"),
        ("https://token@host/v1", "https://host/v1"),
        ("https://me:se@cret@host", "https://host"),
        ("https://host/v1?api_key=secret&version=2#secret", "https://host/v1"),
        ("http://host/@org/model", "http://host/@org/model"),
        # No addresses, but somebody meant them as such.
        ("http://me:se/cret@host/v1", "http://host/v1"),
        ("http://me:se#cret@host", "http://host"),
        ("me:secret@host:8088/v1", "host:8088/v1"),
        ("http://me:secret@[::1", "http://[::1"),
        ("http://me:secret@", "http://"),
        ("host/v1?key=secret", "host/v1"),
        ("", ""),
    ],
)
def test_an_address_as_it_is_shown(url: str, expected: str) -> None:
    """Neither user nor password, nor what a query says, even where the address cannot be meant."""
    assert shown(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://host:8088/v1", ()),
        ("http://host?version=2024&api_key=abcdefgh", ("abcdefgh",)),
        ("http://me@host", ()),
        ("http://me:p%40ss@host", ("bWU6cEBzcw==", "p%40ss", "p@ss")),
    ],
)
def test_the_secrets_of_an_address(url: str, expected: tuple[str, ...]) -> None:
    """The password as it is written, as it is meant and as it is sent, and whatever of a query may be a key."""
    assert secrets_in(url) == expected
