"""Similarity of lines to a question by their sketches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.app.services.retrieval.names import lent_words, names_of
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.retrieval import grains
from clawmem.domain.retrieval.late_interaction import around, line_coverage
from clawmem.domain.retrieval.query_forms import STOP_WORDS
from clawmem.domain.retrieval.sketches import Rows, agreement, nearest_words, read_rows
from clawmem.ports.embedder import Embedder
from clawmem.ports.records import FragmentKey
from clawmem.ports.sketches import Sketcher, sketcher_of
from clawmem.ports.vault import Vault

Seen = Mapping[str, Mapping[FragmentKey, float]]  # score by name of the signal and by line

NAMES_SKETCHED = 16  # documents whose names are sketched per question; a name takes about a millisecond
LEAST_KNOWN = 0.5  # least share of lines with a sketch; with fewer, the order would be arbitrary


def serving_sketcher(vault: Vault, embedder: Embedder | None) -> Sketcher | None:
    """Return the model of the vault's sketches and vectors; ``None`` if the embedder is another model."""
    stored = vault.sketches.fingerprint()
    if stored is None or stored != vault.embeddings.fingerprint():
        return None  # avoids loading the model
    sketcher = sketcher_of(embedder)
    return sketcher if sketcher and sketcher.fingerprint == stored else None


def by_sketches(
    vault: Vault, sketcher: Sketcher, request: RetrievalRequest, keys: Sequence[FragmentKey]
) -> Seen:
    """
    Return for each line how well it covers the words of the question, and its similarity as a whole.

    Empty if too few lines have a sketch, or the question has no significant word. A line without a sketch gets the
    mean of the others.
    """
    lines = _read(vault, sketcher, keys)
    known = [key for key in keys if key in lines]
    if len(known) < max(1.0, LEAST_KNOWN * len(keys)):
        return {}
    question = read_rows(sketcher.sketch([request.query], STOP_WORDS)[0], sketcher.dimensions)
    if question is None or not question.words:
        return {}
    return _seen(question, lines, keys, known, _named(vault, sketcher, request, question, known))


def _read(vault: Vault, sketcher: Sketcher, keys: Sequence[FragmentKey]) -> dict[FragmentKey, Rows]:
    """Return the sketches of the lines and of adjacent lines, without empty sketches."""
    stored = vault.sketches.of(around(keys))
    found = ((key, read_rows(sketch, sketcher.dimensions)) for key, sketch in stored.items())
    return {key: rows for key, rows in found if rows is not None}


def _seen(
    question: Rows,
    lines: Mapping[FragmentKey, Rows],
    keys: Sequence[FragmentKey],
    known: Sequence[FragmentKey],
    named: Mapping[int, Sequence[float]],
) -> Seen:
    equal = (1.0 / len(question.words),) * len(question.words)
    nearest = {key: nearest_words(question, rows) for key, rows in lines.items()}
    whole = {key: agreement(question.whole, lines[key].whole, question.bits) for key in known}
    return {
        grains.COVERAGE: _completed(line_coverage(known, nearest, equal, names=named), keys),
        grains.WHOLE: _completed(whole, keys),
    }


def _named(
    vault: Vault, sketcher: Sketcher, request: RetrievalRequest, question: Rows, keys: Sequence[FragmentKey]
) -> dict[int, list[float]]:
    """Return what document names contribute to each word of the question, for names that contain one of its words."""
    names = names_of(vault, keys)
    lent = {number: max(row) for number, row in lent_words(request.forms.words, names).items()}
    chosen = sorted(lent, key=lambda number: (-lent[number], number))[:NAMES_SKETCHED]
    sketches = sketcher.sketch([". ".join(names[number]) for number in chosen], STOP_WORDS) if chosen else []
    found = zip(chosen, (read_rows(sketch, sketcher.dimensions) for sketch in sketches), strict=True)
    return {
        number: [lent[number] * near for near in nearest_words(question, rows)]
        for number, rows in found
        if rows is not None
    }


def _completed(known: Mapping[FragmentKey, float], keys: Sequence[FragmentKey]) -> dict[FragmentKey, float]:
    middle = sum(known.values()) / len(known)
    return {key: known.get(key, middle) for key in keys}
