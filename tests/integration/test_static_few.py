"""The static vectors without numpy and without the tokenizer: the same tokens, the same vectors to a millionth."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from clawmem.adapters.models import static_pure
from clawmem.adapters.models.byte_pairs import BLANK, MARKS, BytePairs, read_ids
from clawmem.adapters.models.static import StaticEmbedder
from clawmem.adapters.models.static_pure import KNOWN, PureStaticEmbedder, PureStaticWords, pure_embedder_of
from clawmem.adapters.models.static_words import StaticWords
from clawmem.domain.documents.tokens import words

NOTES = Path(__file__).parents[2] / "examples" / "notes"
ODD = [
    "", " ", "\n\n", "a  b   c    ", "aaaaaaa aaaa a▁▁b", "<0x0A> \x00 \t\t x", "src/app/cli/main.py --force=1_000",
    "Größe, naïve café, 東京で会いましょう, 😀👍🏽, \u202eabc", "caf\udce9",
]  # fmt: skip
LEFT_TO_THE_LIBRARY = ["<s> special </s>", "x" * 61, "word " * 700]


@pytest.fixture(scope="module")
def whole() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def ids(whole: StaticEmbedder) -> dict[str, int]:
    return read_ids(whole.tokenizer_path)


def lines() -> list[str]:
    return [line for path in sorted(NOTES.rglob("*.md")) for line in path.read_text("utf-8").splitlines()]


def numbers(vectors: Sequence[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(vectors), "<f4")


def test_the_merges_follow_from_the_vocabulary(whole: StaticEmbedder, ids: dict[str, int]) -> None:
    """What `BytePairs` takes for granted holds for the installed file, which is the known one."""
    model = json.loads(whole.tokenizer_path.read_text("utf-8"))["model"]
    merges = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in model["merges"]]
    every = {(piece[:n], piece[n:]) for piece in ids for n in range(1, len(piece))}
    rank = BytePairs(ids)._rank

    assert whole.fingerprint == KNOWN
    assert ids == model["vocab"]
    assert {*merges} == {pair for pair in every if pair[0] in ids and pair[1] in ids}
    assert [rank(*pair) for pair in merges] == sorted(rank(*pair) or (True, 0, 0, 0) for pair in merges)
    assert not [p for p in ids for one, two in pairwise(p) if one != BLANK and two == BLANK]


def test_every_piece_is_cut_into_itself(ids: dict[str, int]) -> None:
    """So that a word that is one need not be cut."""
    pairs = BytePairs(ids)
    pieces = [piece for piece in ids if not piece.startswith("<")]

    assert [piece for piece in pieces if pairs._merged(piece) != [piece]] == []


def test_the_same_tokens(whole: StaticEmbedder, ids: dict[str, int]) -> None:
    """Prose, odd texts and 2 000 random runs of pieces."""
    rng, pieces = random.Random(1), sorted(ids)
    texts = [*lines(), *ODD[:-1], *("".join(rng.choices(pieces, k=5)) for _ in range(2000))]
    texts = [text for text in texts if not any(mark in text for mark in MARKS)]
    theirs = whole._tokenizer.encode_batch_fast(texts, add_special_tokens=False)

    assert [BytePairs(ids).encode(text) for text in texts] == [encoding.ids for encoding in theirs]


def test_the_same_vectors(whole: StaticEmbedder) -> None:
    """To a millionth; what is left to the library has the same bytes."""
    few, texts = PureStaticEmbedder(whole), [*lines()[:300], *ODD]

    mine, theirs = numbers([few.embed_query(text) for text in texts]), numbers(whole.embed_documents(texts))
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)
    assert list(map(few.embed_query, LEFT_TO_THE_LIBRARY)) == whole.embed_documents(LEFT_TO_THE_LIBRARY)


@pytest.mark.parametrize("most", [0, static_pure.MOST_WORDS])
def test_the_same_matches(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Whether the words are few or are left to numpy: the same to 1e-5, and the lines in the same order."""
    monkeypatch.setattr(static_pure, "MOST_WORDS", most)
    question = words("why did the deploy of the billing service fail, 東京?")
    texts = [words(line) for line in lines()[:200]]

    mine, theirs = PureStaticWords().compare(question, texts), StaticWords().compare(question, texts)

    np.testing.assert_allclose(mine.weights, theirs.weights, rtol=0, atol=1e-5)
    np.testing.assert_allclose(mine.nearest, theirs.nearest, rtol=0, atol=1e-5)
    covered = [np.round(np.array(m.nearest) @ np.array(m.weights), 5) for m in (mine, theirs)]
    assert np.argsort(-covered[0], kind="stable").tolist() == np.argsort(-covered[1], kind="stable").tolist()


def test_another_release_is_left_to_the_library(
    whole: StaticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of whose vocabulary nothing is known."""
    monkeypatch.setattr(static_pure, "KNOWN", "wordllama:l2_supercat:256:000000000000")

    assert pure_embedder_of(KNOWN) is None
    assert pure_embedder_of("wordllama:l2_supercat:256:000000000000") is None
    assert PureStaticEmbedder(whole).embed_query("redis") == whole.embed_query("redis")
    assert PureStaticWords().compare(["redis"], [["cache"]]) == StaticWords().compare(["redis"], [["cache"]])
