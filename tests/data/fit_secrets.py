"""
Fit the model that recognises secrets, and write ``domain/security/secret_weights.bin``.

The examples are the templates of ``TEMPLATES``, each drawn several times with other values, words
(``interchangeable_words.txt``) and surroundings, the layouts of ``secret_layouts.py``, and texts of this repository that
hold no secret. The model is a logistic regression. Everything is seeded.

    python tests/data/fit_secrets.py            # writes the weights
    python tests/data/fit_secrets.py --validate # prints recall and precision on scenarios and files that were left out
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from invented_values import filled
from make_secrets import drawn
from secret_layouts import layouts
from secret_sentences import sentences

from clawmem.domain.security import secret_model
from clawmem.domain.security.disguise import lower_case, plain
from clawmem.domain.security.redaction import find_secrets
from clawmem.domain.security.secret_candidates import Candidate, candidates
from clawmem.domain.security.secret_features import BITS, above, in_line, places, shape

DATA = Path(__file__).parent
ROOT = DATA.parents[1]
TARGET = ROOT / "domain" / "security" / "secret_weights.bin"
TEMPLATES = {
    "secret_scenarios.tsv": 5,
    "secret_lines.tsv": 3,
    "secret_lines_development.tsv": 3,
    "secret_lines_fresh.tsv": 3,
    "secret_lines_heldout.tsv": 3,
}  # draws of each
DRAWN = {"secret_layouts.py": (layouts, 5_000), "secret_sentences.py": (sentences, 14_000)}
WEIGHTS = {"secret_sentences.py": 0.4}  # sentences drawn by lot are less like those of people
CLEAN_TEXTS = (
    "tests/data/ownervault/**/*.md", "examples/**/*.md", "docs/**/*.md", "adapters/**/*.py", "app/**/*.py", "ports/**/*.py", "tests/data/orders_labelled.tsv",
    "tests/data/injections.tsv", "tests/data/coding_prompts.jsonl", "tests/data/silence.jsonl", "tests/data/mcp_tools.json",
)  # fmt: skip
CLEAN_WEIGHT = 1.5
SEED = 5
EPOCHS, BATCH, RATE, DROPPED = 8, 64, 0.3, 0.15
CAUTION = 20.0  # squares of slopes to begin with: a word that a few templates have learns little
FOLDS = 5
SURROUNDED = 0.5  # share of the draws that get other lines above and below
SWAPPED = 0.5  # share of the interchangeable words that are exchanged
SAME = 0.7  # a candidate is the secret if it shares this part of both
_ESCAPED = re.compile(r"\\(?:n|t|\\|u[0-9a-f]{4})")


class Template(NamedTuple):
    """A line of a file of templates: its scenario or class, and its text with the secrets between « and »."""

    file: str
    kind: str
    text: str


class Example(NamedTuple):
    """A candidate: its template, the places of its features, whether it is a secret, and its weight."""

    template: Template | None
    places: np.ndarray
    is_secret: bool
    weight: float


def templates(name: str) -> list[Template]:
    """Read the templates of file *name*."""
    rows = (row.partition("\t") for row in (DATA / name).read_text("utf-8").splitlines())
    return [Template(name, kind, _ESCAPED.sub(_unescaped, text).replace("¦", "")) for kind, _, text in rows]


def _unescaped(match: re.Match[str]) -> str:
    code = match[0][1:]
    return {"n": "\n", "t": "\t", "\\": "\\"}.get(code) or chr(int(code[1:], 16))


def text_of(chance: Random, template: str) -> tuple[str, list[tuple[int, int]]]:
    """Return *template* with values, and the spans of its secrets."""
    line = drawn(chance, filled(chance, template))
    if "«" not in template or "»" not in template:
        return line, []
    parts = re.split("[«»]", line)
    at, spans = 0, []
    for number, part in enumerate(parts):
        if number % 2:
            spans.append((at, at + len(part)))
        at += len(part)
    return "".join(parts), spans


class Words:
    """Words that may stand for one another."""

    def __init__(self) -> None:
        groups = (DATA / "interchangeable_words.txt").read_text("utf-8").splitlines()
        self._others: dict[str, list[list[str]]] = {}
        for group in (line.split("|") for line in groups):
            for word in group:
                self._others.setdefault(word, []).append(group)
        known = sorted(map(re.escape, self._others), key=len, reverse=True)
        self._known = re.compile(rf"(?<![\w{{.])(?:{'|'.join(known)})(?![\w:}}])")

    def swapped(self, chance: Random, template: str) -> str:
        """Return *template* with some of its words exchanged."""

        def other(match: re.Match[str]) -> str:
            if chance.random() > SWAPPED:
                return match[0]
            return chance.choice(chance.choice(self._others[match[0]]))

        return self._known.sub(other, template)


def clean_texts() -> list[str]:
    """Return notes, pages, programs and descriptions of tools that hold no secret."""
    rows = (DATA / "secrets_labelled.tsv").read_text("utf-8").replace("¦", "").split("\n")
    lines = "\n\n".join(row[2:] for row in rows if row.startswith("-\t"))
    return [lines, *(path.read_text("utf-8") for name in CLEAN_TEXTS for path in sorted(ROOT.glob(name)))]


def surrounded(chance: Random, text: str, lines: Sequence[str]) -> tuple[str, int]:
    """Return *text* between other lines, and the length of what was put before it."""
    before = "\n".join(chance.choice(lines) for _ in range(chance.randint(1, 3))) + chance.choice(
        ["\n", "\n\n"]
    )
    return before + text + chance.choice(["\n", "\n\n"]) + chance.choice(lines), len(before)


def examples(chosen: Iterable[Template], lines: Sequence[str]) -> Iterator[Example]:
    """Yield the candidates in several drawings of the *chosen* templates."""
    chance, words = Random(SEED), Words()
    for template in chosen:
        for number in range(TEMPLATES.get(template.file, 1)):
            text, spans = text_of(chance, words.swapped(chance, template.text) if number else template.text)
            if number and chance.random() < SURROUNDED:
                text, more = surrounded(chance, text, lines)
                spans = [(start + more, end + more) for start, end in spans]
            seen = plain(text)
            for candidate in candidates(seen.text, lower_case(seen.text)):
                overlap = shared(seen.span(candidate.start, candidate.end), spans)
                if not 0 < overlap < SAME:
                    yield Example(
                        template, _numbers(seen.text, candidate), overlap > 0, WEIGHTS.get(template.file, 1.0)
                    )


def shared(found: tuple[int, int], spans: Iterable[tuple[int, int]]) -> float:
    """Return how much *found* and one of *spans* have in common, as a part of the longer one."""
    start, end = found
    common = ((min(end, last) - max(start, first)) / max(end - start, last - first) for first, last in spans)
    return max((part for part in common if part > 0), default=0.0)


def clean_examples(texts: Iterable[str]) -> Iterator[Example]:
    """Yield the candidates of *texts*, none of which is a secret."""
    for text in (plain(text).text for text in texts):
        for candidate in candidates(text, lower_case(text)):
            yield Example(None, _numbers(text, candidate), False, CLEAN_WEIGHT)


def _numbers(text: str, candidate: Candidate) -> np.ndarray:
    value = text[candidate.start : candidate.end]
    found = [*shape(value, candidate.form), *in_line(text, candidate), *above(text, candidate)]
    return np.array([place for feature in found for place in places(feature)], dtype=np.int32)


def fitted(found: Sequence[Example]) -> np.ndarray:
    """Return the weights of a logistic regression: AdaGrad, some features left out at random, averaged at the end."""
    random = np.random.default_rng(0)
    weights, squares = np.zeros(1 << BITS, np.float32), np.full(1 << BITS, CAUTION, np.float32)
    total = np.zeros(1 << BITS, np.float64)
    truth = np.array([one.is_secret for one in found], np.float32)
    importance = np.array([one.weight for one in found], np.float32)
    for epoch in range(EPOCHS):
        order = random.permutation(len(found))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            where = np.concatenate([found[i].places for i in batch])
            owner = np.repeat(np.arange(len(batch)), [len(found[i].places) for i in batch])
            kept = random.random(len(where)) > DROPPED
            where, owner = where[kept], owner[kept]
            score = np.bincount(owner, weights[where], minlength=len(batch)) / (1 - DROPPED)
            error = (1 / (1 + np.exp(-score)) - truth[batch]) * importance[batch]
            slope = np.bincount(where, error[owner], minlength=1 << BITS)
            touched = np.flatnonzero(slope)
            squares[touched] += slope[touched] ** 2
            weights[touched] -= RATE * slope[touched] / np.sqrt(squares[touched])
        if epoch >= EPOCHS // 2:
            total += weights
    return total / (EPOCHS - EPOCHS // 2)


def compact(weights: np.ndarray) -> bytes:
    """Return *weights* as whole numbers of units, one byte each, compressed."""
    whole = np.clip(np.round(weights / secret_model.UNIT), -127, 127).astype(np.int8)
    return zlib.compress(whole.tobytes(), 9)


def validate(all_templates: Sequence[Template], found: Sequence[Example], clean: Sequence[Example]) -> None:
    """Print recall and precision on each file, and on a fifth of the scenarios at a time, that was left out."""
    kinds = sorted({one.kind.lstrip("-") for one in all_templates if one.file == "secret_scenarios.tsv"})
    parts = {
        name: lambda one, name=name: one.file == name for name in TEMPLATES if name != "secret_scenarios.tsv"
    }
    for fold in range(FOLDS):
        chosen = frozenset(kinds[fold::FOLDS])
        parts[f"scenarios, part {fold + 1}"] = lambda one, chosen=chosen: (
            one.file == "secret_scenarios.tsv" and one.kind.lstrip("-") in chosen
        )
    for name, is_left_out in parts.items():
        kept = [one for one in found if one.template and not is_left_out(one.template)]
        secret_model.use(compact(fitted([*kept, *clean])))
        report(name, [one for one in all_templates if is_left_out(one)])


def report(name: str, chosen: Sequence[Template]) -> None:
    """Print how many secrets of the *chosen* templates are redacted, and how much else."""
    chance = Random(SEED + 1)
    gone = secrets = right = wrong = 0
    for template in chosen:
        text, spans = text_of(chance, template.text)
        hits = [(one.start, one.end) for one in find_secrets(text)]
        secrets += len(spans)
        gone += sum(any(a < end and start < b for a, b in hits) for start, end in spans)
        true = sum(any(a < end and start < b for start, end in spans) for a, b in hits)
        right, wrong = right + true, wrong + len(hits) - true
    print(f"{name}: recall {gone / secrets:.3f} of {secrets}, precision {right / (right + wrong):.3f}")  # noqa: T201


def main(arguments: Sequence[str]) -> None:
    """Fit, and write the weights or print figures."""
    texts = clean_texts()
    lines = [line for text in texts for line in text.splitlines() if line.strip() and len(line) < 200]
    all_templates = [template for name in TEMPLATES for template in templates(name)]
    drawn_too = [
        Template(name, "", text)
        for name, (draw, number) in DRAWN.items()
        for text in draw(Random(SEED), number)
    ]
    found, clean = list(examples([*all_templates, *drawn_too], lines)), list(clean_examples(texts))
    if "--validate" in arguments:
        validate(all_templates, found, clean)
    else:
        TARGET.write_bytes(compact(fitted([*found, *clean])))


if __name__ == "__main__":
    main(sys.argv[1:])
