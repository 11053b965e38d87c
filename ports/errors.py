"""
Everything clawmem raises on purpose:

* ClawmemError
  x InvalidInput               what was asked cannot be meant
    + NotFound                   no such document, collection or vault
      - NotServed                  the document was forgotten, archived, superseded or removed
    + Ambiguous                  several things fit
    + ConfirmationMissing        an irreversible change was not confirmed
  x ConfigError                the settings cannot be honoured
    + ExtraMissing               something optional is not installed
    + BackendUnavailable         a backend's package is not installed
    + BackendMismatch            the vault's indexes are kept by another backend
  x VaultError                 the vault cannot serve
    + VaultLocked                somebody else is writing, for too long
    + VaultReadOnly              opened for reading, or a folder that cannot be written
    + VaultFull                  the disk is full
    + VaultTooNew                written by a later clawmem
    + VaultDamaged               not a vault, or a broken one
    + IndexUnavailable           an index outside of the records cannot be reached
    | + IndexBypassed            it could not answer, and the records did
    + IndexDamaged               an index is broken; it is made anew from the records
    + IndexBusy                  another process keeps an index's write lock
  x SourceUnreadable           a file of the user's cannot be read as text
  x EmbeddingError             vectors
    + ModelMismatch              the vault holds another model's vectors
    + BadVector                  wrong length, NaN or not unit length
  x ModelError                 a model that embeds, writes or ranks
    + ModelUnavailable           out of reach or busy; later it may answer
    + ModelRefused               says no, and would again
      - InputTooLong               more text than it reads at once
    + ModelAnswerInvalid         answered what cannot be used
  x LeaseLost                  the lease was taken over; the work was discarded

``str(error)`` is a sentence for a person: what happened, to what, and the way out.
``code`` names it for a program, ``exit_code`` is what the command line leaves with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.ports.records import Candidate, Hit


class ClawmemError(Exception):
    """Root of the tree; caught at the doors and nowhere else."""

    code = "INTERNAL_ERROR"
    exit_code = 1

    @property
    def details(self) -> Mapping[str, Any]:
        """Additional values for programs, of types that JSON can hold."""
        return {}


class InvalidInput(ClawmemError):
    """A question or command that cannot be honoured as written; nothing has been changed."""

    exit_code = 2
    candidates: Sequence[str | Candidate] = ()

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)

    @property
    def details(self) -> Mapping[str, Any]:
        """The documents that may have been meant, as records."""
        known = [one._asdict() for one in self.candidates if isinstance(one, Candidate)]
        return {"candidates": known} if known else {}


class NotFound(InvalidInput):
    """
    A name that fits nothing.

    ``candidates`` are documents that may have been meant, ``suggestions`` names of anything else. ``remark`` is a
    sentence for the end of the message.
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
    """A name that fits several things; nothing is read or changed on a guess."""

    exit_code = 3

    def __init__(self, name: str, candidates: Sequence[str | Candidate]) -> None:
        self.name = name
        self.candidates = tuple(candidates)
        super().__init__(
            "AMBIGUOUS",
            f"{name!r} fits {len(candidates)} documents: {'; '.join(map(str, candidates))}. Give one of them.",
        )


class ConfigError(ClawmemError):
    """The settings cannot be honoured; nothing has been read or written."""

    code = "CONFIG"
    exit_code = 4


class ExtraMissing(ConfigError):
    """What was asked for needs packages that are not installed."""

    code = "EXTRA_MISSING"

    def __init__(self, what: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"This needs {what}, which is not installed. Run in the checkout: pip install '.[{extra}]'"
        )


class BackendUnavailable(ConfigError):
    """A backend was asked for whose package is not installed."""

    code = "BACKEND_UNAVAILABLE"

    def __init__(self, backend: str, *, extra: str) -> None:
        self.backend = backend
        self.extra = extra
        super().__init__(
            f"The {backend!r} backend is not installed. "
            f"Run in the checkout: pip install '.[{extra}]'  (or choose --backend sqlite, which needs nothing.)"
        )


class BackendMismatch(ConfigError):
    """Another backend was asked for than the one that keeps the vault's indexes."""

    code = "BACKEND_MISMATCH"

    def __init__(self, kept: str, asked: str) -> None:
        self.kept = kept
        self.asked = asked
        super().__init__(
            f"The vault's indexes are kept by {kept!r}, not by {asked!r}. "
            f"Run: clawmem migrate --to {asked}  (the vault stays usable meanwhile), or leave --backend out."
        )


class VaultError(ClawmemError):
    """The vault cannot serve; what it holds is untouched."""

    code = "VAULT"
    exit_code = 5

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(message)


class VaultLocked(VaultError):
    """Another process kept the write lock past the busy time-out."""

    code = "VAULT_LOCKED"

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{path} is being written by another process. Try again in a moment.")


