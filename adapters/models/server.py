"""Servers of models: they take requests of llama.cpp's own server, over HTTP or in this process."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from clawmem.adapters.models.providers import Provider
from clawmem.ports.errors import InputTooLong, ModelAnswerInvalid

Json = Mapping[str, Any]
Result = TypeVar("Result")

LONGEST_ASKED_S = 300.0  # the longest wait that a server may ask background work for
EXCERPT = 200  # maximum characters of a server's message

_TOO_LONG = re.compile(
    r"too large to process|exceeds? the (?:available|maximum) context|maximum context length"
    r"|exceed_context_size|context_length_exceeded|maximum input length|too many tokens",
    re.IGNORECASE,
)
_TOKEN_COUNTS = (  # of llama.cpp for embeddings and for chat, and of OpenAI
    re.compile(
        r"\((?P<tokens>\d+) tokens\).{0,300}?(?:batch size: |context size \()(?P<limit>\d+)", re.DOTALL
    ),
    re.compile(r"length is (?P<limit>\d+) tokens.{0,300}?requested (?P<tokens>\d+)", re.DOTALL),
)


class ModelIdentity(NamedTuple):
    """
    Identity of the served model.

    ``weights`` is a hash that differs when the weights differ, empty if unknown; ``family`` the text by which prompts
    are selected, and ``dimensions`` the length of its vectors, 0 if it must be measured.
    """

    name: str
    weights: str
    family: str
    dimensions: int = 0

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, self.weights)))


class Limits:
    """
    Time for one piece of work, which may need several requests; it starts now.

    While a caller waits for the result, *timeout_s* covers all attempts and waits. In *background* work each
    request has the full timeout, and a server may ask for waits of up to five minutes.
    """

    def __init__(self, timeout_s: float, *, background: bool = False) -> None:
        self.background = background
        self.timeout_s = timeout_s
        self._until = time.monotonic() + timeout_s

    def left_s(self) -> float:
        """Return the seconds that the next request may take; zero or negative when the time is over."""
        return self.timeout_s if self.background else self._until - time.monotonic()

    def longest_wait_s(self) -> float:
        """Return the longest wait between two attempts."""
        return LONGEST_ASKED_S if self.background else self.left_s()


class ModelServer(Protocol):
    """A server that runs one model; its errors are those of `clawmem.ports.models.Generator.generate`."""

    provider: Provider
    name: str  # of the requested model
    label: str  # model and place, for messages
    location: str

    def served(self, limits: Limits) -> ModelIdentity:
        """Return the identity of the model that the server runs."""

    def post(self, path: str, body: Json, limits: Limits, read: Callable[[Json], Result]) -> Result:
        """Send *body* to the endpoint *path*, and return the result of *read* for the response."""

    def close(self) -> None:
        """Release connections or memory; later requests fail."""


def read_answer(label: str, answer: Json, read: Callable[[Json], Result]) -> Result:
    """
    Return the result of *read* for the response of a model.

    Raises:
        ModelAnswerInvalid: *read* found another structure.
    """
    try:
        return read(answer)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelAnswerInvalid(label, "it has an unexpected structure") from error


def too_long(label: str, message: str) -> InputTooLong | None:
    """Return the error that a server's *message* means if it says that the text is too long."""
    if not _TOO_LONG.search(message):
        return None
    counts = next((match for form in _TOKEN_COUNTS if (match := form.search(message))), None)
    if counts is None:
        return InputTooLong(label)
    return InputTooLong(label, tokens=int(counts["tokens"]), limit=int(counts["limit"]))
