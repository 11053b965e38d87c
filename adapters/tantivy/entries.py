"""Storage of entries in tantivy: fields, tokenization, and conversion."""

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

# Integer fields are signed: tantivy's Python binding makes a signed term of every number, and a deletion by
# such a term in an unsigned field silently deletes nothing.
WORDS = "words"
KEY = "key"
DOCUMENT = "document"
COLLECTION = "collection"
PATH = "path"
AUTHORED = "authored"
KEPT = "kept"

_ANALYZER = "clawmem"
_SEQ_BITS = 20
_TIME_DIGITS = 18  # precise to a ten-thousandth of a second, and within 64 bits


def analyzer() -> TextAnalyzer:
    """Return the analyzer: words are runs of letters and digits, folded, and reduced to their English stem."""
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.lowercase())
        .filter(Filter.ascii_fold())
        .filter(Filter.stemmer("english"))
        .build()
    )


def schema() -> Schema:
    """Return the schema, which is the same for all granularities."""
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
    Open the index in *folder*, created if it does not exist, or an index in memory.

    Raises:
        ValueError: raised by tantivy if the files are no index with this schema.
    """
    index = Index(schema(), folder)
    index.register_tokenizer(_ANALYZER, analyzer())  # tantivy stores only the name of the analyzer
    index.config_reader("manual")  # otherwise a thread of tantivy watches the folder
    return index


def to_document(entry: LexicalEntry, *, keep: bool) -> Document:
    """Convert an entry to a document of tantivy; with *keep*, `kept_entry` can read it back."""
    document = Document()
    # Several values of one field: no phrase matches across them, and each counts towards the length.
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
    """Return the entry that was stored with the document, or ``None`` if it was not stored."""
    kept = document.get_first(KEPT)
    if kept is None:
        return None
    document_id, seq, grain, *texts = json.loads(bytes(kept))
    return LexicalEntry(FragmentKey(document_id, seq), Grain(grain), *texts)


def pack(key: FragmentKey) -> int:
    """Return ``document_id * 2^20 + seq``, which preserves the order of keys."""
    return (key.document_id << _SEQ_BITS) | key.seq


def unpack(packed: int) -> FragmentKey:
    """Return the key that `pack` turned into *packed*."""
    return FragmentKey(packed >> _SEQ_BITS, packed & ((1 << _SEQ_BITS) - 1))


def time_number(time: str) -> int:
    """
    Return the digits of an ISO time as a number, in the same order as the texts.

    tantivy has no range queries on text, and its dates have a precision of one second. A shorter time counts
    as its start (``2024`` comes before every day of 2024), an empty one comes first.
    """
    digits = "".join(sign for sign in time if sign in "0123456789")
    return int(digits[:_TIME_DIGITS].ljust(_TIME_DIGITS, "0"))


def _written(entry: LexicalEntry) -> bytes:
    texts = [entry.collection, entry.title, entry.text, entry.path, entry.authored_at]
    return json.dumps([*entry.key, entry.grain.value, *texts]).encode()
