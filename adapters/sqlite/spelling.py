"""Words of an FTS5 table that are spelt like words which the table does not contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.postings import vocabulary
from clawmem.ports.spelling import UnknownWord

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])  # of the tables, see the migrations
_ALIKE = "select term, doc from temp.spellings where term >= ? and term < ?"
_SPREAD = 2  # letters by which the lengths may differ


def unknown_words_in(db: Database, table: str, unknown: Sequence[str]) -> Mapping[str, UnknownWord]:
    """Return the words of *table* with the first letter of each of the *unknown* words, and about its length."""
    if not unknown:
        return {}
    with db.connection() as connection:
        stems = {word: stem for word in unknown if (stem := _stem(connection, word))}
        with vocabulary(connection, "spellings", table, "row"):
            return {word: UnknownWord(stem, _alike(connection, stem)) for word, stem in stems.items()}


def _alike(connection: apsw.Connection, stem: str) -> dict[str, int]:
    first = stem[0]
    rows = connection.execute(_ALIKE, (first, chr(ord(first) + 1)))
    return {term: documents for term, documents in rows if abs(len(term) - len(stem)) <= _SPREAD}


def _stem(connection: apsw.Connection, word: str) -> str:
    """Return the form in which FTS5 stores *word*; empty if it would store several words or none."""
    tokenize = connection.fts5_tokenizer(*_TOKENIZER)
    found = [
        *tokenize(
            word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
        )
    ]
    return str(found[0]) if len(found) == 1 else ""
