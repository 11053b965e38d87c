"""Sample values for the contract suites. All are invented, and none depends on the current date."""

import math
import struct
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from clawmem.ports.indexes import LexicalIndex
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
] = (  # scopes, and the indexes in DAYS of the days that they include
    (Scope(authored_from=DAYS[1]), [1, 2]),
    (Scope(authored_from=DAYS[0], authored_until=DAYS[1]), [0]),
    (Scope(authored_from="2024-03-01T00:00:00.001Z", authored_until="2024-03-02T00:00:00.001Z"), [1]),
    (Scope(authored_from=DAYS[2], authored_until=DAYS[2]), []),
    (  # the second day, six hours west of UTC
        Scope(
            authored_from="2024-03-02T06:00:00.000Z",
            authored_until="2024-03-03T06:00:00.000Z",
            recorded_from=DAYS[1],
            recorded_until=DAYS[2],
        ),
        [1],
    ),
)
UNKNOWN = 987_654  # above every document id in a contract test
ROUNDING = 0.02  # difference of a score from the cosine, because a store may keep vectors with less precision
MODEL = "model-a"  # the fingerprint under which the contracts store vectors

FILLER_WORDS = "granite harbour lantern meadow orchard pebble quarry ribbon saddle timber".split()


def sha(text: str) -> str:
    """Return the SHA-256 of *text* in UTF-8 as lower-case hex, the format of body and text hashes."""
    return sha256(text.encode()).hexdigest()


def document(
    path: str = "note.md", body: str = "Body.", *, collection: str = "notes", **rest: Any
) -> Document:
    """Return a document whose hashes and length match *body*; *rest* sets its other fields."""
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
    """Return one fragment for each non-blank line of *body*, in order."""
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
    """Save a document with a passage for each line of its body and return its id."""
    made = document(path, body, collection=collection, **rest)
    return vault.documents.save(made, body, fragments(body))


def fetch(vault: Vault, document_id: int) -> Document:
    """Return the stored document with this id, failing the test if there is none."""
    found = vault.documents.get(document_id)
    assert found is not None, f"document {document_id} is gone"
    return found


def id_of(found: Document | None) -> int:
    """Return the id of a document that was looked up, failing the test if nothing was found."""
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
    """Return one entry for the lexical index."""
    key = FragmentKey(document_id, seq)
    return LexicalEntry(key, grain, collection, title, text, authored_at)


def any_of(*terms: str | Term) -> LexicalQuery:
    """Return a query for any of the terms."""
    return LexicalQuery(tuple(Term(term) if isinstance(term, str) else term for term in terms))


def filler(grain: Grain = Grain.PASSAGE) -> list[LexicalEntry]:
    """Return entries on other topics, so that the rarity of words can be compared."""
    return [entry(900 + n, f"{word} nothing else", grain=grain) for n, word in enumerate(FILLER_WORDS)]


def hits_of(
    vault: Vault,
    query: LexicalQuery,
    *,
    grain: Grain = Grain.PASSAGE,
    limit: int = 100,
    scope: Scope = EVERYTHING,
) -> list[Hit]:
    """Return the hits of a vault's lexical index."""
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
    """Return the document ids of the lexical index's hits, best first."""
    query = any_of(*terms)._replace(every=every)
    hits = hits_of(vault, query, grain=grain, limit=limit, scope=scope)
    return [hit.key.document_id for hit in hits]


def raw_vector(*numbers: float) -> Vector:
    """Return the numbers as a little-endian float32 vector without normalising them."""
    return struct.pack(f"<{len(numbers)}f", *numbers)


def unit_vector(*numbers: float) -> Vector:
    """Return *numbers* as a vector of length one."""
    length = math.hypot(*numbers)
    return raw_vector(*(number / length for number in numbers))


VECTOR_A = unit_vector(1, 2, 3)
VECTOR_B = unit_vector(3, 2, 1)


def vector_of(document_id: int, seq: int, vector: Vector) -> VectorEntry:
    """Return the entry that the store returns for the vector of a document saved with `save`."""
    return VectorEntry(FragmentKey(document_id, seq), vector, "notes", WHEN)


def assert_vectors(actual: Sequence[VectorEntry], expected: Sequence[VectorEntry]) -> None:
    """Assert that the entries are equal, except that a store may have rounded their vectors."""
    assert [entry._replace(vector=b"") for entry in actual] == [
        entry._replace(vector=b"") for entry in expected
    ]
    for ours, theirs in zip(actual, expected, strict=True):
        assert len(ours.vector) == len(theirs.vector)
        assert math.isclose(math.hypot(*floats(ours.vector)), 1, abs_tol=1e-3)
        assert cosine(ours.vector, theirs.vector) > 1 - ROUNDING


def floats(vector: Vector) -> tuple[float, ...]:
    """Return the components of a vector."""
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of two vectors, computed in plain Python as the reference for indexes."""
    first, other = floats(a), floats(b)
    return sum(x * y for x, y in zip(first, other, strict=True)) / (math.hypot(*first) * math.hypot(*other))


def keys(document_id: int, seqs: Sequence[int]) -> list[FragmentKey]:
    """Return fragment keys of one document."""
    return [FragmentKey(document_id, seq) for seq in seqs]


def pending_texts(vault: Vault) -> list[str]:
    """Return the texts of the embedding worklist, in order."""
    return [text for _, text in vault.embeddings.pending(1000)]


def embed_all(vault: Vault) -> None:
    """Store the same vector for every text of the embedding worklist."""
    texts = vault.embeddings.pending(100)
    vault.embeddings.store(MODEL, {name: unit_vector(1, 2) for name, _ in texts})
