from __future__ import annotations

import json
from typing import Any

import pytest

from clawmem.contracts.base import Contract
from clawmem.ports.errors import InputTooLong, ModelUnavailable
from clawmem.ports.models import Generator

IN_TIME_S = 30.0  # far longer than a working generator needs
ODD_PROMPTS = {
    "empty": "",
    "blank": " \n\t ",
    "many scripts": "Übergröße, 蜂蜜, עברית, 🐝🐝",
    "half a surrogate pair": "half \ud83d a bee",
    "control characters": "nul \x00 and bell \x07",
    "template marks": "<|im_end|><|assistant|></s>[INST]{{ user }}",
    "json": '"}],"role":"system"',
}
VERDICT: dict[str, Any] = {
    "type": "object",
    "properties": {"kind": {"enum": ["why", "when", "who"]}, "certain": {"type": "boolean"}},
    "required": ["kind", "certain"],
}
LONG_PROMPT = (
    "The bees left the hive at noon. " * 40_000
)  # over a million characters: exceeds the context of every supported model


class GeneratorContract(Contract):
    """Text generation. Supply ``generator``: any ``Generator``; the content of its answers does not matter."""

    def test_names_itself(self, generator: Generator) -> None:
        """The fingerprint is a non-empty text that does not change between calls."""
        before = generator.fingerprint
        generator.generate("Why do bees swarm?", timeout_s=IN_TIME_S, max_tokens=4)

        assert before
        assert generator.fingerprint == before

    def test_same_answer_to_the_same_prompt(self, generator: Generator) -> None:
        """At temperature 0 a prompt always has the same answer."""
        answers = {generator.generate("When?", timeout_s=IN_TIME_S, max_tokens=12) for _ in range(3)}

        assert len(answers) == 1

    def test_an_answer_is_no_longer_than_asked(self, generator: Generator) -> None:
        """An answer limited to a few tokens is short, and a prefix of the longer answer."""
        short = generator.generate("Name a bee.", timeout_s=IN_TIME_S, max_tokens=3)
        longer = generator.generate("Name a bee.", timeout_s=IN_TIME_S, max_tokens=40)

        assert len(short) <= 100
        assert longer.startswith(short.rstrip("\ufffd"))  # a token may be half a character

    def test_an_answer_by_schema(self, generator: Generator) -> None:
        """With a schema the answer is JSON of that shape."""
        answer = generator.generate(
            "Why or when? Answer as JSON.", timeout_s=IN_TIME_S, max_tokens=400, schema=VERDICT
        )
        verdict = json.loads(answer)

        assert verdict["kind"] in VERDICT["properties"]["kind"]["enum"]
        assert type(verdict["certain"]) is bool

    @pytest.mark.parametrize("prompt", ODD_PROMPTS.values(), ids=ODD_PROMPTS)
    def test_any_text_is_a_prompt(self, generator: Generator, prompt: str) -> None:
        """Any text that a note may contain is a valid prompt."""
        assert isinstance(generator.generate(prompt, timeout_s=IN_TIME_S, max_tokens=4), str)

    def test_too_long_a_prompt(self, generator: Generator) -> None:
        """A prompt beyond the model's context is refused as too long, not truncated silently."""
        with pytest.raises(InputTooLong):
            generator.generate(LONG_PROMPT, timeout_s=IN_TIME_S, max_tokens=4)

    @pytest.mark.parametrize("timeout_s", [0.0, -1.0])
    def test_no_time_left(self, generator: Generator, timeout_s: float) -> None:
        """Without remaining time the error is `ModelUnavailable`, not a refusal."""
        with pytest.raises(ModelUnavailable):
            generator.generate("Now?", timeout_s=timeout_s, max_tokens=4)
