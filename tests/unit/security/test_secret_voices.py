"""Recall and precision of redaction, character by character, on lines in several voices with all their secrets marked."""

from __future__ import annotations

import re
import string
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from clawmem.domain.security.redaction import redact
from clawmem.domain.security.secret_values import Span

DATA = Path(__file__).parents[2] / "data"
_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "base64": string.ascii_letters + string.digits + "+/",
    "hex": string.digits + "abcdef",
    "digits": string.digits,
    "upper": string.ascii_uppercase + "234567",
}


class MarkedText(NamedTuple):
    """A text with the places of its secrets."""

    text: str
    secrets: list[Span]


def marked_texts(name: str, seed: int) -> list[MarkedText]:
    """Read the templates of file *name*: kind, tab, text with «secret», ``{alphabet:length}`` and escapes."""
    chance = Random(seed)

    def drawn(match: re.Match[str]) -> str:
        return "".join(chance.choices(_ALPHABETS[match[1]], k=int(match[2])))

    texts = []
    for row in (DATA / name).read_text("utf-8").splitlines():
        template = row.partition("\t")[2].replace("\\n", "\n").replace("\\t", "\t")
        text, secrets = "", []
        for number, part in enumerate(re.split("[«»]", re.sub(r"\{(\w+):(\d+)\}", drawn, template))):
            if number % 2:
                secrets.append((len(text), len(text) + len(part)))
            text += part
        texts.append(MarkedText(text, secrets))
    return texts


@pytest.mark.parametrize(
    ("name", "least_recall", "least_precision", "most_changed"),
    [
        ("secret_lines_voices_a.tsv", 0.97, 0.97, 1 / 70),
        ("secret_lines_voices_b.tsv", 0.91, 0.97, 1 / 70),
        ("secret_lines_voices_d.tsv", 0.74, 0.95, 1 / 28),  # no rule and no weight was chosen on these
    ],
    ids=["team", "household", "unread"],
)
def test_recall_and_precision(
    name: str, least_recall: float, least_precision: float, most_changed: float
) -> None:
    """Every letter and digit of a secret goes, what is redacted is one, and few harmless lines change."""
    texts = marked_texts(name, 20261124)
    missed, right, wrong = [], 0, 0
    for text, secrets in texts:
        found = [(one.start, one.end) for one in redact(text).findings]
        hidden = {at for start, end in found for at in range(start, end)}
        for start, end in secrets:
            if any(text[at].isalnum() and at not in hidden for at in range(start, end)):
                missed.append((text, text[start:end]))
        hits = [any(start < last and first < end for first, last in secrets) for start, end in found]
        right, wrong = right + sum(hits), wrong + len(hits) - sum(hits)
    count = sum(len(one.secrets) for one in texts)
    harmless = [one.text for one in texts if not one.secrets]

    assert len(missed) <= (1 - least_recall) * count, missed
    assert right / (right + wrong) >= least_precision
    assert sum(bool(redact(one).findings) for one in harmless) <= len(harmless) * most_changed
