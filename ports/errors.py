"""
Exceptions that clawmem raises deliberately:

* ClawmemError
  x InvalidInput               the query or command cannot be executed as written
    + NotFound                   no such document, collection or vault
      - NotServed                  the document was forgotten, archived, superseded or removed
    + Ambiguous                  the name matches several documents
    + ConfirmationMissing        an irreversible change was not confirmed
  x ConfigError                the settings cannot be applied
    + ExtraMissing               an optional package is not installed
    + BackendUnavailable         a backend's package is not installed
    + BackendMismatch            another backend stores the vault's indexes
  x VaultError                 the vault cannot be used
    + VaultLocked                another process held the write lock for too long
    + VaultReadOnly              the vault was opened read-only, or its folder is not writable
    + VaultFull                  the disk is full
    + VaultTooNew                written by a later clawmem
    + ExtensionMissing           SQLite cannot load sqlite-vec
    + VaultDamaged               not a vault, or a broken one
    + IndexUnavailable           an external index cannot be reached
    | + IndexBypassed            the index failed, and the records answered instead
    + IndexDamaged               an index is broken and must be rebuilt from the records
    + IndexBusy                  another process holds an index's write lock
  x SourceUnreadable           a file of the user's cannot be read as text
  x FileNotCreated             a new file cannot be written
  x EmbeddingError             an operation on vectors failed
    + ModelMismatch              the vault holds another model's vectors
    + BadVector                  wrong length, NaN or not unit length
  x ModelError                 an embedder, generator or reranker failed
    + ModelUnavailable           unreachable or busy; a later request may succeed
    + ModelRefused               the model rejected the request, and would reject it again
      - InputTooLong               the input exceeds the model's context
    + ModelAnswerInvalid         the answer is unusable
  x LeaseLost                  the lease was taken over; the work was discarded

``str(error)`` is a sentence for a person: what failed, with which value, and what to do next.
``code`` identifies the error for programs, ``exit_code`` is the exit code of the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.ports.records import Candidate, Hit


class ClawmemError(Exception):
    """Base class of all clawmem errors; caught only at the interfaces (CLI, MCP server, REST API, hooks)."""

    code = "INTERNAL_ERROR"
    exit_code = 1

    @property
    def details(self) -> Mapping[str, Any]:
        """Return additional JSON-serialisable values for programs."""
        return {}


class InvalidInput(ClawmemError):
    """A query or command cannot be executed as written; nothing was changed."""

    exit_code = 2
    candidates: Sequence[str | Candidate] = ()

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)

    @property
    def details(self) -> Mapping[str, Any]:
        """Return the documents that may have been meant, as records."""
        known = [one.record for one in self.candidates if isinstance(one, Candidate)]
        return {"candidates": known} if known else {}


class NotFound(InvalidInput):
    """
    No object matches the given name.

    ``candidates`` are documents that may have been meant, ``suggestions`` are names of other objects.
    ``remark`` is a sentence appended to the message.
    """

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
        self.name = name
        self.candidates = tuple(candidates)
        self.suggestions = tuple(suggestions) or tuple(one.file for one in candidates)
        near = "; ".join(map(str, candidates)) or ", ".join(suggestions)
        said = (f"No {what} matches {name!r}.", f"Did you mean: {near}?" if near else "", remark)
        super().__init__("NOT_FOUND", " ".join(filter(None, said)))


class Ambiguous(InvalidInput):
    """The given name matches several documents; none of them was read or changed."""

    exit_code = 3

    def __init__(self, name: str, candidates: Sequence[str | Candidate]) -> None:
        self.name = name
        self.candidates = tuple(candidates)
        super().__init__(
            "AMBIGUOUS",
            f"{name!r} matches {len(candidates)} documents: {'; '.join(map(str, candidates))}. "
            f'Choose one of them, as in "{getattr(candidates[0], "address", candidates[0])}".',
        )


class ConfigError(ClawmemError):
    """The settings cannot be applied; nothing was read or written."""

    code = "CONFIG"
    exit_code = 4


class ExtraMissing(ConfigError):
    """The requested feature needs packages that are not installed."""

    code = "EXTRA_MISSING"

    def __init__(self, what: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"This needs {what}, which is not installed. Run in the checkout: pip install '.[{extra}]'"
        )


class BackendUnavailable(ConfigError):
    """The package of the requested backend is not installed."""

    code = "BACKEND_UNAVAILABLE"

    def __init__(self, backend: str, *, extra: str) -> None:
        self.backend = backend
        self.extra = extra
        super().__init__(
            f"The {backend!r} backend is not installed. "
            f"Run in the checkout: pip install '.[{extra}]'  (or choose --backend sqlite, which needs nothing.)"
        )


class BackendMismatch(ConfigError):
    """The requested backend is not the one that stores the vault's indexes."""

    code = "BACKEND_MISMATCH"

    def __init__(self, kept: str, asked: str, remedy: str) -> None:
        self.kept = kept
        self.asked = asked
        super().__init__(
            f"The vault's indexes are stored by {kept!r}, not by {asked!r}. "
            f"Run: clawmem migrate --to {asked}  (the vault stays usable during the migration), or {remedy}"
        )


class VaultError(ClawmemError):
    """The vault cannot be used; its content is unchanged."""

    code = "VAULT"
    exit_code = 5

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(message)


class VaultLocked(VaultError):
    """Another process held the write lock for longer than the busy time-out."""

    code = "VAULT_LOCKED"

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{path} is being written by another process. Try again in a moment.")


class InterruptedAfterCommit(KeyboardInterrupt):
    """An interrupt that arrived at the end of a transaction, whose changes are durable."""


