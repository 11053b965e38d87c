from __future__ import annotations

from collections.abc import Iterable

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.forget_log import forgotten_text

_ADD = "insert or ignore into forgotten_texts (salt, digest) values (?, ?)"


class SqliteForgottenTexts:
    """``ForgottenTexts`` in one table; new digests are salted with the id of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, hashes: Iterable[str]) -> None:
        salt = str(self._db.meta("vault_id"))
        self._db.write_many(_ADD, [forgotten_text(salt, one) for one in hashes])

    def holds(self, hash: str) -> bool:
        # The primary key starts with the salt, so the distinct salts (rarely more than one) are read from the
        # index.
        salts = self._db.rows("select distinct salt from forgotten_texts")
        marks = [forgotten_text(salt, hash) for (salt,) in salts]
        return any(
            self._db.row("select 1 from forgotten_texts where salt = ? and digest = ?", mark)
            for mark in marks
        )
