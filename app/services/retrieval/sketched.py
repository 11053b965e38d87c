"""How near lines come to a question, by the sketches that both have."""

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

Seen = Mapping[str, Mapping[FragmentKey, float]]  # by leg, then by line

NAMES_SKETCHED = 16  # documents whose names are sketched for a question: a name takes about a millisecond
LEAST_KNOWN = 0.5  # of the lines; among fewer, order would depend on which of them happen to have a sketch


def serving_sketcher(vault: Vault, embedder: Embedder | None) -> Sketcher | None:
    """The model that the vault's sketches and vectors are of; ``None`` where there are none of its."""
    stored = vault.sketches.fingerprint()
    if stored is None or stored != vault.embeddings.fingerprint():
        return None  # before anything is asked of a model
    sketcher = sketcher_of(embedder)
    return sketcher if sketcher and sketcher.fingerprint == stored else None


def by_sketches(
    vault: Vault, sketcher: Sketcher, request: RetrievalRequest, keys: Sequence[FragmentKey]
) -> Seen:
    """
    Of each line how well it covers the question's words, and how near it is as a whole.

    Empty where too few lines have a sketch, or the question has no word that tells. A line without one counts as
    the middle of the others.
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
    """The sketches of the lines and of those around them; of an empty one nothing is known."""
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
    """Return what the names of documents lend to each word of the question, for names that hold one of its words."""
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
