"""
Value types used by the ports: frozen, comparable, without behaviour beyond properties of their own fields.

Stored times are ISO-8601 UTC text with ``T`` and ``Z``; times used in computations are epoch milliseconds.
Line numbers are 1-based lines of the file as the user sees it, front matter included; character offsets count
code points of the body, front matter excluded.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, Self

Vector = bytes
"""Little-endian float32, unit length, ``4 * dimensions`` bytes."""

_JOINERS = "\u200c\u200d"  # needed to spell Persian and Indic words and emoji sequences


def one_line(name: str) -> str:
    """Return *name* on one line: white space becomes spaces, other unprintable characters ``U+FFFD``."""
    if name.isprintable():
        return name
    return "".join(
        sign if sign.isprintable() or sign in _JOINERS else " " if sign.isspace() else "\ufffd"
        for sign in name
    )


class Origin(StrEnum):
    """Original source of a text, from the most to the least trusted."""

    USER = "user"
    ASSISTANT = "assistant"
    MODEL = "model"  # concluded from other texts; trusted no more than the least trusted of them
    TOOL_INSIDE = "tool_inside"
    SHARED = "shared"
    IMPORTED = "imported"
    TOOL_OUTSIDE = "tool_outside"


VERIFIED = frozenset({Origin.USER, Origin.ASSISTANT, Origin.MODEL})
"""Origins of texts of the user, of an assistant in a session of the user, and of a model that read such texts."""


def least_trusted(lineage: Iterable[Origin]) -> Origin:
    """Return the least trusted of *lineage*, the origins of a derived text; raise ValueError if it is empty."""
    return max(lineage, key=list(Origin).index)


class FragmentKey(NamedTuple):
    """Key of a fragment: the ``seq``-th of its document. Sorts in reading order within a document and kind."""

    document_id: int
    seq: int


class Grain(StrEnum):
    """Granularity of an entry of the lexical index; every granularity indexes the same words."""

    LINE = "line"  # a paragraph, a list item or a chat turn
    PASSAGE = "passage"  # adjacent lines packed to about 400 tokens
    DOCUMENT = "document"


class FragmentKind(StrEnum):
    """Kind of a fragment; three of them are also granularities, see `Grain`."""

    DOCUMENT = "document"
    SECTION = "section"
    PASSAGE = "passage"
    LINE = "line"
    LIST = "list"
    CODE = "code"
    FRONT_MATTER = "frontmatter"


# They are never embedded: a single line holds too little context, and a front-matter line ("participants: Ann, Bob") is
# similar to every question that names one of its words, and measurably degrades vector search.
LINES = frozenset({FragmentKind.LINE, FragmentKind.FRONT_MATTER})


class InactiveReason(StrEnum):
    """Reason why a document is not served."""

    REMOVED = "removed"  # its file was removed; served again when the file reappears
    ARCHIVED = "archived"  # archived by policy; restored on request
    FORGOTTEN = "forgotten"  # forgotten on request; never restored automatically
    SUPERSEDED = "superseded"


class EmbedState(StrEnum):
    """Progress of embedding a document."""

    PENDING = "pending"
    SYNCED = "synced"
    FAILED = "failed"


class Fragment(NamedTuple):
    """
    Part of a document that can be found independently.

    ``label`` is the heading of a section, the language of a code block, the whole of a front-matter line, the speaker
    of a chat turn, or empty. ``heading`` is the path of the headings above, joined by `` › ``. ``context`` is used for
    retrieval and never displayed: title, date, surrounding text; for a table row, the column names.
    """

    seq: int
    kind: FragmentKind
    start_line: int
    end_line: int
    start: int  # character offset of the body, inclusive
    end: int  # exclusive
    text: str
    label: str = ""
    heading: str = ""
    context: str = ""


def embedding_text(context: str, text: str) -> str:
    """Return the text that is embedded for a fragment: its context, a line break and its text, stripped."""
    return f"{context}\n{text}".strip()


class Span(NamedTuple):
    """Position of a fragment without its text, as needed for ranking."""

    key: FragmentKey
    kind: FragmentKind
    start_line: int
    end_line: int
    start: int
    end: int
    label: str = ""
    heading: str = ""


class SourceStamp(NamedTuple):
    """Stat values that suffice to detect that a file is unchanged; a record has the later time as ``mtime_ns``."""

    size: int
    mtime_ns: int
    ctime_ns: int = 0  # differs after a change of the name or of the others; on Windows that of the creation

    @property
    def recorded(self) -> Self:
        """Return the stamp of the record of an unchanged file."""
        return self._replace(mtime_ns=max(self.mtime_ns, self.ctime_ns), ctime_ns=0)


class Document(NamedTuple):
    """
    Metadata of one document in the vault; ``id`` is 0 until it is stored.

    ``hash`` is the SHA-256 of the body, ``source_hash`` that of the whole file. ``first_hash``, which begins with the
    docid, is the ``hash`` of the first body that no other document had; the store sets it. ``body_line`` is the file
    line on which the body begins. ``authored_at`` is the time of writing that users and agents see, ``modified_at`` the time of the
    last change of the body, taken from its file.
    """

    collection: str
    path: str  # relative, forward slashes
    title: str
    hash: str
    source_hash: str
    authored_at: str
    modified_at: str
    indexed_at: str
    content_type: str = "note"
    confidence: float = 0.5
    tags: tuple[str, ...] = ()
    domain: str | None = None
    workstream: str | None = None
    review_by: str | None = None
    pinned: bool = False
    access_count: int = 0
    last_accessed_at: str | None = None
    revision_count: int = 1
    duplicate_count: int = 1
    body_line: int = 1
    body_length: int = 0
    stamp: SourceStamp | None = None  # None: not from a file
    inactive: InactiveReason | None = None
    embed_state: EmbedState = EmbedState.PENDING
    pinned_in_note: bool = False
    snoozed_until: str | None = None  # excluded from surfacing until then (exclusive)
    aliases: tuple[str, ...] = ()  # other names of the note, from its front matter
    front_matter: str = ""  # verbatim from the file's second line on, without the fences; TOML below one
    origin: Origin = Origin.USER
    first_hash: str = ""
    id: int = 0

    @property
    def display_path(self) -> str:
        """Return ``collection/path`` on one line, as displayed to users."""
        return one_line(f"{self.collection}/{self.path}")

    @property
    def is_pinned(self) -> bool:
        """Whether a user pinned the document, or its own front matter does, which it cannot for a note of others."""
        return self.pinned or (self.pinned_in_note and self.origin in VERIFIED)

    @property
    def has_own_date(self) -> bool:
        """Whether the note states its time of writing; otherwise the file's time is used."""
        return self.stamp is None or self.authored_at != self.modified_at

    def may_be_copied(self, read: str) -> bool:
        """Whether only a file of the day on which its folder was first *read* tells its time, which may be that of a copy."""
        return not self.has_own_date and read[:10] <= self.modified_at <= read

    def is_snoozed(self, now: str) -> bool:
        """Whether the document is excluded from surfacing at *now*, a time in the format of records."""
        return self.snoozed_until is not None and now < self.snoozed_until


