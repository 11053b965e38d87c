"""The two pipelines of a prompt: candidate generation and filters. Optional model stages run between them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import NamedTuple

from clawmem.app.services.retrieval.compare import compare
from clawmem.app.services.retrieval.cut import cut_by_note
from clawmem.app.services.retrieval.dates import select_by_date
from clawmem.app.services.retrieval.fuse import fuse
from clawmem.app.services.retrieval.models import NO_MODELS, Models
from clawmem.app.services.retrieval.retrievers import (
    lexical_retriever,
    local_retrievers,
    temporal_retriever,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import NamedThreads, RunRetrievers
from clawmem.app.services.retrieval.score import score
from clawmem.app.services.retrieval.supersede import successors_above, supersede
from clawmem.app.services.retrieval.work import RetrievalStores, Stage
from clawmem.app.services.surfacing.candidates import about_named_files, answering, first_notes
from clawmem.app.services.surfacing.choices import Choices
from clawmem.app.services.surfacing.filters import (
    activated,
    confident,
    focused,
    guarded,
    repeated_last,
    threshold,
    varied,
    visible,
    wished,
)
from clawmem.app.services.surfacing.stated import stated
from clawmem.app.services.surfacing.stores import SurfacingStores
from clawmem.domain.retrieval.grains import VECTOR
from clawmem.domain.surfacing.profiles import Profile
from clawmem.ports.models import Embedder, LateInteraction


class RetrievalDependencies(NamedTuple):
    """
    Dependencies of retrieval; every model is optional.

    Attributes:
        embedder: Model for query vectors.
        late: Late-interaction model for comparing candidates with the query.
        confidence: Stage that makes scores absolute.
        models: Opens the generator and reranker that a deep profile uses.
        threads: Thread pool of a long-running process, in which retrievers run.
    """

    embedder: Embedder | None = None
    late: LateInteraction | None = None
    confidence: Stage = confident
    models: Callable[[], AbstractContextManager[Models]] = lambda: nullcontext(NO_MODELS)
    threads: NamedThreads | None = None


def finding(stores: RetrievalStores, means: RetrievalDependencies, choices: Choices) -> dict[str, Stage]:
    """
    Return the stages of candidate generation, ending with the answerability check.

    Retrieves lines as the command `query` does, or as `search` does if the profile allows no model. A vault without
    embeddings is searched lexically only.
    """
    documents, lexical, embeddings = stores.documents, stores.lexical, stores.embeddings
    profile = choices.profile
    by_meaning = profile.by_meaning and embeddings.fingerprint() is not None
    embedder = means.embedder if by_meaning else None
    late = means.late if profile.by_meaning else None
    comparison = {"compare": compare(stores, late, embedder)} if late else {}
    return {
        "search": _asking(stores, means, embedder, profile),
        "fuse": fuse,
        **comparison,
        "named files": about_named_files(documents, lexical),
        "first notes": first_notes(documents, lexical, embeddings, comparison),
        "dates": select_by_date(stores),
        "confidence": answering(documents, lexical, embeddings, choices.prompt),
    }


def settling(stores: SurfacingStores, means: RetrievalDependencies, choices: Choices) -> dict[str, Stage]:
    """Return the stages that filter and order the candidates for the block."""
    retrieval = stores.retrieval
    documents, lexical, successions = retrieval.documents, retrieval.lexical, retrieval.successions
    return {
        "score": score,
        "confident": means.confidence,
        "supersede": supersede(retrieval, of_lines=True),
        "visible": visible(documents, stores.captures, choices),
        "focused": focused(documents, choices.topic),
        "threshold": threshold(choices.profile, choices.mode),
        "activated": activated(stores.usage),
        "varied": varied(documents),
        "wished": wished(documents),
        "repeated last": repeated_last(documents),
        "successors above": successors_above(documents, successions),
        "cut": cut_by_note,
        "stated": stated(documents, lexical),
        "guarded": guarded(documents),
    }


def _asking(
    stores: RetrievalStores, means: RetrievalDependencies, embedder: Embedder | None, profile: Profile
) -> Stage:
    legs = {"lexical": lexical_retriever(stores.lexical)}
    if embedder is not None:
        legs["vector"] = vector_retriever(stores.vectors, stores.embeddings, embedder)
        legs["temporal"] = temporal_retriever(stores.documents)
    return RunRetrievers(
        legs,
        profile.deadline_s,
        patience_s={VECTOR: profile.vector_s},
        threads=means.threads,
        at_hand=partial(local_retrievers, stores.lexical, stores.vectors, embedder),
    )
