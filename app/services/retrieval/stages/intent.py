"""Intent of a question: classification, and fusion with weights that depend on it."""

from __future__ import annotations

import re
from types import MappingProxyType

from clawmem.app.services.retrieval.models import AnswerCache
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.retrievers import VECTOR
from clawmem.app.services.retrieval.stages.fuse import fused_documents
from clawmem.app.services.retrieval.work import Stage, Trace, Work
from clawmem.domain.retrieval import grains
from clawmem.domain.retrieval.intent import Classification, Intent, weights_for_intent
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.models import Generator

PURPOSE = "intent"
DEADLINE_S = 2.0  # after it the intent is WHAT, which is right for most questions with ambiguous words
MOST_TOKENS = 10
BY_MODEL, FORCED = 0.85, 1.0  # confidence

PROMPT = """\
What does this question about somebody's notes ask for? Answer with one word.
WHY: a reason, a cause, a decision. WHEN: a time or an order of events. ENTITY: a person, a project or a thing \
and what it has to do with others. WHAT: anything else.

Question: {query}
Answer:"""

_WORD = re.compile(rf"\b(?:{'|'.join(Intent)})\b", re.IGNORECASE)


def classify(
    forced: Intent | None = None,
    generator: Generator | None = None,
    cache: AnswerCache | None = None,
) -> Stage:
    """
    Return the stage that sets `Work.intent`.

    A *forced* intent is certain. The *generator* classifies questions whose words are ambiguous; *cache* keeps its
    results. If it fails, the classification by words stands, and the trace reports the failure.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        found = _forced(forced) if forced else request.question.intent
        if not found.is_decided and generator is not None:
            try:
                said = _asked(request, generator, cache)
                found = found._replace(intent=said, confidence=BY_MODEL) if said else found
            except ClawmemError as error:
                trace.degraded["intent"] = str(error)
        trace.stages[-1].notes.append(f"{found.intent} at {found.confidence:.2f}")
        return work._replace(intent=found)

    return stage


def intent_of(work: Work) -> Intent:
    """Return the intent of the question; WHAT if no stage classified it."""
    return work.intent.intent if work.intent else Intent.WHAT


def _forced(intent: Intent) -> Classification:
    return Classification(intent, FORCED, MappingProxyType({}))


def _asked(request: RetrievalRequest, generator: Generator, cache: AnswerCache | None) -> Intent | None:
    prompt = PROMPT.format(query=request.question.text)
    model = generator.fingerprint
    kept = cache.get(model, prompt) if cache else None
    said = kept or generator.generate(prompt, timeout_s=DEADLINE_S, max_tokens=MOST_TOKENS)
    word = _WORD.search(said)
    if word and cache and not kept:
        cache.keep(model, {prompt: word[0]})
    return Intent(word[0].upper()) if word else None


def fuse_by_intent(documents: DocumentStore) -> Stage:
    """Return a stage that sums scaled scores as in ``query``, with the weights from `weights_for_intent`."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        weights = weights_for_intent(grains.DOCUMENT_WEIGHTS, intent_of(work), VECTOR)
        return work.with_candidates(fused_documents(documents, request, work, weights))

    return stage
