"""
What crosses a port: frozen, comparable, no behaviour beyond naming its own parts.

Times are ISO-8601 UTC text with ``T`` and ``Z`` wherever they are stored, epoch milliseconds wherever
they are computed with. Line numbers are 1-based lines of the file as the user sees it, front matter
included; character offsets count code points of the body, front matter excluded.
"""

from __future__ import annotations

from enum import StrEnum

from clawmem.ports.display import one_line
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.origin import Origin

Vector = bytes
"""Little-endian float32, unit length, ``4 * dimensions`` bytes."""


class FragmentKey(NamedTuple):
    """A fragment: the ``seq``-th of its document. Sorts in reading order within a document and kind."""

    document_id: int
    seq: int


class Grain(StrEnum):
    """How much text one entry of the lexical index holds; every grain indexes the same words."""

    LINE = "line"  # a paragraph, a list item or a chat turn
    PASSAGE = "passage"  # neighbours packed to about 400 tokens
    SECTION = "section"  # from one heading to the next
    DOCUMENT = "document"


class FragmentKind(StrEnum):
    """What a fragment is; the first four are also a `Grain`."""

    DOCUMENT = "document"
    SECTION = "section"
    PASSAGE = "passage"
    LINE = "line"
    LIST = "list"
    CODE = "code"
    FRONT_MATTER = "frontmatter"


# A line says too little on its own and there are too many; a front-matter line ("participants: Ann, Bob")
# is near to every question that names one of its words, and was measured to spoil vector search.
NEVER_EMBEDDED = frozenset({FragmentKind.LINE, FragmentKind.FRONT_MATTER})


class InactiveReason(StrEnum):
    """Why a document is not served."""

    REMOVED = "removed"  # its file is gone; comes back with the file
    ARCHIVED = "archived"  # by policy; restored on request
    FORGOTTEN = "forgotten"  # by request; never comes back by itself
    SUPERSEDED = "superseded"


class EmbedState(StrEnum):
    """Where a document stands on its way to vectors."""

    PENDING = "pending"
    SYNCED = "synced"
    FAILED = "failed"


class Fragment(NamedTuple):
    """
    A stretch of a document that can be found on its own.

    ``label`` is the heading of a section, the language of a code block, the key of a front-matter line,
    the speaker of a chat turn, else empty. ``heading`` is the path of headings above, joined by `` › ``.
    ``context`` is for retrieval and never shown: title, date, what stands around; of a table row the names of its columns.
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
    """What an embedder sees of a fragment: its context, a line break and its text, stripped."""
    return f"{context}\n{text}".strip()


class Span(NamedTuple):
    """Where a fragment lies, without its text: what ranking needs to know of it."""

    key: FragmentKey
    kind: FragmentKind
    start_line: int
    end_line: int
    start: int
    end: int
    label: str = ""
    heading: str = ""


class SourceStamp(NamedTuple):
    """What a stat call says of a file: enough to know that it was not touched."""

    size: int
    mtime_ns: int


class Document(NamedTuple):
    """
    One document as the vault knows it.

    ``id`` is 0 until it is stored. ``hash`` is the SHA-256 of the body, ``source_hash`` of the whole file.
    ``body_line`` is the file line on which the body begins. ``authored_at`` is when it was written: what people and
    agents are told. ``modified_at`` is when its body was last changed, by the time of its file.
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
    quality_score: float = 0.5
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
    snoozed_until: str | None = None  # kept out of what is surfaced until then (exclusive)
    aliases: tuple[str, ...] = ()  # other names of the note, from its front matter
    front_matter: str = ""  # as it stands in the file, from its second line on, without the fences
    origin: Origin = Origin.USER
    id: int = 0

    @property
    def display_path(self) -> str:
        """``collection/path`` on one line, the name people use."""
        return one_line(f"{self.collection}/{self.path}")

    @property
    def is_pinned(self) -> bool:
        """Whether somebody pinned it, or it says itself that it is; either is enough."""
        return self.pinned or self.pinned_in_note

    @property
    def has_own_date(self) -> bool:
        """Whether it names the time at which it was written; for a file that does not, the file's time is taken."""
        return self.stamp is None or self.authored_at != self.modified_at

    def is_snoozed(self, now: str) -> bool:
        """Whether somebody wants to hear nothing of it unasked at *now*, a time as records write it."""
        return self.snoozed_until is not None and now < self.snoozed_until