class Candidate(NamedTuple):
    """
    Document that an address may refer to.

    ``docid`` begins with ``#``. ``state`` is empty while the document is served, otherwise its `InactiveReason`. For a
    forgotten document only the file is known. ``shown_title`` quotes a title of others and names its origin.
    """

    docid: str
    file: str
    title: str
    state: str
    origin: Origin
    trusted: bool
    shown_title: str

    @property
    def address(self) -> str:
        """Return the address that names this document alone, even if others have the same text."""
        return f"{self.docid} {self.file}".strip()

    def __str__(self) -> str:
        """Return the exact address of the document and its title."""
        shown = f"{self.address} ({self.shown_title})" if self.title else self.address
        return f"{shown}, {self.state}" if self.state else shown

    @property
    def record(self) -> Mapping[str, Any]:
        """Return the fields for programs."""
        fields = self._asdict()
        del fields["shown_title"]
        return fields


class Hit(NamedTuple):
    """Search result of one index. Scores are comparable only within the same call."""

    key: FragmentKey
    score: float


class Scope(NamedTuple):
    """
    Restriction of a search, which an index applies before its limit. ``None`` and no collections do not restrict.

    ``authored_from`` is inclusive, ``authored_until`` exclusive, both in the format of records. A document of exactly
    ``recorded_from`` is included too, one of exactly ``recorded_until`` is not: midnights in UTC of the first day and
    of the day after the last, at which notes with a day but no time are recorded.
    """

    collections: frozenset[str] = frozenset()
    authored_from: str | None = None
    authored_until: str | None = None
    documents: frozenset[int] | None = None
    recorded_from: str | None = None
    recorded_until: str | None = None


