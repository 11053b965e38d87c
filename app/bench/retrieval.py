"""Retrieval benchmark on a judged collection, in a vault of its own."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING

from ir_measures import RR, R, Success, calc_aggregate, nDCG

from clawmem.app.bench.collection import JudgedCollection
from clawmem.app.services.indexing.embed import EmbedPending
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.app.services.progress import Progress
from clawmem.app.services.retrieval.pipelines import Pipeline
from clawmem.app.services.retrieval.request import Ranking, Unit, read_request
from clawmem.app.services.retrieval.work import Candidate
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.int32]


Measures = dict[str, float]

_MEASURES = {
    **{f"recall@{k}": R @ k for k in (1, 5, 10)},
    **{f"hit@{k}": Success @ k for k in (1, 5, 10)},
    "ndcg@10": nDCG @ 10,
    "mrr@10": RR @ 10,
}
_RESAMPLES = 1000
_SEED = 7  # makes tables reproducible


def measure(ranking: Iterable[str], grades: Mapping[str, int]) -> Measures:
    """
    Return recall@k (share of the answers in the top k), hit@k (1 if any is), nDCG@10 and MRR@10.

    The values are those of trec_eval: nDCG has linear gain and a log2(rank + 1) discount.
    """
    scores = {item: -rank for rank, item in enumerate(dict.fromkeys(ranking))}
    found = calc_aggregate(_MEASURES.values(), {"": grades}, {"": scores})
    return {name: found[measure_] for name, measure_ in _MEASURES.items()}


def mean(rows: Sequence[Measures]) -> Measures:
    """Return the mean of each measure; *rows* must not be empty."""
    return {name: math.fsum(row[name] for row in rows) / len(rows) for name in rows[0]}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """
    Return the 95 % percentile bootstrap interval of the mean (Efron 1979), with 1000 resamples and a fixed seed.

    For per-question differences between two systems, this is the paired interval.
    """
    import numpy as np

    means = np.sort(np.asarray(values, dtype=np.float64)[_resamples(len(values))].mean(axis=1))
    return float(means[int(0.025 * _RESAMPLES)]), float(means[int(0.975 * _RESAMPLES) - 1])


def percentile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least *share* of all values do not exceed; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


@lru_cache(32)  # a report needs many intervals for the same few numbers of questions
def _resamples(count: int) -> Places:
    """Return the indices that each resample draws from *count* values; the same ones for every measure."""
    import numpy as np

    # From the standard library, whose sequence is guaranteed, unlike numpy's.
    rng = random.Random(_SEED)
    drawn = [rng.choices(range(count), k=count) for _ in range(_RESAMPLES)]
    return np.array(drawn, dtype=np.int32)


POOLED = "corpus"
DEPTH = 100


@dataclass(slots=True)
class BenchReport:
    """
    Results of a benchmark.

    ``query_ms`` has the wall-clock time of each answer of ten results with snippets. ``groups`` maps a category (and ``all``) to its number of questions, the mean of each measure and its 95 %
    interval; ``run`` is the ranking of each question as (item, score).
    """

    documents: int = 0
    index_s: float = 0.0
    embed_s: float = 0.0
    query_ms: list[float] = field(default_factory=list)
    groups: dict[str, dict[str, object]] = field(default_factory=dict)
    run: dict[str, list[tuple[str, float]]] = field(default_factory=dict)


def measure_retrieval(
    update: UpdateCollection,
    embed: EmbedPending | None,
    pipeline: Pipeline,
    now_ms: int,
    collection: JudgedCollection,
    *,
    turns: bool,
    pooled: bool,
    ranking: Ranking = Ranking.CALIBRATED,
    progress: Progress = lambda done, total: None,
) -> BenchReport:
    """Index a collection in a vault, which should be empty; answer every question, and compare the results with the judgements."""
    report, queries = BenchReport(), collection.queries
    scopes = [] if pooled else sorted({query.scope for query in queries if query.scope})
    folders = [Folder(scope, str(collection.corpus / scope)) for scope in scopes]
    began = perf_counter()
    for folder in folders or [Folder(POOLED, str(collection.corpus))]:
        passed = update(folder)
        if not passed.added + passed.updated + passed.unchanged:
            reason = " ".join(passed.problems) or "no file matches."
            raise InvalidInput("INVALID_INPUT", f"{folder.root} has no document to index: {reason}")
        report.documents += passed.added
    report.index_s = perf_counter() - began
    if embed:
        began = perf_counter()
        embed()
        report.embed_s = perf_counter() - began
    rows: dict[str, list[Measures]] = defaultdict(list)
    for done, query in enumerate(queries, start=1):
        request = read_request(
            query.text,
            show_all=True,
            now_ms=now_ms,
            limit=DEPTH,
            collections=[query.scope] if scopes and query.scope else [],
            unit=Unit.LINE if turns else Unit.DOCUMENT,
            ranking=ranking,
        )
        began = perf_counter()
        pipeline(request._replace(limit=10))
        report.query_ms.append((perf_counter() - began) * 1000)
        work, _ = pipeline.rank(request)
        run = [(_item(candidate, bool(scopes)), candidate.score) for candidate in work.candidates]
        items = [item for item, _ in run]
        measures = measure(unrolled(items, collection) if turns else items, collection.grades[query.qid])
        report.run[query.qid] = run
        rows["all"].append(measures)
        rows[query.category].append(measures)
        progress(done, len(queries))
    for name, group in rows.items():
        intervals = {key: interval([row[key] for row in group]) for key in group[0]}
        report.groups[name] = {"n": len(group), "mean": mean(group), "interval95": intervals}
    return report


def _item(candidate: Candidate, scoped: bool) -> str:
    document = candidate.document
    assert document, "a ranked candidate has a document"
    name = (document.display_path if scoped else document.path).removesuffix(".md")
    span = candidate.span
    return f"{name}:{span.start_line}-{span.end_line}" if span else name


def unrolled(items: Sequence[str], collection: JudgedCollection) -> list[str]:
    """Replace spans of lines by their turns, each with a rank of its own, so that long spans lower later ranks."""
    turns: dict[str, None] = {}
    for item in items:
        document, _, span = item.rpartition(":")
        first, _, last = span.partition("-")
        rows = collection.turn_lines.get(document, [])
        for line, turn in rows[bisect_left(rows, (int(first), "")) :]:
            if line > int(last):
                break
            turns.setdefault(turn)
    return list(turns)