class Candidate(NamedTuple):
    """
    A document that an address may mean.

    ``docid`` begins with ``#``. ``state`` is empty while the document is served, else why it is not: see
    `InactiveReason`; of a forgotten document only the file is known.
    """

    docid: str
    file: str
    title: str
    state: str = ""

    def __str__(self) -> str:
        """Return what names the document exactly, and its title."""
        address = f"{self.docid} {self.file}".strip()
        shown = f"{address} ({self.title})" if self.title else address
        return f"{shown}, {self.state}" if self.state else shown


class Hit(NamedTuple):
    """One answer of one index. A score compares only with scores of the same call."""

    key: FragmentKey
    score: float


class Scope(NamedTuple):
    """
    What a search may see: these collections, written in this time. An index honours it before it cuts to a limit.

    No collections means all. ``authored_from`` is inclusive, ``authored_until`` exclusive, both as documents
    write their times; ``None`` leaves that side open. ``documents`` are the only ones that may be seen, by
    their ids; with ``None`` all may, with an empty set none.
    """

    collections: frozenset[str] = frozenset()
    authored_from: str | None = None
    authored_until: str | None = None
    documents: frozenset[int] | None = None


EVERYTHING = Scope()


class LexicalEntry(NamedTuple):
    """One unit of text for the lexical index; ``title`` holds the document's title and headings above."""

    key: FragmentKey
    grain: Grain
    collection: str
    title: str
    text: str
    path: str = ""
    authored_at: str = ""


class VectorEntry(NamedTuple):
    """One fragment's vector for the vector index, with what a scope asks of its document."""

    key: FragmentKey
    vector: Vector
    collection: str = ""
    authored_at: str = ""


class Term(NamedTuple):
    """One word to look for; with ``prefix`` every word that begins with it. One phrase when it holds spaces."""

    text: str
    prefix: bool = False


class LexicalQuery(NamedTuple):
    """Words to look for, every one of them when ``every``, else any."""

    terms: tuple[Term, ...]
    every: bool = False


class PendingText(NamedTuple):
    """A text that has no vector yet, under the name its vector will be kept by."""

    text_hash: str
    text: str


class Lease(NamedTuple):
    """
    A claim on ``name`` by ``holder`` until ``expires_ms`` (epoch milliseconds, exclusive).

    ``token`` is drawn for each acquisition, so a write guarded by it is refused to a stale holder: 16 random bytes
    in lower-case hex.
    """

    name: str
    holder: str
    token: str
    expires_ms: int


class Marker(NamedTuple):
    """
    How far an index has seen its vault: up to and with the change ``seq``, of which ``epoch`` is the fingerprint.

    Each change has an epoch of its own, drawn at random, so that two histories that parted (a vault put back
    from a backup and written again) are told apart although their numbers are the same. ``seq`` 0 with
    an empty epoch stands before the first change.
    """

    vault: str
    seq: int
    epoch: str


class Role(StrEnum):
    """What an index is for."""

    LEXICAL = "lexical"
    VECTORS = "vectors"


class IndexState(StrEnum):
    """Where an index outside of the records stands."""

    BUILDING = "building"
    SERVING = "serving"
    RETIRED = "retired"  # another one serves; its files may still be there


class IndexRecord(NamedTuple):
    """
    An index outside of the records, as the vault remembers it.

    ``engine`` names what made it, ``generation`` tells it from its predecessors. It has seen the changes up to
    ``since``, or more. While it is building the documents up to the id ``built_to`` are in it. One of vectors
    that no longer serve is ``outdated``: nothing is found in it, and it has to be made anew.
    """

    role: Role
    engine: str
    generation: int
    state: IndexState
    since: Marker
    built_to: int = 0
    outdated: bool = False


class SourceFile(NamedTuple):
    """A file found by a scan."""

    path: str  # relative to the root, forward slashes
    stamp: SourceStamp


class Scan(NamedTuple):
    """
    All files of one walk. ``root_exists`` is False when the folder itself is gone: then nothing is known.

    ``misnamed`` are the files and folders that were left out because their names are not UTF-8, in printable spelling.
    """

    files: tuple[SourceFile, ...]
    root_exists: bool = True
    unreadable: tuple[str, ...] = ()
    misnamed: tuple[str, ...] = ()
