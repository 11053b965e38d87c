from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import Self

JsonSchema = Mapping[str, Any]
"""A JSON schema; only ``type``, ``properties``, ``required``, ``items`` and ``enum`` are relied upon."""


class Written(str):
    """
    A text that a model wrote, and what it cost by the model's own count.

    Args:
        prompt_tokens, answer_tokens: Of the question and of the text; ``None`` where the model did not say.
    """

    prompt_tokens: int | None
    answer_tokens: int | None

    def __new__(cls, text: str, prompt_tokens: int | None = None, answer_tokens: int | None = None) -> Self:
        made = super().__new__(cls, text)
        made.prompt_tokens, made.answer_tokens = prompt_tokens, answer_tokens
        return made


class Generator(Protocol):
    """
    A prompt to text, by a language model.

    What comes back is text that a machine made up: it is read with `clawmem.domain.knowledge.llm_answer`,
    never trusted and never run.
    """

    @property
    def fingerprint(self) -> str:
        """
        Names the model and where it runs: answers may be kept under it.

        Asks the model's server, if there is one, now and then.

        Raises:
            ModelUnavailable: it has to be asked and cannot be.
        """
        ...

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        """
        The answer to *prompt*, at most *max_tokens* long and cut off there, if need be within a word.

        At *temperature* 0 the same prompt has the same answer. With a *schema* the answer is written as
        JSON of that shape where the model can be held to it, and merely asked for where it cannot; in both
        cases it may be cut off. Thoughts that a model writes before its answer may be part of it. Where the model
        counts its tokens the answer is a `Written`.

        Args:
            timeout_s: Seconds from now, by which the call returns or raises, retries included.
            max_tokens: Of the answer, > 0, in the model's own tokens.

        Raises:
            ModelUnavailable: out of reach, busy, or not done in time; at once when *timeout_s* is not positive.
            ModelRefused: it says no for good; `InputTooLong` when the prompt is longer than it can read.
            ModelAnswerInvalid: what came back holds no answer.
        """
        ...
