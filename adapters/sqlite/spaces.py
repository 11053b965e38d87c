"""The spaces of vectors: which one serves, which one is made beside it, and what was replaced."""

from __future__ import annotations

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import unpack
from clawmem.ports.named_tuple import NamedTuple

SERVING, BUILDING, RETIRED = "serving", "building", "retired"

_DISCARD = """
delete from space_vectors where id in (
    select space_vectors.id from spaces join space_vectors on space = spaces.id where state = 'retired' limit ?)
"""
_FORGET_EMPTY = """
delete from spaces where state = ? and not exists (select 1 from space_vectors where space = spaces.id)
"""
# Texts come in the order of their first fragments, so the last of those is how far the space is.
_REACHED = """
update spaces set reached = max(reached, (select coalesce(max(first), 0) from (
    select min(key) as first from fragments where text_hash in (select value from json_each(?)) group by text_hash)))
 where state = 'building'
"""


class Space(NamedTuple):
    """One model's vectors."""

    number: int
    fingerprint: str
    reached: int


class Spaces:
    """At most one space serves, and at most one is made; each has a number that no other ever had."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, state: str) -> Space | None:
        """The one in a state that only one can be in."""
        row = self._db.row("select id, fingerprint, reached from spaces where state = ?", (state,))
        return Space(*row) if row else None

    def add(self, fingerprint: str, state: str) -> Space:
        """A new one, without vectors."""
        sql = "insert into spaces (fingerprint, state) values (?, ?) returning id, fingerprint, reached"
        return Space(*self._db.write(sql, (fingerprint, state))[0])

    def share(self, space: Space) -> float:
        """About how much of the documents was passed, by their numbers."""
        last = self._db.value("select max(id) from documents") or 0
        return min(1.0, unpack(space.reached).document_id / last) if last else 0.0

    def reach(self, text_hashes: str) -> None:
        """Remember that the building space has these texts, a JSON list."""
        self._db.write(_REACHED, (text_hashes,))

    def retire(self, state: str) -> None:
        """Let nobody see anything any more of the one that serves or is made."""
        self._db.write("update spaces set state = 'retired' where state = ?", (state,))
        if state == SERVING:
            self._outdate_indexes()

    def promote(self) -> None:
        """Let the one that is made serve in the place of the one that did."""
        self.retire(SERVING)
        self._db.write("update spaces set state = 'serving' where state = 'building'")

    def forget_empty(self) -> None:
        """A model without vectors is not the vault's any more."""
        self._db.write(_FORGET_EMPTY, (SERVING,))
        if self._db.changes():
            self._outdate_indexes()

    def discard(self, limit: int) -> int:
        """Delete up to *limit* vectors of retired ones, and those that have none left; how many vectors went."""
        self._db.write(_DISCARD, (max(limit, 0),))
        gone = self._db.changes()
        self._db.write(_FORGET_EMPTY, (RETIRED,))
        return gone

    def _outdate_indexes(self) -> None:
        self._db.write("update indexes set outdated = 1 where role = 'vectors'")
