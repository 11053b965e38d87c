"""Byte-pair encoding without the library, compared with the library and its file."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from clawmem.adapters.models import token_cache
from clawmem.adapters.models.byte_pairs import BLANK, MARKS, BytePairs, vocabulary_in
from clawmem.adapters.models.static import StaticEmbedder
from clawmem.adapters.models.token_cache import TokenCache

FILE = StaticEmbedder().tokenizer_path
LETTERS = "abcdefgh tTeErR éüß日本語😀\u0301\n\t0123-_/.`*<0x>  "


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(FILE))


@pytest.fixture(scope="module")
def pairs() -> BytePairs:
    return BytePairs(vocabulary_in(FILE))


def test_every_merge_of_the_file_follows_from_the_vocabulary(pairs: BytePairs) -> None:
    """The merges are the pairs of pieces that form a piece, and their ranks give the order in the file."""
    model: dict[str, Any] = json.loads(FILE.read_bytes())["model"]
    pieces, merges = model["vocab"], [tuple(merge.split(" ")) for merge in model["merges"]]
    splits = {(piece[:at], piece[at:]) for piece in pieces for at in range(1, len(piece))}

    assert vocabulary_in(FILE) == pieces
    assert set(merges) == {(left, right) for left, right in splits if left in pieces and right in pieces}
    assert all(before < after for before, after in pairwise(pairs._rank(*merge) for merge in merges))


def test_a_word_that_is_a_piece_is_encoded_as_this_piece(tokenizer: Tokenizer) -> None:
    """The library merges each piece that begins with a blank from its characters, so the shortcut is exact."""
    pieces = [piece for piece in vocabulary_in(FILE) if piece.startswith(BLANK) and piece != BLANK]
    words = [piece[1:].replace(BLANK, " ") for piece in pieces]

    encoded = tokenizer.encode_batch(words, add_special_tokens=False)

    assert [encoding.tokens for encoding in encoded] == [[piece] for piece in pieces]


def test_words_have_the_ids_of_the_library(pairs: BytePairs, tokenizer: Tokenizer) -> None:
    """Words of notes and random words, with rare characters, blanks and line ends, have the library's ids."""
    chance = random.Random(1)
    words = ["".join(chance.choices(LETTERS, k=chance.randint(1, 16))) for _ in range(4_000)]
    for note in sorted((Path(__file__).parents[1] / "data" / "obsidianvault").rglob("*.md")):
        words += note.read_text("utf-8", "replace").split()
    words = [word for word in words if not any(mark in word for mark in MARKS)]

    expected = [one.ids for one in tokenizer.encode_batch_fast(words, add_special_tokens=False)]

    assert [pairs.encode(word) for word in words] == expected


def test_few_words_need_no_library(pairs: BytePairs, tokenizer: Tokenizer) -> None:
    """The library is loaded for the word after `MOST_PAIRED`, or for a text with a special token."""
    loads: list[str] = []

    def loading() -> Tokenizer:
        loads.append("library")
        return tokenizer

    numbers = [str(number) for number in range(token_cache.MOST_PAIRED)]
    cache, other = TokenCache(loading, pairs), TokenCache(loading, pairs)

    few = cache.ids(numbers)
    assert not loads
    assert cache.ids([*numbers, "one more"])[:-1] == few
    assert loads == ["library"]
    assert other.ids(["a </s>"]) == [tokenizer.encode("a </s>", add_special_tokens=False).ids]
    assert loads == ["library"] * 2
