"""Rows of fragments: a heading or a context that several fragments of a document share is in the first of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from clawmem.adapters.sqlite.database import Row
from clawmem.adapters.sqlite.sqlite_errors import invalid_record
from clawmem.adapters.sqlite.store import pack, unpack
from clawmem.ports.records import (
    NEVER_EMBEDDED,
    Fragment,
    FragmentKey,
    FragmentKind,
    Span,
    embedding_text,
)

# Of a million texts, two have the same eight bytes with a probability of 3e-8. They would share a vector.
_HASH_BYTES = 8


def from_first(column: str) -> str:
    """Return SQL for the text of *column*, which holds the text or the seq of the first fragment that has it."""
    text = f"""(select first.{column} from fragments as first
                where first.key = fragments.key >> 20 << 20 | fragments.{column})"""
    return f"iif(typeof(fragments.{column}) = 'text', fragments.{column}, {text})"


SAVE_FRAGMENT = "insert into fragments values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
FRAGMENTS = """
select key, kind, start_line, end_line, start, "end", label, heading, context, own_text
  from fragments where key between ? and ? order by key
"""
_HEADING, _CONTEXT = 7, 8  # columns of FRAGMENTS
SPANS = f"""
select fragments.key, kind, start_line, end_line, start, "end", label, {from_first("heading")}
  from json_each(?) as asked
  join fragments on fragments.key = asked.value
  join documents on documents.id = fragments.key >> 20 and inactive is null
 order by fragments.key
"""
# A dictionary, because a query looks up hundreds of spans and calling the enum takes five times as long.
_KINDS = {kind.value: kind for kind in FragmentKind}


def fragment_rows(document_id: int, fragments: Sequence[Fragment]) -> Iterator[Row]:
    """Yield the rows of all fragments of a document, for `SAVE_FRAGMENT`."""
    headings, contexts = dict[str, int](), dict[str, int]()
    for part in fragments:
        yield (
            pack(FragmentKey(document_id, part.seq)),
            part.kind.value,
            part.start_line,
            part.end_line,
            part.start,
            part.end,
            part.label,
            _text_or_seq(part.heading, part.seq, headings),
            _text_or_seq(part.context, part.seq, contexts),
            part.text if part.kind is FragmentKind.FRONT_MATTER else None,
            text_hash(part),
        )


def read_fragments(rows: Sequence[Row], body: str) -> list[Fragment]:
    """Return the fragments of the rows of `FRAGMENTS`, all of one document with this *body*."""
    headings, contexts = ({unpack(row[0]).seq: row[place] for row in rows} for place in (_HEADING, _CONTEXT))
    fragments = []
    for key, kind, start_line, end_line, start, end, label, heading, context, own in rows:
        text = body[start:end] if own is None else own
        above, about = (
            stored_text(headings.get(heading, heading)),
            stored_text(contexts.get(context, context)),
        )
        place = (start_line, end_line, start, end)
        fragments.append(Fragment(unpack(key).seq, _kind(kind), *place, text, label, above, about))
    return fragments


def read_span(row: Row) -> Span:
    """Return the span of a row of `SPANS`."""
    key, kind, start_line, end_line, start, end, label, heading = row
    return Span(unpack(key), _kind(kind), start_line, end_line, start, end, label, stored_text(heading))


def stored_text(value: object) -> str:
    """Return a heading or a context; empty if the fragment that had it is lost."""
    return value if isinstance(value, str) else ""


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


def _text_or_seq(text: str, seq: int, first: dict[str, int]) -> str | int:
    """Return *text* for the first fragment that has it, and for others the seq of that one."""
    return text if not text or first.setdefault(text, seq) == seq else first[text]


def _kind(word: str) -> FragmentKind:
    try:
        return _KINDS[word]
    except KeyError as error:
        raise invalid_record() from error
