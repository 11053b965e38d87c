"""Embedding spaces: the serving one, the one that is being built, and retired ones."""

from typing import NamedTuple

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import unpack

SERVING, BUILDING, RETIRED = "serving", "building", "retired"

_DISCARD = """
delete from space_vectors where id in (
    select space_vectors.id from spaces join space_vectors on space = spaces.id where state = 'retired' limit ?)
"""
_FORGET_EMPTY = """
delete from spaces where state = ? and not exists (select 1 from space_vectors where space = spaces.id)
"""
# Texts are embedded in the order of their first fragments, so the last of these is the progress of the build.
_REACHED = """
update spaces set reached = max(reached, (select coalesce(max(first), 0) from (
    select min(key) as first from fragments where text_hash in (select unhex(value) from json_each(?)) group by text_hash)))
 where state = 'building'
"""


class EmbeddingSpace(NamedTuple):
    """The vectors of one model."""

    number: int
    fingerprint: str
    reached: int


class EmbeddingSpaces:
    """Table of embedding spaces. At most one serves and at most one is being built; numbers are never reused."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, state: str) -> EmbeddingSpace | None:
        """Return the space in *state*, which must be a state that at most one space has."""
        # Without a condition that an index serves: a damaged one would hide the space.
        rows = self._db.rows("select state, id, fingerprint, reached from spaces")
        return next((EmbeddingSpace(*space) for found, *space in rows if found == state), None)

    def add(self, fingerprint: str, state: str) -> EmbeddingSpace:
        """Create a space without vectors."""
        sql = "insert into spaces (fingerprint, state) values (?, ?) returning id, fingerprint, reached"
        return EmbeddingSpace(*self._db.write(sql, (fingerprint, state))[0])

    def share(self, space: EmbeddingSpace) -> float:
        """Return the approximate share of documents that are embedded, estimated from document ids."""
        last = self._db.value("select max(id) from documents") or 0
        return min(1.0, unpack(space.reached).document_id / last) if last else 0.0

    def reach(self, text_hashes: str) -> None:
        """Record that the space being built has the texts of *text_hashes*, a JSON list."""
        self._db.write(_REACHED, (text_hashes,))

    def retire(self, state: str) -> None:
        """Retire the space in *state*, so that no query uses it any more."""
        self._db.write("update spaces set state = 'retired' where state = ?", (state,))
        if state == SERVING:
            self._outdate_indexes()

    def promote(self) -> None:
        """Make the space that was built the serving one, and retire the former serving space."""
        self.retire(SERVING)
        self._db.write("update spaces set state = 'serving' where state = 'building'")

    def forget_empty(self) -> None:
        """Delete the serving space if it has no vectors, so that the vault is not bound to its model."""
        self._db.write(_FORGET_EMPTY, (SERVING,))
        if self._db.changes():
            self._outdate_indexes()

    def discard(self, limit: int) -> int:
        """
        Delete up to *limit* vectors of retired spaces, and retired spaces without vectors; return the number
        of vectors.
        """
        self._db.write(_DISCARD, (max(limit, 0),))
        gone = self._db.changes()
        self._db.write(_FORGET_EMPTY, (RETIRED,))
        return gone

    def _outdate_indexes(self) -> None:
        self._db.write("update indexes set outdated = 1 where role = 'vectors'")
