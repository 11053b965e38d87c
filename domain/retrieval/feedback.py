"""Other words for a question, taken from the first answers to it: no model, no network."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval.query_forms import STOP_WORDS

FEEDBACK_DOCUMENTS = 10
FEEDBACK_TERMS = 10
QUESTION_SHARE = 0.5  # lambda
_SHORTEST_TERM = 2


def feedback_terms(
    question: Sequence[str],
    answers: Sequence[tuple[str, float]],
    *,
    documents: int = FEEDBACK_DOCUMENTS,
    terms: int = FEEDBACK_TERMS,
    share: float = QUESTION_SHARE,
) -> list[tuple[str, float]]:
    """
    Weighted terms by the relevance model RM3 (Lavrenko and Croft 2001; Abdul-Jaleel et al. 2004).

    Of each word w the model is ``P(w) = sum over answers of P(w | answer) * P(answer)``: the share of the
    answer's words that are w, times the answer's share of all scores. Its most likely *terms* are scaled
    to 1 and mixed with the question's own words: ``share * Q(w) + (1 - share) * P(w)``. Stop words and single
    characters of the answers are left out.

    Args:
        question: Its words, lower case.
        answers: (text, score), best first; scores that are not finite and positive leave an answer out.
        documents: How many answers are believed.
        share: λ, what the question itself is worth: 1 leaves it as it is, 0 leaves it out.

    Returns:
        (term, weight), heaviest first, then by term; the weights add up to 1 unless there is nothing.

    Raises:
        ValueError: *share* is not between 0 and 1, or *documents* or *terms* is negative.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share must lie between 0 and 1, not {share}")
    if documents < 0 or terms < 0:
        raise ValueError(f"documents and terms cannot be negative: {documents}, {terms}")
    asked = _scaled(Counter(question))
    model = _scaled(_heaviest(_relevance_model(answers[:documents]), terms))
    if not model or not asked:
        share = 1.0 if asked else 0.0  # what there is has all the weight
    mixed = {w: share * asked.get(w, 0.0) + (1 - share) * model.get(w, 0.0) for w in {*asked, *model}}
    return sorted(
        ((word, weight) for word, weight in mixed.items() if weight), key=lambda one: (-one[1], one[0])
    )


def _relevance_model(answers: Sequence[tuple[str, float]]) -> dict[str, float]:
    believed = [(text, score) for text, score in answers if math.isfinite(score) and score > 0]
    best = max((score for _, score in believed), default=1.0)
    likely: dict[str, list[float]] = {}
    for text, score in believed:
        for word, portion in _scaled(Counter(_content(text))).items():
            likely.setdefault(word, []).append(portion * (score / best))
    return {word: math.fsum(portions) for word, portions in likely.items()}


def _content(text: str) -> list[str]:
    return [word for word in words(text) if len(word) >= _SHORTEST_TERM and word not in STOP_WORDS]


def _heaviest(weights: dict[str, float], count: int) -> dict[str, float]:
    ordered = sorted(weights, key=lambda word: (-weights[word], word))
    return {word: weights[word] for word in ordered[:count]}


def _scaled(weights: Counter[str] | dict[str, float]) -> dict[str, float]:
    total = math.fsum(weights.values())
    return {word: weight / total for word, weight in weights.items()} if total else {}
