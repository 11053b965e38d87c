"""Words of an FTS5 table that are spelt like words which the table does not contain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import apsw

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.postings import vocabulary
from clawmem.ports.spelling import UnknownWord

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])  # of the tables, see the migrations
_ALIKE = """\
select first.value, term, doc from json_each(?) as first cross join temp.spellings
where term >= first.value and term < char(unicode(first.value) + 1)"""
_SPREAD = 2  # letters by which the lengths may differ


def unknown_words_in(db: Database, table: str, unknown: Sequence[str]) -> Mapping[str, UnknownWord]:
    """Return the words of *table* with the first letter of each of the *unknown* words, and about its length."""
    if not unknown:
        return {}
    with db.connection() as connection:
        stems = {word: stem for word in unknown if (stem := _stem(connection, word))}
        with vocabulary(connection, "spellings", table, "row"):
            alike = _alike(connection, {stem[0] for stem in stems.values()})
    return {word: UnknownWord(stem, _of_its_length(alike[stem[0]], stem)) for word, stem in stems.items()}


def _alike(connection: apsw.Connection, letters: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
    """Return the stored words with each of these first *letters*, and the number of their documents."""
    found: dict[str, dict[str, int]] = {letter: {} for letter in letters}
    for letter, term, documents in connection.execute(_ALIKE, (json.dumps([*found]),)):
        found[letter][term] = documents
    return found


def _of_its_length(alike: Mapping[str, int], stem: str) -> dict[str, int]:
    return {term: documents for term, documents in alike.items() if abs(len(term) - len(stem)) <= _SPREAD}


def _stem(connection: apsw.Connection, word: str) -> str:
    """Return the form in which FTS5 stores *word*; empty if it would store several words or none."""
    tokenize = connection.fts5_tokenizer(*_TOKENIZER)
    found = [
        *tokenize(
            word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
        )
    ]
    return str(found[0]) if len(found) == 1 else ""