class VaultReadOnly(VaultError):
    """A write to a vault that was opened read-only or whose folder is not writable."""

    code = "VAULT_READ_ONLY"

    def __init__(self, path: str) -> None:
        super().__init__(
            path, f"{path} cannot be written. Check the permissions of its folder, or choose another --vault."
        )


class VaultFull(VaultError):
    """The disk is full; the transaction was rolled back."""

    code = "VAULT_FULL"

    def __init__(self, path: str) -> None:
        super().__init__(
            path,
            f"The disk is full: {path} cannot be written. What was finished before is kept. Free some space and repeat.",
        )


class VaultDamaged(VaultError):
    """The file is not a vault, is truncated, or fails its self-test."""

    code = "VAULT_DAMAGED"

    def __init__(self, path: str, reason: str, remedy: str = "Run: clawmem doctor --repair") -> None:
        self.reason = reason
        super().__init__(path, f"{path} cannot be used: {reason}. {remedy}")


class IndexUnavailable(VaultError):
    """
    An index cannot be reached at the moment; the records and the other indexes can.

    ``partial`` holds the hits that were found without it.
    """

    code = "INDEX_UNAVAILABLE"

    def __init__(self, place: str, reason: str, *, partial: Sequence[Hit] = ()) -> None:
        self.reason = reason
        self.partial = tuple(partial)
        super().__init__(place, f"The index at {place} cannot be reached: {reason}. Try again later.")


class IndexDamaged(VaultError):
    """An index is broken or not the expected one; no data is lost, it can be rebuilt from the records."""

    code = "INDEX_DAMAGED"

    def __init__(self, place: str, reason: str) -> None:
        self.reason = reason
        super().__init__(place, f"The index at {place} cannot be used: {reason}. Run: clawmem rebuild")


class IndexBusy(VaultError):
    """Another process held an index's write lock for longer than the time-out."""

    code = "INDEX_BUSY"

    def __init__(self, place: str) -> None:
        super().__init__(
            place, f"The index at {place} is being written by another process. Try again in a moment."
        )


class SourceUnreadable(ClawmemError):
    """A file cannot be read as text; indexing continues without it."""

    code = "SOURCE_UNREADABLE"
    exit_code = 2

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} was skipped: {reason}.")


class SourceMissing(SourceUnreadable):
    """There is no such file."""


class EmbeddingError(ClawmemError):
    """Base class of errors about vectors."""

    code = "EMBEDDING"
    exit_code = 6


class ModelMismatch(EmbeddingError):
    """The vault's vectors come from another model; vectors of two embedding spaces are never mixed."""

    code = "MODEL_MISMATCH"

    def __init__(self, stored: str, asked: str) -> None:
        self.stored = stored
        self.asked = asked
        super().__init__(
            f"The vault holds vectors of {stored!r}, but the embedder is {asked!r}. "
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

    ``model`` identifies the model and its location, for example ``'embedding' at http://localhost:8088``.
    """

    code = "MODEL"
    exit_code = 6

    def __init__(self, model: str, message: str) -> None:
        self.model = model
        super().__init__(message)


class ModelUnavailable(ModelError):
    """
    The model is unreachable, busy, or too slow for the remaining time; a later request may succeed.

    ``retry_after_s`` is the minimum wait before a retry, None if unknown. ``remedy`` is an action other than
    waiting that may help, for a model that does not run on a server.
    """

    code = "MODEL_UNAVAILABLE"

    def __init__(
        self,
        model: str,
        reason: str,
        *,
        retry_after_s: float | None = None,
        remedy: str = "Check that it is running",
    ) -> None:
        self.reason = reason
        self.retry_after_s = retry_after_s
        when = "later" if retry_after_s is None else f"in {max(1, round(retry_after_s))} seconds"
        super().__init__(
            model, f"The model {model} cannot answer now: {reason}. {remedy}, or try again {when}."
        )


class ModelRefused(ModelError):
    """The model rejected the request (wrong key, unknown model, wrong kind of server); a retry would fail too."""

    code = "MODEL_REFUSED"

    def __init__(
        self, model: str, reason: str, *, remedy: str = "Check its address, name and key in the settings"
    ) -> None:
        self.reason = reason
        super().__init__(model, f"The model {model} rejected the request: {reason}. {remedy}.")


class InputTooLong(ModelRefused):
    """
    The input exceeds the model's context: ``tokens`` instead of at most ``limit``; None if the model does not
    report them.
    """

    code = "INPUT_TOO_LONG"

    def __init__(self, model: str, *, tokens: int | None = None, limit: int | None = None) -> None:
        self.tokens = tokens
        self.limit = limit
        numbers = f" ({tokens} tokens, at most {limit})" if tokens and limit else ""
        super().__init__(
            model,
            f"the text is too long for it{numbers}",
            remedy="Give it less text, or run it with a larger context",
        )


class ModelAnswerInvalid(ModelError):
    """The model's answer is unusable: not JSON, of another shape, or with a wrong number of items."""

    code = "MODEL_ANSWER_INVALID"

    def __init__(self, model: str, reason: str) -> None:
        self.reason = reason
        super().__init__(
            model, f"The answer of the model {model} cannot be used: {reason}. Check it with: clawmem doctor"
        )


class LeaseLost(ClawmemError):
    """The lease expired or was taken over between ``acquire`` and this call."""

    code = "LEASE_LOST"

    def __init__(self, name: str, holder: str) -> None:
        self.name = name
        self.holder = holder
        super().__init__(
            f"{holder!r} no longer holds the {name!r} lease; its work was discarded. Acquire again."
        )
