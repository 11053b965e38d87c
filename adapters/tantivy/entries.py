"""How an entry lies in tantivy: its fields, and how text becomes words."""

from __future__ import annotations

import json

from tantivy import (
    Document,
    Filter,
    Index,
    Schema,
    SchemaBuilder,
    TextAnalyzer,
    TextAnalyzerBuilder,
    Tokenizer,
)

from clawmem.ports.lexical_index import TITLE_WEIGHT
from clawmem.ports.records import FragmentKey, Grain, LexicalEntry

# The numbers are signed: tantivy's binding makes a signed term of every Python number, and a deletion by
# such a term in an unsigned field deletes nothing and says nothing.
WORDS = "words"
KEY = "key"
DOCUMENT = "document"
COLLECTION = "collection"
PATH = "path"
AUTHORED = "authored"
KEPT = "kept"

_ANALYZER = "clawmem"
_SEQ_BITS = 20
_TIME_DIGITS = 18  # to the ten-thousandth of a second, and within 64 bits


def analyzer() -> TextAnalyzer:
    """Words are runs of letters and digits, without case and Latin diacritics, by their English stem."""
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.lowercase())
        .filter(Filter.ascii_fold())
        .filter(Filter.stemmer("english"))
        .build()
    )


def schema() -> Schema:
    """The fields of every grain's index."""
    builder = SchemaBuilder()
    builder.add_text_field(WORDS, tokenizer_name=_ANALYZER, index_option="position")
    builder.add_integer_field(KEY, indexed=True, fast=True)
    builder.add_integer_field(DOCUMENT, indexed=True)
    builder.add_text_field(COLLECTION, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(PATH, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field(AUTHORED, fast=True)
    builder.add_bytes_field(KEPT, stored=True)
    return builder.build()


def open_index(folder: str | None = None) -> Index:
    """
    The index in *folder*, made if there is none, or one in memory.

    Raises:
        ValueError: as tantivy says it, for what is there and is no such index.
    """
    index = Index(schema(), folder)
    index.register_tokenizer(_ANALYZER, analyzer())  # tantivy stores the name of it and nothing else
    index.config_reader("manual")  # else a thread of its own watches the folder
    return index


def to_document(entry: LexicalEntry, *, keep: bool) -> Document:
    """An entry as tantivy takes it in; with *keep* it can be read back by `kept_entry`."""
    document = Document()
    # Values of one field: no phrase crosses from one to the next, and each counts towards the length.
    for text in [entry.title] * TITLE_WEIGHT + [entry.text]:
        document.add_text(WORDS, text)
    document.add_integer(KEY, pack(entry.key))
    document.add_integer(DOCUMENT, entry.key.document_id)
    document.add_text(COLLECTION, entry.collection)
    document.add_text(PATH, entry.path)
    document.add_integer(AUTHORED, time_number(entry.authored_at))
    if keep:
        document.add_bytes(KEPT, _written(entry))
    return document


def kept_entry(document: Document) -> LexicalEntry | None:
    """The entry that was put in, or ``None`` if it was not kept."""
    kept = document.get_first(KEPT)
    if kept is None:
        return None
    document_id, seq, grain, *texts = json.loads(bytes(kept))
    return LexicalEntry(FragmentKey(document_id, seq), Grain(grain), *texts)


def pack(key: FragmentKey) -> int:
    """``document_id * 2^20 + seq``: one number that keeps the order of keys."""
    return (key.document_id << _SEQ_BITS) | key.seq


def unpack(packed: int) -> FragmentKey:
    """The inverse of `pack`."""
    return FragmentKey(packed >> _SEQ_BITS, packed & ((1 << _SEQ_BITS) - 1))


def time_number(time: str) -> int:
    """
    The digits of an ISO time as one number, which orders times as their text does.

    tantivy has no ranges of text, and its own dates are of whole seconds. A shorter time stands at its
    beginning (``2024`` before every day of 2024), an empty one before all.
    """
    digits = "".join(sign for sign in time if sign in "0123456789")
    return int(digits[:_TIME_DIGITS].ljust(_TIME_DIGITS, "0"))


def _written(entry: LexicalEntry) -> bytes:
    texts = [entry.collection, entry.title, entry.text, entry.path, entry.authored_at]
    return json.dumps([*entry.key, entry.grain.value, *texts]).encode()
