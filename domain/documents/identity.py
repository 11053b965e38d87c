"""Identity of documents: hashes, docids and paths, and whether a record is that of a file as it is now."""

from collections.abc import Iterable
from hashlib import sha256

from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document, InactiveReason, SourceStamp

DOCID_LENGTH = 6  # short enough to read aloud; longer only where two documents would be ambiguous
MAX_PATH_LENGTH = 1000  # characters

NO_TEXT = sha256(b"").hexdigest()


def body_hash(body: str) -> str:
    """
    Return the content identity of a document: SHA-256 of *body* as UTF-8, 64 lower-case hex digits.

    Nothing is normalised, so one changed blank changes the hash. A lone surrogate, which JSON allows and UTF-8
    does not, is hashed in its three-byte form instead of raising.
    """
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def source_hash(data: bytes) -> str:
    """Return the SHA-256 of the bytes of a file, front matter included; it detects changes of the file."""
    return sha256(data).hexdigest()


def document_without_file(
    collection: str, path: str, title: str, body: str, authored_at: str, now: str
) -> Document:
    """Return the record of *body*, a text that a program stores now; type, confidence and origin are the default."""
    digest = body_hash(body)
    return Document(collection, path, title, digest, digest, authored_at, now, now, body_length=len(body))


def docid(hash: str, others: Iterable[str]) -> str:
    """
    Return the shortest prefix of *hash* with at least 6 digits that no other hash begins with.

    A hash equal to *hash* is the same content and is ignored, so *hash* may be among *others*. In a sorted list only
    the two neighbours matter. If another hash begins with all of *hash*, *hash* is returned in full.
    """
    rivals = {other for other in others if other != hash}
    prefixes = (hash[:length] for length in range(DOCID_LENGTH, len(hash)))
    return next((text for text in prefixes if not any(other.startswith(text) for other in rivals)), hash)


def docid_digits(text: str) -> str:
    """
    Return the hex digits of a docid in the stored form: lower case, without ``#``; empty if *text* is none.

    A docid has 6 to 64 hex digits in either case, after at most one ``#``. The check keeps ``%`` and ``_`` out of
    prefix queries, where they would match arbitrary documents.
    """
    digits = text.removeprefix("#").lower()
    is_docid = DOCID_LENGTH <= len(digits) <= len(NO_TEXT) and not digits.strip("0123456789abcdef")
    return digits if is_docid else ""


def parse_virtual_path(text: str) -> tuple[str, str] | None:
    """
    Return collection and relative path of a virtual path, or ``None`` if *text* is not one.

    ``clawmem://c/p`` and ``//c/p`` are accepted, with any number of extra slashes. Repeated slashes inside the path
    collapse, and a trailing one is dropped. ``clawmem://c`` and ``clawmem://c/`` name the root of a collection and
    give an empty path. Neither part is checked: see `check_path`.
    """
    place = text.removeprefix("clawmem:")
    names = list(filter(None, place.split("/")))
    return (names[0], "/".join(names[1:])) if names and place.startswith("//") else None


def check_path(text: str) -> None:
    """
    Raise if *text* is not acceptable as a path from outside. The checks run in the order listed below.

    Raises:
        InvalidInput: ``INVALID_PATH`` for a NUL character; ``PATH_TRAVERSAL`` for a ``..`` segment
            between slashes of either kind; ``PATH_TOO_LONG`` above 1000 characters (1000 pass).
    """
    if "\0" in text:
        raise InvalidInput("INVALID_PATH", "The path contains a NUL character. Give the path without it.")
    if ".." in text.replace("\\", "/").split("/"):
        raise InvalidInput("PATH_TRAVERSAL", "The path contains '..'. Give a path inside its collection.")
    if len(text) > MAX_PATH_LENGTH:
        raise InvalidInput("PATH_TOO_LONG", f"The path has over {MAX_PATH_LENGTH} characters. Shorten it.")


def is_forgotten(document: Document | None) -> bool:
    """Whether the file must not be indexed in any version, because its document was forgotten."""
    return document is not None and document.inactive is InactiveReason.FORGOTTEN


def is_current(document: Document | None, source_hash: str) -> bool:
    """
    Whether a record is valid for a file with this hash, whether the document is active or not.

    An archived or superseded document stays inactive while its file is unchanged; an edited file becomes active. The
    record of a removed document is never valid: its file exists again.
    """
    is_removed = document is not None and document.inactive is InactiveReason.REMOVED
    return document is not None and not is_removed and document.source_hash == source_hash


def stamp_to_record(stamp: SourceStamp, now_ms: int) -> SourceStamp:
    """
    Return the recorded *stamp*; of the last two seconds, one that matches no file.

    A file may change again within one tick of its clock without a new time, so a recent stamp is not trusted.
    """
    is_recent = now_ms - stamp.recorded.mtime_ns // 1_000_000 < 2000
    return SourceStamp(stamp.size, 0) if is_recent else stamp.recorded
