from __future__ import annotations

import re
from collections.abc import Iterable

from clawmem.domain.security.patterns import Pattern
from clawmem.ports.digests import sha256
from clawmem.ports.errors import InvalidInput

DOCID_LENGTH = 6  # what people can read aloud; longer only where two documents would be confused
CANONICAL_ID_LENGTH = 16  # 64 bits: a collision is not expected below some hundred million documents
MAX_PATH_LENGTH = 1000  # characters

DOCID = Pattern(r"#?[0-9a-f]{6,64}", flags=re.IGNORECASE | re.ASCII)
VIRTUAL_PATH = Pattern(r"\A(?:clawmem:)?//+(?P<rest>[^/].*)", flags=re.DOTALL)


def body_hash(body: str) -> str:
    """
    Content identity of a document: SHA-256 of *body* as UTF-8, 64 lower-case hex digits.

    Nothing is normalised, so one changed blank is another content. A lone surrogate, which JSON
    can carry and UTF-8 cannot, is hashed as its three-byte form instead of being refused.
    """
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def source_hash(data: bytes) -> str:
    """SHA-256 of a file's bytes as they lie on disk, frontmatter included: tells whether to read it again."""
    return sha256(data).hexdigest()


def canonical_id(collection: str, path: str) -> str:
    """
    Identity of a place, stable while its content changes.

    Returns:
        The first 16 hex digits of the SHA-256 of ``collection/path``.
    """
    return body_hash(f"{collection}/{path}")[:CANONICAL_ID_LENGTH]


def docid(hash: str, others: Iterable[str]) -> str:
    """
    The short name shown to people: the shortest prefix of *hash*, at least 6 long, that is its alone.

    A hash equal to *hash* is the same content and lengthens nothing; *hash* itself may therefore be
    among *others*. Of a sorted list only the two neighbours matter. When another hash begins with
    the whole of *hash*, the whole of it is returned.
    """
    shared = max((_shared_length(hash, other) for other in others if other != hash), default=0)
    return hash[: max(DOCID_LENGTH, shared + 1)]


def is_docid(text: str) -> bool:
    """
    Whether *text* may be looked up as a docid: 6 to 64 hex digits in either case, after at most one ``#``.

    Nothing else may reach a prefix query, where ``%`` or ``_`` would match documents never named.
    """
    return DOCID.compiled.fullmatch(text) is not None


def normalise_docid(text: str) -> str:
    """
    The hex digits of a docid as they are stored: lower case, without ``#``.

    Raises:
        InvalidInput: ``INVALID_INPUT`` when *text* is not a docid (see `is_docid`).
    """
    if not is_docid(text):
        raise InvalidInput(
            "INVALID_INPUT", f"{text[:80]!r} is not a docid. Give 6 to 64 hex digits, such as #a1b2c3."
        )
    return text.removeprefix("#").lower()


def parse_virtual_path(text: str) -> tuple[str, str] | None:
    """
    Collection and relative path named by a virtual path, or ``None`` when *text* is not one.

    ``clawmem://c/p`` and ``//c/p`` are read, with any number of extra slashes; repeated slashes inside
    the path collapse and one at its end is dropped. ``clawmem://c`` and ``clawmem://c/`` name the
    root of a collection and give an empty path. Neither part is checked: see `check_path`.
    """
    match = VIRTUAL_PATH.compiled.fullmatch(text)
    if match is None:
        return None
    collection, *segments = filter(None, match["rest"].split("/"))
    return collection, "/".join(segments)


def display_path(collection: str, path: str) -> str:
    """``collection/path``, how a document is named to people; the bare collection for an empty path."""
    return f"{collection}/{path}" if path else collection


def check_path(text: str) -> None:
    """
    Let *text* pass as a path from outside, or refuse it. The order of the checks is that of the list.

    Raises:
        InvalidInput: ``INVALID_PATH`` for a NUL character; ``PATH_TRAVERSAL`` for a ``..`` segment
            between slashes of either kind; ``PATH_TOO_LONG`` above 1000 characters (1000 pass).
    """
    if "\0" in text:
        raise InvalidInput("INVALID_PATH", "The path holds a NUL character. Give the path without it.")
    if ".." in re.split(r"[/\\]", text):
        raise InvalidInput(
            "PATH_TRAVERSAL", "The path climbs with '..'. Give a path that stays inside its collection."
        )
    if len(text) > MAX_PATH_LENGTH:
        raise InvalidInput(
            "PATH_TOO_LONG",
            f"The path has {len(text)} characters; at most {MAX_PATH_LENGTH} are read. Give a shorter one.",
        )


def _shared_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
