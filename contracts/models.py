import json
import math
from typing import Any

import pytest

from clawmem.contracts.base import Contract
from clawmem.contracts.samples import cosine, floats
from clawmem.ports.errors import InputTooLong, ModelUnavailable
from clawmem.ports.models import Embedder, Generator, Reranker

BEES = "The bees left the hive at noon."
BOATS = "Two wooden boats lay in the harbour."
TEXTS = (BEES, BOATS, "Why does the build fail on Mondays?", "Übergröße, naïve café")


class EmbedderContract(Contract):
    """Embedding of texts. Supply ``embedder``: any ``Embedder`` that knows everyday English words."""

    def test_names_its_space(self, embedder: Embedder) -> None:
        """The fingerprint is a non-empty text that does not change between calls."""
        before = embedder.fingerprint
        embedder.embed_documents(TEXTS)

        assert before
        assert embedder.fingerprint == before

    @pytest.mark.parametrize("text", TEXTS)
    def test_unit_length(self, embedder: Embedder, text: str) -> None:
        """The vector of a text with known words has length one, and holds `dimensions` finite float32 numbers."""
        for vector in (embedder.embed_query(text), *embedder.embed_documents([text])):
            assert len(vector) == 4 * embedder.dimensions > 0
            assert math.hypot(*floats(vector)) == pytest.approx(1.0, abs=1e-4)

    def test_text_without_a_token_is_zero(self, embedder: Embedder) -> None:
        """The empty text gives all zeros, not NaN or an error, alone and in a batch."""
        zeros = (0.0,) * embedder.dimensions

        assert floats(embedder.embed_query("")) == zeros
        assert floats(embedder.embed_documents([BEES, "", BOATS])[1]) == zeros

    def test_same_bytes_every_time(self, embedder: Embedder) -> None:
        """Every text has its own vector, in order, the same bytes regardless of the other texts in the batch."""
        together = embedder.embed_documents([*TEXTS, BEES])
        alone = [embedder.embed_documents([text])[0] for text in TEXTS]

        assert together == [*alone, alone[0]]
        assert len(set(alone)) == len(TEXTS)
        assert embedder.embed_query(BEES) == embedder.embed_query(BEES)

    def test_a_question_is_nearest_to_its_own_words(self, embedder: Embedder) -> None:
        """A query is more similar to the text that contains its words than to a text on another topic."""
        bees, boats = embedder.embed_documents([BEES, BOATS])
        question = embedder.embed_query("bees hive")

        assert cosine(question, bees) > cosine(question, boats)


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


class GeneratorContract(Contract):
    """Text generation. Supply ``generator``: any ``Generator``; the content of its answers does not matter."""

    def test_same_answer_to_the_same_prompt(self, generator: Generator) -> None:
        """At temperature 0 a prompt always has the same answer, under one fingerprint, a non-empty text."""
        before = generator.fingerprint
        answers = {generator.generate("When?", timeout_s=IN_TIME_S, max_tokens=12) for _ in range(3)}

        assert len(answers) == 1
        assert before == generator.fingerprint != ""

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
            generator.generate(BEES * 40_000, timeout_s=IN_TIME_S, max_tokens=4)  # over a million characters

    @pytest.mark.parametrize("timeout_s", [0.0, -1.0])
    def test_no_time_left(self, generator: Generator, timeout_s: float) -> None:
        """Without remaining time the error is `ModelUnavailable`, not a refusal."""
        with pytest.raises(ModelUnavailable):
            generator.generate("Now?", timeout_s=timeout_s, max_tokens=4)


QUERY = "When did the bees leave the hive?"
MANY = tuple(f"{BEES} The {n}th day was a day without wind." for n in range(11))


class RerankerContract(Contract):
    """Reranking. Supply ``reranker``: any ``Reranker``; the quality of its scores does not matter."""

    def test_one_score_each_from_0_to_1(self, reranker: Reranker) -> None:
        """Every document has one finite score from 0 to 1, under one fingerprint, a non-empty text."""
        before = reranker.fingerprint
        scores = reranker.rerank(QUERY, MANY, timeout_s=IN_TIME_S)

        assert len(scores) == len(MANY)
        assert all(math.isfinite(score) and 0 <= score <= 1 for score in scores)
        assert before == reranker.fingerprint != ""

    def test_scores_are_in_the_order_of_the_documents(self, reranker: Reranker) -> None:
        """Reversing the documents reverses the scores."""
        documents = [BEES, BOATS, *MANY]
        scores = reranker.rerank(QUERY, documents, timeout_s=IN_TIME_S)

        turned = reranker.rerank(QUERY, documents[::-1], timeout_s=IN_TIME_S)

        assert turned[::-1] == pytest.approx(scores, abs=1e-4)
        assert len(set(scores)) > 1

    @pytest.mark.parametrize("text", ODD_PROMPTS.values(), ids=ODD_PROMPTS)
    def test_any_text_can_be_ranked(self, reranker: Reranker, text: str) -> None:
        """Any text that a note or a query may contain can be ranked."""
        assert len(reranker.rerank(text, [text, BEES], timeout_s=IN_TIME_S)) == 2

    @pytest.mark.parametrize("timeout_s", [0.0, -1.0])
    def test_no_time_left(self, reranker: Reranker, timeout_s: float) -> None:
        """Without remaining time the error is `ModelUnavailable`, not a refusal."""
        with pytest.raises(ModelUnavailable):
            reranker.rerank(QUERY, [BEES], timeout_s=timeout_s)


class RerankerJudgementContract(Contract):
    """Quality of reranking. Supply ``reranker``: a ``Reranker`` that knows everyday English."""

    def test_the_answer_is_above_everything_else(self, reranker: Reranker) -> None:
        """The document that answers the query has the highest score."""
        bees, boats, tax = reranker.rerank(
            QUERY, [BEES, BOATS, "Income tax is due in April."], timeout_s=IN_TIME_S
        )

        assert bees > max(boats, tax)
