"""
Exceptions that clawmem raises deliberately.

``str(error)`` is a sentence for a person: what failed, with which value, and what to do next.
``code`` identifies the error for programs, ``exit_code`` is the exit code of the command line.
"""

from collections.abc import Mapping, Sequence
from errno import EDQUOT, EFBIG, ENAMETOOLONG, ENOENT, ENOSPC
from types import MappingProxyType
from typing import Any

from clawmem.ports.records import Candidate, Document, Hit

DISK_FULL = (ENOSPC, EDQUOT, EFBIG)
MOST_MESSAGE = 4_000  # characters; a value that a program sent may have millions, which its model would read


class ClawmemError(Exception):
    """
    Base class of all clawmem errors; caught only at the interfaces (CLI, MCP server, REST API, hooks).

    ``details`` are additional JSON-serialisable values for programs.
    """

    code = "INTERNAL_ERROR"
    exit_code = 1
    details: Mapping[str, Any] = MappingProxyType({})


class InvalidInput(ClawmemError):
    """A query or command cannot be executed as written; nothing was changed."""

    exit_code = 2
    candidates: Sequence[str | Candidate] = ()

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        half = MOST_MESSAGE // 2  # with the failure at its beginning, and the next step at its end
        super().__init__(message if len(message) <= MOST_MESSAGE else f"{message[:half]} … {message[-half:]}")


def _records(candidates: Sequence[str | Candidate]) -> Mapping[str, Any]:
    """Return the documents that may have been meant, for programs."""
    records = [candidate.record for candidate in candidates if isinstance(candidate, Candidate)]
    return {"candidates": records} if records else {}


_NEXT_STEPS = {
    "document": "Look for it: clawmem search WORDS",
    "tag": "All tags: clawmem tags",
    "property": "The properties of a note: clawmem get NOTE --json",
    "entity": "All entities: clawmem entities",
    "collection": "All collections: clawmem collection list",
    "receipt": "All receipts: clawmem why",
    "act": "All acts: clawmem undo",
}


class NotFound(InvalidInput):
    """No object has the name; ``candidates`` are documents that may be meant, ``suggestions`` other names."""

    exit_code = 3

    def __init__(
        self,
        what: str,
        name: str,
        *,
        suggestions: Sequence[str] = (),
        candidates: Sequence[Candidate] = (),
        remark: str = "",
    ) -> None:
        self.name, self.remark = name, remark
        self.candidates: Sequence[Candidate] = tuple(candidates)
        self.details = _records(candidates)
        self.suggestions = tuple(suggestions) or tuple(candidate.file for candidate in candidates)
        near = "; ".join(map(str, candidates)) or ", ".join(suggestions)
        step = f"Did you mean: {near}?" if near else ("" if remark else _NEXT_STEPS.get(what, ""))
        sentences = (f"No {what} matches {name!r}.", step, remark)
        super().__init__("NOT_FOUND", " ".join(filter(None, sentences)))


class NotServed(NotFound):
    """
    An address names a document that was forgotten, archived, superseded or removed; see ``candidates``.

    *name* takes the place of its path, which for a forgotten memory may be made of its words.
    """

    def __init__(
        self,
        document: Document,
        shown_title: str,
        remedy: str,
        successors: Sequence[Candidate] = (),
        name: str = "",
    ) -> None:
        super().__init__("document", name or document.display_path, candidates=successors)
        self.code = "NOT_SERVED"
        self.document = document
        named = f"{self.name} ({shown_title})" if document.title else self.name
        self.args = (f"{named} is {document.inactive} and not served. {remedy}",)
        self.details = {"file": self.name, "state": str(document.inactive), **self.details}


class Ambiguous(InvalidInput):
    """A name matches several documents; none of them was read or changed."""

    exit_code = 3

    def __init__(self, name: str, candidates: Sequence[str | Candidate]) -> None:
        self.candidates = tuple(candidates)
        self.details = _records(candidates)
        super().__init__(
            "AMBIGUOUS",
            f"{name!r} matches {len(candidates)} documents: {'; '.join(map(str, candidates))}. "
            f'Choose one of them, as in "{getattr(candidates[0], "address", candidates[0])}".',
        )


class ConfirmationMissing(InvalidInput):
    """
    An irreversible operation was requested without confirmation; nothing was changed.

    ``preview`` describes what would be done in sentences, ``would_remove`` for programs; *remedy* says how to confirm,
    and ``confirmed`` are the parameters that do.
    """

    def __init__(
        self,
        preview: Sequence[str],
        would_remove: Mapping[str, Any],
        *,
        remedy: str = "To do it, repeat with confirm: true.",
        confirmed: Mapping[str, Any] = MappingProxyType({"confirm": True}),
    ) -> None:
        super().__init__("CONFIRMATION_REQUIRED", " ".join(["Nothing was changed.", *preview, remedy]))
        self.preview = preview
        self.would_remove = would_remove
        self.confirmed = confirmed
        self.details = {"would_remove": would_remove}


