from __future__ import annotations

from dataclasses import replace

from clawmem.contracts.base import VaultContract
from clawmem.ports.sessions import Session
from clawmem.ports.vault import Vault

EIGHT, NINE, TEN, ELEVEN = (f"2024-03-04T{hour:02}:00:00.000Z" for hour in (8, 9, 10, 11))
JUST_AFTER_NINE = "2024-03-04T09:00:00.001Z"


class SessionContract(VaultContract):
    """Sessions. Supply ``vault``: an EMPTY ``Vault``."""

    def test_everything_is_kept(self, vault: Vault) -> None:
        """A session is returned with every field unchanged."""
        given = Session("s1", EIGHT, NINE, "handoffs/s1.md", "Moved Ä.", ("b.py", "a.py"), "desk")

        vault.sessions.save(given)

        assert vault.sessions.get("s1") == given
        assert vault.sessions.get("s2") is None

    def test_newest_first(self, vault: Vault) -> None:
        """Sessions are returned newest start first, ties by id."""
        for name, start in (("b", EIGHT), ("c", NINE), ("a", EIGHT), ("d", ELEVEN)):
            vault.sessions.save(Session(name, start, ELEVEN))

        assert [found.id for found in vault.sessions.recent(10)] == ["d", "c", "a", "b"]
        assert [found.id for found in vault.sessions.recent(2)] == ["d", "c"]

    def test_both_ends_belong_to_a_session(self, vault: Vault) -> None:
        """A session contains every moment from its start to its end, inclusive, and none a millisecond outside."""
        vault.sessions.save(Session("s1", EIGHT, NINE))

        assert [_covering(vault, moment) for moment in (EIGHT, NINE)] == ["s1", "s1"]
        assert [_covering(vault, moment) for moment in ("2024-03-04T07:59:59.999Z", JUST_AFTER_NINE)] == [
            None,
            None,
        ]

    def test_of_several_the_one_that_began_last(self, vault: Vault) -> None:
        """
        If several sessions contain a moment, the latest start wins, ties by id; a session never ended does not hide
        later ones.
        """
        vault.sessions.save(Session("forgotten", EIGHT))
        vault.sessions.save(Session("b", NINE, TEN))
        vault.sessions.save(Session("a", NINE, TEN))

        assert _covering(vault, TEN) == "a"
        assert _covering(vault, ELEVEN) == "forgotten"


class SessionForgettingContract(VaultContract):
    """Sessions whose handoff was forgotten. Supply ``vault``: an EMPTY ``Vault``."""

    def test_summaries_are_forgotten(self, vault: Vault) -> None:
        """Sessions handed over in this document lose their summaries and files, and no other data."""
        first = Session("s1", EIGHT, NINE, "_clawmem/h.md", "It came to this.", ("a.py",), "host")
        other = Session("s2", EIGHT, NINE, "x_clawmem/h.md", "It came to that.")
        for session in (first, other):
            vault.sessions.save(session)

        assert vault.sessions.forget("_clawmem/h.md") == 1
        assert vault.sessions.forget("_clawmem/h.md") == 0

        assert vault.sessions.get("s1") == replace(first, summary="", files_changed=())
        assert vault.sessions.get("s2") == other


def _covering(vault: Vault, moment: str) -> str | None:
    found = vault.sessions.covering(moment)
    return found.id if found else None
