from dataclasses import replace

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import UNKNOWN, fetch, save
from clawmem.ports.records import InactiveReason
from clawmem.ports.sessions import Cursor, Session, Sighting
from clawmem.ports.vault import Vault

EIGHT, NINE, TEN, ELEVEN = (f"2024-03-04T{hour:02}:00:00.000Z" for hour in (8, 9, 10, 11))


class SessionContract(VaultContract):
    """Sessions, also those whose handoff was forgotten. Supply ``vault``: an EMPTY ``Vault``."""

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

    def test_the_session_of_a_moment(self, vault: Vault) -> None:
        """
        A session contains every moment from its start to its end, inclusive, and none a millisecond outside.

        Of several sessions at a moment the latest start wins, ties by id; one never ended hides no later one.
        """
        vault.sessions.save(Session("s1", EIGHT, NINE))
        moments = (EIGHT, NINE, "2024-03-04T07:59:59.999Z", "2024-03-04T09:00:00.001Z")
        assert [_covering(vault, moment) for moment in moments] == ["s1", "s1", None, None]

        vault.sessions.save(Session("forgotten", EIGHT))
        vault.sessions.save(Session("b", NINE, TEN))
        vault.sessions.save(Session("a", NINE, TEN))

        assert _covering(vault, TEN) == "a"
        assert _covering(vault, ELEVEN) == "forgotten"

    def test_summaries_are_forgotten(self, vault: Vault) -> None:
        """Sessions handed over in this document lose their summaries and files, and no other data."""
        gone = save(vault, "h.md")
        first = Session("s1", EIGHT, NINE, "notes/h.md", "It came to this.", ("a.py",), "host")
        other = Session("s2", EIGHT, NINE, "xnotes/h.md", "It came to that.")
        for session in (first, other):
            vault.sessions.save(session)

        vault.documents.forget([gone])

        assert vault.sessions.get("s1") == replace(first, summary="", files_changed=())
        assert vault.sessions.get("s2") == other


def _covering(vault: Vault, moment: str) -> str | None:
    found = vault.sessions.covering(moment)
    return found.id if found else None


def sighting(document_id: int, source: str = "s1", payload: str = "p1", seen_at: str = NINE) -> Sighting:
    """Return a sighting with these values and fixed values for the other fields."""
    place = ("user", "session-1", "message-1", 7, "We use Ä.")
    return Sighting(source, document_id, payload, "decision", *place, seen_at)


class CaptureContract(VaultContract):
    """Sightings, read positions, and their forgetting. Supply ``vault``: an EMPTY ``Vault``."""

    def test_a_reader_begins_at_the_beginning(self, vault: Vault) -> None:
        """A new reader starts at the first line; a known one resumes at its position, one per reader and session."""
        vault.captures.advance("s", "decisions", Cursor(3, 400, 1))
        vault.captures.advance("s", "decisions", Cursor(2, 90, 1))

        assert vault.captures.cursor("s", "decisions") == Cursor(2, 90, 1)
        assert vault.captures.cursor("s", "feedback") == vault.captures.cursor("t", "decisions") == Cursor()

    def test_a_sighting_is_kept_whole_and_once(self, vault: Vault) -> None:
        """A sighting is returned unchanged; a second sighting with the same source is ignored."""
        document_id = save(vault)
        given = sighting(document_id)

        assert not vault.captures.is_known("s1")
        assert vault.captures.add(given)
        assert not vault.captures.add(given._replace(quote="Another."))
        assert vault.captures.is_known("s1")
        assert vault.captures.sightings(document_id) == [given]

    def test_duplicates_are_counted_on_the_document(self, vault: Vault) -> None:
        """A document counts its sightings, ignoring repeated sources, and returns them by time."""
        document_id = save(vault)
        for source, hour in (("b", TEN), ("a", EIGHT), ("b", NINE)):
            vault.captures.add(sighting(document_id, source, seen_at=hour))

        assert fetch(vault, document_id).duplicate_count == 2
        assert [sighting.source for sighting in vault.captures.sightings(document_id)] == ["a", "b"]

        vault.captures.count_as(document_id, 7)
        vault.captures.count_as(UNKNOWN, 7)
        assert fetch(vault, document_id).duplicate_count == 7

    def test_the_earliest_of_one_payload(self, vault: Vault) -> None:
        """The earliest sighting of a payload and type is found; the lower time bound is inclusive."""
        first, second = save(vault, "one.md"), save(vault, "two.md")
        vault.captures.add(sighting(second, "b", seen_at=TEN))
        vault.captures.add(sighting(first, "a", seen_at=EIGHT))
        earliest = vault.captures.earliest

        sightings = [earliest("p1", "decision", since) for since in ("", EIGHT, NINE, TEN)]
        assert [found and found.source for found in sightings] == [*"aabb"]
        assert earliest("p1", "decision", "2024-03-04T10:00:00.001Z") is None
        assert earliest("p1", "preference") is earliest("p2", "decision") is None

    def test_what_is_not_served_is_no_duplicate(self, vault: Vault) -> None:
        """A sighting of an inactive document is not found by its payload, but its source stays known."""
        document_id = save(vault)
        vault.captures.add(sighting(document_id))
        vault.documents.deactivate([document_id], InactiveReason.FORGOTTEN)

        assert vault.captures.earliest("p1", "decision") is None
        assert vault.captures.is_known("s1")

    def test_forgetting_leaves_the_source(self, vault: Vault) -> None:
        """Forgetting clears the quotes and payloads of a document; its sources stay known, others are unchanged."""
        gone, other = save(vault, "a.md"), save(vault, "b.md")
        vault.captures.add(sighting(gone, "s1"))
        vault.captures.add(sighting(other, "s2"))

        vault.documents.forget([gone])

        assert vault.captures.is_known("s1")
        assert [(sighting.quote, sighting.payload) for sighting in vault.captures.sightings(gone)] == [
            ("", "")
        ]
        assert vault.captures.sightings(other) == [sighting(other, "s2")]


class UsageContract(VaultContract):
    """Use of surfaced documents. Supply ``vault``: an EMPTY ``Vault``."""

    def test_accesses(self, vault: Vault) -> None:
        """Each use counts as an access, with its time."""
        used, ignored = save(vault, "used.md"), save(vault, "ignored.md")

        vault.usage.note([used], NINE)

        assert (fetch(vault, used).access_count, fetch(vault, used).last_accessed_at) == (1, NINE)
        assert fetch(vault, ignored) == fetch(vault, ignored)._replace(access_count=0, last_accessed_at=None)

    def test_pairs(self, vault: Vault) -> None:
        """Documents used together are partners of each other, the most frequent first, then by id."""
        a, b, c = (save(vault, f"{name}.md") for name in "abc")

        vault.usage.note([c, a], NINE)
        vault.usage.note([a, b, c], TEN)
        vault.usage.note([a], TEN)

        assert [*vault.usage.partners(a).items()] == [(c, 2), (b, 1)]
        assert [*vault.usage.partners(b).items()] == [(a, 1), (c, 1)]
        assert vault.usage.partners(UNKNOWN) == {}