class ConfigError(ClawmemError):
    """The settings cannot be applied; nothing was read or written."""

    code = "CONFIG"
    exit_code = 4


class ExtraMissing(ConfigError):
    """The requested feature needs packages that are not installed."""

    code = "EXTRA_MISSING"

    def __init__(self, what: str, *, extra: str) -> None:
        # By a place and never by name: an index may have another project that is called clawmem.
        package = f"'./clawmem[{extra}]'"
        super().__init__(
            f"This needs {what}, which is not installed. From the folder or wheel that you installed clawmem from, run:"
            f" pip install {package}, or: uv tool install --force {package}, or: pipx install --force {package}"
        )


class LocatedError(ClawmemError):
    """Something at ``path`` cannot be used; ``reason`` is a clause without a full stop, or the whole message."""

    template = "{reason}"
    remedy = ""

    def __init__(
        self, path: str, reason: str = "", remedy: str | None = None, *, code: str | None = None
    ) -> None:
        self.path = path
        self.reason = reason
        self.code = code or self.code
        remedy = self.remedy if remedy is None else remedy
        super().__init__(self.template.format(path=path, reason=reason, remedy=remedy).rstrip())


class VaultError(LocatedError):
    """The vault cannot be used; its content is unchanged."""

    code = "VAULT"
    exit_code = 5


class VaultLocked(VaultError):
    """Another process held the write lock for longer than the busy time-out."""

    code = "VAULT_LOCKED"
    template = "{path} is being written by another process. Try again in a moment; if that lasts: clawmem serve --stop"


class InterruptedAfterCommit(KeyboardInterrupt):
    """An interrupt that arrived at the end of a transaction, whose changes are durable."""


class VaultReadOnly(VaultError):
    """A write to a vault that was opened read-only or whose folder is not writable."""

    code = "VAULT_READ_ONLY"
    template = "{path} cannot be written. Check its permissions and its folder's, or choose another --vault."


class VaultFull(VaultError):
    """The disk is full; the transaction was rolled back."""

    code = "VAULT_FULL"
    template = "The disk is full: {path} cannot be written. Free some space and repeat."


class VaultDamaged(VaultError):
    """The file is not a vault, is truncated, or fails its self-test."""

    code = "VAULT_DAMAGED"
    template = "{path} cannot be used: {reason}. {remedy}"
    remedy = "Run: clawmem doctor --repair"


class NotAVault(VaultDamaged):
    """The path leads to something other than a vault; it was left unchanged."""

    code = "NOT_A_VAULT"
    template = (
        "{path} is not a clawmem vault: {reason}. Nothing was changed. "
        "Check the path, or choose another --vault. {remedy}"
    )
    remedy = ""


class ExtensionMissing(VaultError):
    """The SQLite extension sqlite-vec, which reads vectors, cannot be loaded."""

    code = "EXTENSION_MISSING"
    template = (
        "{path} cannot be opened: SQLite cannot load the extension sqlite-vec ({reason}). "
        "Run: pip install --force-reinstall sqlite-vec"
    )


class IndexUnavailable(VaultError):
    """An index cannot be reached at the moment; ``partial`` are the hits that were found without it."""

    code = "INDEX_UNAVAILABLE"
    template = "The index at {path} cannot be reached: {reason}. Try again later."
    partial: tuple[Hit, ...] = ()


class IndexBypassed(IndexUnavailable):
    """The serving index failed: ``partial`` is what the vault's own index finds."""

    template = "The answer is without the index. {reason}"

    def __init__(self, place: str, cause: ClawmemError, answer: Sequence[Hit]) -> None:
        super().__init__(place, str(cause))
        self.partial = tuple(answer)


class IndexDamaged(VaultError):
    """An index is broken or not the expected one; no data is lost, it can be rebuilt from the records."""

    code = "INDEX_DAMAGED"
    template = "The index at {path} cannot be used: {reason}. Run: clawmem rebuild"


class IndexBusy(VaultError):
    """Another process held an index's write lock for longer than the time-out."""

    code = "INDEX_BUSY"
    template = "The index at {path} is being written by another process. Try again in a moment."


class SourceUnreadable(LocatedError):
    """A file cannot be read as text; indexing continues without it."""

    code = "SOURCE_UNREADABLE"
    exit_code = 2
    template = "{path} was skipped: {reason}."


class SourceMissing(SourceUnreadable):
    """There is no such file."""


class FileNotCreated(LocatedError):
    """A new file cannot be written; nothing was changed."""

    code = "FILE_NOT_CREATED"
    template = "No file can be written at {path}: {reason}. Nothing was written."


