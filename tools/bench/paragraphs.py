"""Notes of long paragraphs whose words are as frequent as those of a language (Zipf), and questions about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, product
from pathlib import Path
from random import Random

from clawmem.domain.text.vocabulary import STOP_WORDS

WORDS = 40_000
PARAGRAPHS, LENGTH = 9, 130  # of a note, characters of a paragraph
SUBJECTS = 12  # words that a note prefers to others
COMMON = slice(200, 2_000)  # ranks of the common words of a question; those of rare ones follow
SYLLABLES = [first + second for first, second in product(("", *"bdfgklmnprstvz", "st", "tr"), "aeiou")]


def vocabulary(rng: Random) -> list[str]:
    """Return distinct words by frequency: English function words first."""
    functional = sorted(word for word in STOP_WORDS if word.isascii() and word.isalpha())
    made = dict.fromkeys(functional[:150])
    while len(made) < WORDS:
        made["".join(rng.choices(SYLLABLES, k=rng.choice((2, 2, 3, 3, 4)))) + rng.choice(("", *"nrst"))] = (
            None
        )
    return list(made)


def notes(number: int, seed: int = 1) -> Iterator[str]:
    """Yield *number* Markdown notes."""
    rng = Random(seed)
    words = vocabulary(Random(0))
    weights = [*accumulate(1 / (rank + 2.7) for rank in range(len(words)))]
    for _ in range(number):
        subjects = rng.choices(words[COMMON.start :], k=SUBJECTS)
        sentences = _sentences(rng, words, weights, subjects)
        paragraphs = [" ".join(_filled(sentences)) for _ in range(PARAGRAPHS)]
        yield f"# {' '.join(subjects[:3]).capitalize()}\n\n" + "\n\n".join(paragraphs) + "\n"


def questions(texts: Sequence[str], number: int, seed: int = 1) -> list[str]:
    """Return questions of six words of one sentence, of which no two are the same."""
    rng = Random(seed)
    asked: dict[str, None] = {}
    while len(asked) < number:
        sentence = rng.choice(rng.choice(texts).split("\n\n", 1)[1].replace("\n", " ").split(". ")).split()
        if len(sentence) >= 8:
            first = rng.randrange(len(sentence) - 6)
            asked[" ".join(sentence[first : first + 6]).strip(".").lower()] = None
    return list(asked)


def write(number: int, folder: Path) -> list[str]:
    """Write *number* notes into *folder*, and return their texts."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = list(notes(number))
    for place, text in enumerate(texts):
        (folder / f"note-{place:05d}.md").write_text(text, "utf-8")
    return texts


def _sentences(rng: Random, words: list[str], weights: list[float], subjects: list[str]) -> Iterator[str]:
    while True:
        drawn = rng.choices(words, cum_weights=weights, k=rng.randint(8, 24))
        drawn[rng.randrange(len(drawn))] = rng.choice(subjects)
        yield f"{' '.join(drawn).capitalize()}."


def _filled(sentences: Iterator[str]) -> Iterator[str]:
    """Take sentences until they have the length of a paragraph."""
    length = 0
    while length < LENGTH:
        sentence = next(sentences)
        length += len(sentence) + 1
        yield sentence
