"""Common parts of the stores of a vault: packed keys of fragments, hashes of their texts, and conditions of a scope."""

import json
from hashlib import sha256

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.records import LINES, Fragment, FragmentKey, Scope, embedding_text

_BITS = 20
_LAST = (1 << _BITS) - 1
# Of a million texts, two have the same eight bytes with a probability of 3e-8. They would share a vector.
_HASH_BYTES = 8


class Store:
    """Base class of the stores of one database."""

    def __init__(self, db: Database) -> None:
        self._db = db


def pack(key: FragmentKey) -> int:
    """
    Return ``document_id * 2^20 + seq``, which preserves the order of keys.

    One integer per fragment makes a document one range of every table and index.
    """
    return (key.document_id << _BITS) | key.seq


def unpack(packed: int) -> FragmentKey:
    """Return the key that `pack` turned into *packed*."""
    return FragmentKey(packed >> _BITS, packed & _LAST)


def span(document_id: int) -> tuple[int, int]:
    """Return the first and the last possible packed key of a document, for ``between``."""
    return document_id << _BITS, (document_id << _BITS) | _LAST


def text_hash(part: Fragment) -> bytes | None:
    """Return the hash under which the vector of *part* is stored, or ``None`` if *part* is never embedded."""
    text = "" if part.kind in LINES else embedding_text(part.context, part.text)
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:_HASH_BYTES] if text else None


def short_name(text_hash: str) -> str:
    """Return the part of a hash, in hexadecimal digits, that is stored."""
    return text_hash[: 2 * _HASH_BYTES]


def whole_name(stored: bytes, text: str) -> str:
    """Return the hash of *text*, of which *stored* is the beginning, in hexadecimal digits."""
    beginning = stored.hex()
    return beginning + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[len(beginning) :]


def documents_in(scope: Scope) -> tuple[str, dict[str, str]]:
    """Return a query for the ids of the documents in *scope*, with its bindings; empty text for an unlimited scope."""
    limits, bindings = condition(scope)
    return limits and f"select id from documents where {limits}", bindings


def condition(scope: Scope, *others: str) -> tuple[str, dict[str, str]]:
    """Return the condition on a row of ``documents`` to be in *scope* and meet the *others*, with its bindings."""
    possible = {
        "collection in (select value from json_each(:collections))": scope.collections,
        "(authored_at >= :authored_from or authored_at = :recorded_from)": scope.authored_from is not None,
        "authored_at < :authored_until": scope.authored_until is not None,
        "authored_at != :recorded_until": scope.recorded_until is not None,
        "id in (select value from json_each(:only_documents))": scope.documents is not None,
    }
    bindings = {
        "collections": json.dumps(sorted(scope.collections)),
        "authored_from": scope.authored_from or "",
        "authored_until": scope.authored_until or "",
        "recorded_from": scope.recorded_from or "",
        "recorded_until": scope.recorded_until or "",
        "only_documents": json.dumps(sorted(scope.documents or ())),
    }
    limits = [limit for limit, holds in possible.items() if holds]
    return " and ".join([*others, *limits]), bindings