class BundleDamaged(LocatedError):
    """A file is no bundle of this clawmem, is truncated, or differs from its hashes; nothing was written."""

    code = "BUNDLE_DAMAGED"
    exit_code = 2  # as of every other file that cannot be imported
    template = "{path} cannot be restored: {reason}. Nothing was written. {remedy}"
    remedy = "Use another copy of the bundle, or export it again."


class StoreUnreadable(ClawmemError):
    """A store of another tool is missing, is not one of that tool, or cannot be read; nothing was imported."""

    code = "STORE_UNREADABLE"
    exit_code = 2

    def __init__(self, tool: str, place: str, reason: str, remedy: str = "") -> None:
        remedy = remedy or f"If it is elsewhere, run: clawmem import {tool} PATH"
        super().__init__(
            f"No memories of {tool} can be read at {place}: {reason}. Nothing was imported. {remedy}"
        )


class EmbeddingError(ClawmemError):
    """Base class of errors about vectors."""

    code = "EMBEDDING"
    exit_code = 6


class ModelMismatch(EmbeddingError):
    """The vault's vectors come from another model; vectors of two embedding spaces are never mixed."""

    code = "MODEL_MISMATCH"

    def __init__(self, stored: str, requested: str) -> None:
        super().__init__(
            f"The vault holds vectors of {stored!r}, but the embedder is {requested!r}. "
            "Install or configure the first again (see: clawmem models list). "
            "To embed everything with the second, run: clawmem embed --force"
        )


class BadVector(EmbeddingError):
    """A vector would corrupt an index; nothing of its batch was stored."""

    code = "BAD_VECTOR"

    def __init__(self, reason: str) -> None:
        super().__init__(f"Invalid vector: {reason}. Check the embedding model with: clawmem doctor")


class ModelError(ClawmemError):
    """
    A model, on a server or in this process, failed to execute a request; no result was stored.

    *model* identifies it and its location, such as ``'embedding' at http://localhost:8088``; ``reason`` is a clause.
    """

    code = "MODEL"
    exit_code = 6
    template: str
    remedy = ""

    def __init__(self, model: str, reason: str, *, remedy: str = "") -> None:
        self.reason = reason
        super().__init__(self.template.format(model=model, reason=reason, remedy=remedy or self.remedy))


class ModelUnavailable(ModelError):
    """The model is unreachable, busy or too slow; a request after ``retry_after_s`` (None: unknown) may succeed."""

    code = "MODEL_UNAVAILABLE"
    template = "The model {model} cannot answer now: {reason}. {remedy}."
    remedy = "Check that it is running"

    def __init__(
        self, model: str, reason: str, *, retry_after_s: float | None = None, remedy: str = ""
    ) -> None:
        self.retry_after_s = retry_after_s
        when = "later" if retry_after_s is None else f"in {max(1, round(retry_after_s))} seconds"
        super().__init__(model, reason, remedy=f"{remedy or self.remedy}, or try again {when}")


class ModelRefused(ModelError):
    """The model rejected the request (wrong key, unknown model, wrong kind of server); a retry would fail too."""

    code = "MODEL_REFUSED"
    template = "The model {model} rejected the request: {reason}. {remedy}."
    remedy = "Check its address, name and key in the settings"


class InputRefused(ModelRefused):
    """The model rejected this input, and may accept another one."""


class InputTooLong(InputRefused):
    """The input exceeds the context of the model."""

    code = "INPUT_TOO_LONG"
    remedy = "Give it less text, or run it with a larger context"

    def __init__(self, model: str) -> None:
        super().__init__(model, "the text is too long for it")


class ModelAnswerInvalid(ModelError):
    """The model's answer is unusable: not JSON, of another shape, or with a wrong number of items."""

    code = "MODEL_ANSWER_INVALID"
    template = "The answer of the model {model} cannot be used: {reason}. Check it with: clawmem doctor"


class LeaseLost(ClawmemError):
    """The lease expired or was taken over between ``acquire`` and this call."""

    code = "LEASE_LOST"

    def __init__(self, name: str, holder: str) -> None:
        super().__init__(f"{holder!r} lost the {name!r} lease; its work was discarded. Acquire again.")


class FileUnusable(InvalidInput):
    """The operating system refuses the use of a file or folder; *error* is the reason."""

    exit_code = 1

    def __init__(self, error: OSError) -> None:
        name = error.filename or "A file"
        message = f"{name} cannot be used: {error.strerror}. Check the file and its permissions."
        if error.errno == ENOENT and not error.filename:
            message = "The working folder does not exist any more. Change to another."
        if error.errno == ENAMETOOLONG:
            message = f"{name} is too long for the name of a file. Choose a shorter one."
            self.exit_code = 2
        if error.errno in DISK_FULL:
            message = f"The disk is full: {name} could not be written. Free some space and repeat."
        super().__init__("FILE", message)
