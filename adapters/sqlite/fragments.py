"""Rows of fragments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from clawmem.adapters.sqlite.database import Row
from clawmem.adapters.sqlite.sqlite_errors import invalid_record
from clawmem.adapters.sqlite.store import pack, unpack
from clawmem.ports.records import NEVER_EMBEDDED, Fragment, FragmentKey, FragmentKind, Span, embedding_text

# Of a million texts, two have the same eight bytes with a probability of 3e-8. They would share a vector.
_HASH_BYTES = 8
SAVE_FRAGMENT = "insert into fragments values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
FRAGMENTS = """
select key, kind, start_line, end_line, start, "end", label, heading, context, own_text
  from fragments where key between ? and ? order by key
"""
SPANS = """
select fragments.key, kind, start_line, end_line, start, "end", label, heading
  from json_each(?) as wanted
  join fragments on fragments.key = wanted.value
  join documents on documents.id = fragments.key >> 20 and inactive is null
 order by fragments.key
"""
# A dictionary, because a query looks up hundreds of spans and calling the enum takes five times as long.
_KINDS = {kind.value: kind for kind in FragmentKind}


def fragment_rows(document_id: int, fragments: Sequence[Fragment]) -> Iterator[Row]:
    """Yield the rows of all fragments of a document, for `SAVE_FRAGMENT`."""
    for part in fragments:
        yield (
            pack(FragmentKey(document_id, part.seq)),
            part.kind.value,
            part.start_line,
            part.end_line,
            part.start,
            part.end,
            part.label,
            part.heading,
            part.context,
            part.text if part.kind is FragmentKind.FRONT_MATTER else None,
            text_hash(part),
        )


def read_fragment(row: Row, body: str) -> Fragment:
    """Return the fragment of a row of `FRAGMENTS`, which is of the document with this *body*."""
    key, kind, start_line, end_line, start, end, label, heading, context, own = row
    text = body[start:end] if own is None else own
    place = (start_line, end_line, start, end)
    return Fragment(unpack(key).seq, _kind(kind), *place, text, label, heading, context)


def read_span(row: Row) -> Span:
    """Return the span of a row of `SPANS`."""
    key, kind, *rest = row
    return Span(unpack(key), _kind(kind), *rest)


def text_hash(part: Fragment) -> bytes | None:
    """Return the hash under which the vector of *part* is stored, or ``None`` if *part* is never embedded."""
    text = embedding_text(part.context, part.text)
    if part.kind in NEVER_EMBEDDED or not text:
        return None
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:_HASH_BYTES]


def short_name(text_hash: str) -> str:
    """Return the part of a hash, in hexadecimal digits, that is stored."""
    return text_hash[: 2 * _HASH_BYTES]


def whole_name(stored: bytes, text: str) -> str:
    """Return the hash of *text*, of which *stored* is the beginning, in hexadecimal digits."""
    beginning = stored.hex()
    return beginning + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[len(beginning) :]


def _kind(word: str) -> FragmentKind:
    try:
        return _KINDS[word]
    except KeyError as error:
        raise invalid_record() from error
