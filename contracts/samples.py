"""Small things to put into a store. Every value is made up; nothing depends on the day."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.records import (
    EVERYTHING,
    Document,
    Fragment,
    FragmentKey,
    FragmentKind,
    Grain,
    Hit,
    LexicalEntry,
    LexicalQuery,
    Scope,
    Term,
    Vector,
    VectorEntry,
)
from clawmem.ports.vault import Vault

T0 = 1_700_000_000_000  # any instant: implementations must not read a clock
WHEN = "2024-03-01T09:30:00.000Z"
DAYS = ("2024-03-01T00:00:00.000Z", "2024-03-02T00:00:00.000Z", "2024-03-03T00:00:00.000Z")
WINDOWS: tuple[
    tuple[Scope, list[int]], ...
] = (  # what a scope sees of what was authored on these days, by their number
    (Scope(authored_from=DAYS[1]), [1, 2]),
    (Scope(authored_from=DAYS[0], authored_until=DAYS[1]), [0]),
    (Scope(authored_from="2024-03-01T00:00:00.001Z", authored_until="2024-03-02T00:00:00.001Z"), [1]),
    (Scope(authored_from=DAYS[2], authored_until=DAYS[2]), []),
)
UNKNOWN = 987_654  # no document of a contract test gets that far
MODEL = "model-a"  # the fingerprint under which the contracts store vectors

FILLER_WORDS = (
    "granite",
    "harbour",
    "lantern",
    "meadow",
    "orchard",
    "pebble",
    "quarry",
    "ribbon",
    "saddle",
    "timber",
)


def sha(text: str) -> str:
    """The SHA-256 of *text* in UTF-8, lower-case hex: how bodies and texts are named."""
    return sha256(text.encode()).hexdigest()


def document(
    path: str = "note.md", body: str = "Body.", *, collection: str = "notes", **rest: Any
) -> Document:
    """A document whose hashes and length fit *body*; *rest* are its other fields."""
    fields: dict[str, Any] = {
        "title": path,
        "hash": sha(body),
        "source_hash": sha("source of " + body),
        "authored_at": WHEN,
        "modified_at": WHEN,
        "indexed_at": WHEN,
        "body_length": len(body),
    }
    return Document(collection=collection, path=path, **(fields | rest))


def fragments(body: str, *, kind: FragmentKind = FragmentKind.PASSAGE, context: str = "") -> list[Fragment]:
    """One fragment for each line of *body* that is not blank, in order."""
    found: list[Fragment] = []
    start = 0
    for number, line in enumerate(body.split("\n"), start=1):
        end = start + len(line)
        if line.strip():
            found.append(Fragment(len(found), kind, number, number, start, end, line, context=context))
        start = end + 1
    return found


def save(
    vault: Vault, path: str = "note.md", body: str = "Body.", *, collection: str = "notes", **rest: Any
) -> int:
    """Save a document with a passage for each line of its body; its id."""
    made = document(path, body, collection=collection, **rest)
    return vault.documents.save(made, body, fragments(body))


def fetch(vault: Vault, document_id: int) -> Document:
    """The document as the vault gives it back by its id; fails if there is none."""
    found = vault.documents.get(document_id)
    assert found is not None, f"document {document_id} is gone"
    return found


def id_of(found: Document | None) -> int:
    """The id of a document that was looked up; fails if nothing was found."""
    assert found is not None, "the document was not found"
    return found.id


def entry(
    document_id: int,
    text: str,
    *,
    seq: int = 0,
    grain: Grain = Grain.PASSAGE,
    collection: str = "notes",
    title: str = "",
    authored_at: str = WHEN,
) -> LexicalEntry:
    """One unit of text for the lexical index."""
    key = FragmentKey(document_id, seq)
    return LexicalEntry(key, grain, collection, title, text, f"{document_id}.md", authored_at)


def any_of(*terms: str | Term) -> LexicalQuery:
    """Look for any of the words."""
    return LexicalQuery(tuple(_term(term) for term in terms))


def all_of(*terms: str | Term) -> LexicalQuery:
    """Look for every one of the words."""
    return LexicalQuery(tuple(_term(term) for term in terms), every=True)


def filler(grain: Grain = Grain.PASSAGE) -> list[LexicalEntry]:
    """Entries about other things, so that rarity has something to be measured against."""
    return [entry(900 + n, f"{word} nothing else", grain=grain) for n, word in enumerate(FILLER_WORDS)]


def hits_of(
    vault: Vault,
    query: LexicalQuery,
    *,
    grain: Grain = Grain.PASSAGE,
    limit: int = 100,
    scope: Scope = EVERYTHING,
) -> list[Hit]:
    """The hits of a vault's lexical index."""
    index: LexicalIndex = vault.lexical
    return index.search(query, grain, limit, scope)


def found_by(
    vault: Vault,
    *terms: str | Term,
    every: bool = False,
    grain: Grain = Grain.PASSAGE,
    limit: int = 100,
    scope: Scope = EVERYTHING,
) -> list[int]:
    """The ids of the documents of the lexical index's hits, best first."""
    query = all_of(*terms) if every else any_of(*terms)
    hits = hits_of(vault, query, grain=grain, limit=limit, scope=scope)
    return [hit.key.document_id for hit in hits]


def raw_vector(*numbers: float) -> Vector:
    """The numbers as they are, little-endian float32."""
    return struct.pack(f"<{len(numbers)}f", *numbers)


def unit_vector(*numbers: float) -> Vector:
    """The direction of *numbers* with length one."""
    length = math.hypot(*numbers)
    return raw_vector(*(number / length for number in numbers))


VECTOR_A = unit_vector(1, 2, 3)
VECTOR_B = unit_vector(3, 2, 1)


def vector_of(document_id: int, seq: int, vector: Vector) -> VectorEntry:
    """A vector as the store gives it back for a document of `save`."""
    return VectorEntry(FragmentKey(document_id, seq), vector, "notes", WHEN)


def floats(vector: Vector) -> tuple[float, ...]:
    """The numbers of a vector."""
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(a: Vector, b: Vector) -> float:
    """The cosine of two unit vectors in plain Python: what an index is compared with."""
    return sum(x * y for x, y in zip(floats(a), floats(b), strict=True))


def keys(document_id: int, seqs: Sequence[int]) -> list[FragmentKey]:
    """Fragments of one document."""
    return [FragmentKey(document_id, seq) for seq in seqs]


def pending_texts(vault: Vault) -> list[str]:
    """The texts of the embedding worklist, in its order."""
    return [waiting.text for waiting in vault.embeddings.pending(1000)]


def embed_all(vault: Vault) -> None:
    """Store some vector for every text of the embedding worklist."""
    texts = vault.embeddings.pending(100)
    vault.embeddings.store(MODEL, {text.text_hash: unit_vector(1, 2) for text in texts})


def _term(term: str | Term) -> Term:
    return term if isinstance(term, Term) else Term(term)