EVERYTHING = Scope()


class LexicalEntry(NamedTuple):
    """One text of the lexical index; ``title`` holds the document's title and the headings above."""

    key: FragmentKey
    grain: Grain
    collection: str
    title: str
    text: str
    authored_at: str = ""


class VectorEntry(NamedTuple):
    """A fragment's vector for the vector index, with the document metadata that a scope filters by."""

    key: FragmentKey
    vector: Vector
    collection: str = ""
    authored_at: str = ""


class Term(NamedTuple):
    """Search term: one word, with ``prefix`` every word that begins with it; or a phrase, if it contains spaces."""

    text: str
    prefix: bool = False


class LexicalQuery(NamedTuple):
    """Lexical query that matches all of its terms if ``every``, otherwise any of them."""

    terms: tuple[Term, ...]
    every: bool = False


class Marker(NamedTuple):
    """
    Position of an index in its vault's changes: up to and including change ``seq`` with the fingerprint ``epoch``.

    Each change has its own random epoch, which distinguishes histories that diverged: a vault restored from a backup
    and then written to. ``seq`` 0 with an empty epoch is the position before the first change.
    """

    vault: str
    seq: int
    epoch: str


class Role(StrEnum):
    """Role of an index."""

    LEXICAL = "lexical"
    VECTORS = "vectors"


class IndexState(StrEnum):
    """State of an external index."""

    BUILDING = "building"
    SERVING = "serving"
    RETIRED = "retired"  # another index serves; its files may still exist


class IndexRecord(NamedTuple):
    """
    Registration of an external index in the vault: its role, its engine, and its generation.

    It has seen the changes up to ``since``.
    An index of vectors that no longer serve is ``outdated``: it must be rebuilt before a search.
    """

    role: Role
    engine: str
    generation: int
    state: IndexState
    since: Marker
    outdated: bool = False


class SourceFile(NamedTuple):
    """File found by a scan: its path relative to the root, with forward slashes, and its stat values."""

    path: str
    stamp: SourceStamp


class Scan(NamedTuple):
    """
    All files found by one scan; without the root folder, ``root_exists`` is False and the files are unknown.

    ``unreadable`` files and folders could not be read, ``misnamed`` files and folders have names that are not UTF-8. ``links``
    are the symbolic links that would be wanted or entered, those to folders with a ``/`` at the end; ``special`` are
    such pipes, sockets and devices. ``evicted`` files are in iCloud alone. ``problem`` is a sentence that says why the
    root is unknown, and what to do.
    """

    files: tuple[SourceFile, ...]
    root_exists: bool = True
    unreadable: tuple[str, ...] = ()
    misnamed: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    evicted: frozenset[str] = frozenset()
    problem: str = ""

    def hides(self, path: str) -> bool:
        """Whether *path* is evicted, or is or is below one of the unreadable folders."""
        is_below = (folder in ("", ".", path) or path.startswith(f"{folder}/") for folder in self.unreadable)
        return path in self.evicted or any(is_below)