class VaultReadOnly(VaultError):
    """A write to a vault that was opened for reading or that lies in a folder without write permission."""

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
            path, f"The disk is full: {path} cannot be written, and nothing was. Free some space and repeat."
        )


class VaultDamaged(VaultError):
    """Not a vault, a truncated one, or one whose self-test fails."""

    code = "VAULT_DAMAGED"

    def __init__(self, path: str, reason: str, way_out: str = "Run: clawmem repair") -> None:
        self.reason = reason
        super().__init__(path, f"{path} cannot be used: {reason}. {way_out}")


class IndexUnavailable(VaultError):
    """
    An index cannot be reached, for now; the records and the other indexes can.

    ``partial`` is what could be answered without it.
    """

    code = "INDEX_UNAVAILABLE"

    def __init__(self, place: str, reason: str, *, partial: Sequence[Hit] = ()) -> None:
        self.reason = reason
        self.partial = tuple(partial)
        super().__init__(place, f"The index at {place} cannot be reached: {reason}. Try again later.")


class IndexDamaged(VaultError):
    """An index is broken, or not what the vault expects; nothing is lost, it is made anew from the records."""

    code = "INDEX_DAMAGED"

    def __init__(self, place: str, reason: str) -> None:
        self.reason = reason
        super().__init__(place, f"The index at {place} cannot be used: {reason}. Run: clawmem rebuild")


class IndexBusy(VaultError):
    """Another process kept an index's write lock past the time-out."""

    code = "INDEX_BUSY"

    def __init__(self, place: str) -> None:
        super().__init__(
            place, f"The index at {place} is being written by another process. Try again in a moment."
        )


class SourceUnreadable(ClawmemError):
    """A file that cannot be read as text; the pass goes on without it."""

    code = "SOURCE_UNREADABLE"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} was skipped: {reason}.")


class EmbeddingError(ClawmemError):
    """Something about vectors."""

    code = "EMBEDDING"
    exit_code = 6


class ModelMismatch(EmbeddingError):
    """The vault's vectors come from another model; two spaces are never mixed."""

    code = "MODEL_MISMATCH"

    def __init__(self, stored: str, asked: str) -> None:
        self.stored = stored
        self.asked = asked
        super().__init__(
            f"The vault holds vectors of {stored!r}, the embedder is {asked!r}. "
            "Configure the first model again, or run: clawmem embed  (makes vectors of the second, which then take "
            "over); a model that was not chosen by name needs clawmem embed --force."
        )


class BadVector(EmbeddingError):
    """A vector that would poison an index; nothing of its batch was stored."""

    code = "BAD_VECTOR"

    def __init__(self, reason: str) -> None:
        super().__init__(f"A vector was refused: {reason}. Check the embedding model with: clawmem doctor")


class ModelError(ClawmemError):
    """
    A model, on a server or in this process, did not do what it was asked; nothing was stored of it.

    ``model`` says which one and where, for example ``'embedding' at http://localhost:8088``.
    """

    code = "MODEL"
    exit_code = 6

    def __init__(self, model: str, message: str) -> None:
        self.model = model
        super().__init__(message)


class ModelUnavailable(ModelError):
    """
    Out of reach, busy, or too slow for the time that was left. Asked again later it may answer.

    ``retry_after_s`` is how long there is no point in asking, None when nobody knows; ``way_out`` is what else
    helps than time, for a model that is not on a server.
    """

    code = "MODEL_UNAVAILABLE"

    def __init__(
        self,
        model: str,
        reason: str,
        *,
        retry_after_s: float | None = None,
        way_out: str = "Check that it is running",
    ) -> None:
        self.reason = reason
        self.retry_after_s = retry_after_s
        when = "later" if retry_after_s is None else f"in {max(1, round(retry_after_s))} seconds"
        super().__init__(
            model,
            f"The model {model} cannot answer now: {reason}. {way_out}, or try again {when}.",
        )


class ModelRefused(ModelError):
    """It says no: wrong key, unknown model, wrong kind of server. Asking again would change nothing."""

    code = "MODEL_REFUSED"

    def __init__(
        self, model: str, reason: str, *, way_out: str = "Check its address, name and key in the settings"
    ) -> None:
        self.reason = reason
        super().__init__(model, f"The model {model} refuses: {reason}. {way_out}.")


class InputTooLong(ModelRefused):
    """More text than it reads at once: ``tokens`` instead of at most ``limit``; None when it does not say."""

    code = "INPUT_TOO_LONG"

    def __init__(self, model: str, *, tokens: int | None = None, limit: int | None = None) -> None:
        self.tokens = tokens
        self.limit = limit
        numbers = f" ({tokens} tokens, at most {limit})" if tokens and limit else ""
        super().__init__(
            model,
            f"the text is too long for it{numbers}",
            way_out="Give it less text, or run it with a larger context",
        )


class ModelAnswerInvalid(ModelError):
    """It answered what cannot be used: no JSON, another shape, another number of things."""

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
