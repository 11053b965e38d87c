"""
The numbers of `clawmem.domain.retrieval.relevance_model`, from judged collections and prompts without an answer.

``python tests/bench/fit_relevance.py collect FACTS.jsonl COLLECTION... [--minilm FOLDER]`` indexes each collection
with each embedder, asks its questions and those of ``tests/data/silence.jsonl``, and adds a line a question.
``python tests/bench/fit_relevance.py fit FACTS.jsonl RELIABILITY.svg`` fits, prints what goes into the module, what
the floor costs, and draws the reliability. Half of the prompts are for fitting; the figures are of the other half.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clawmem.domain.retrieval.relevance import DEFAULT_FLOOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
Fact = Mapping[str, Any]

SILENCE = Path(__file__).parents[1] / "data" / "silence.jsonl"
TOP = 10  # places of a list that are judged
RIDGE = 1e-3
BINS = 10
ANSWERED = ("line", "unknown", "entries", "cosine")
PLACED = ("relevance", "rank")


def main(command: str, facts: str, *others: str) -> None:
    """Collect, or fit."""
    if command == "collect":
        collect(Path(facts), list(others))
    else:
        fit_and_report([json.loads(line) for line in Path(facts).read_text("utf-8").splitlines()], others[0])


def collect(facts: Path, arguments: list[str]) -> None:
    """Ask every collection, document by document and, where turns are judged, line by line."""
    from clawmem.adapters.models.minilm.embedder import MiniLmEmbedder
    from clawmem.adapters.models.static import StaticEmbedder

    embedders: dict[str, Any] = {"static": StaticEmbedder()}
    if "--minilm" in arguments:
        at = arguments.index("--minilm")
        embedders["minilm"] = MiniLmEmbedder(Path(arguments[at + 1]))
        del arguments[at : at + 2]
    with facts.open("a", encoding="utf-8") as file:
        for folder in map(Path, arguments):
            for name, embedder in embedders.items():
                for fact in ask_collection(folder, name, embedder):
                    file.write(json.dumps(fact) + "\n")


def ask_collection(folder: Path, name: str, embedder: Any) -> Iterator[Fact]:
    """What is found for every question of a collection, all of it in one vault."""
    from clawmem.adapters.files.disk import DiskFiles
    from clawmem.adapters.files.front_matter import parse_yaml
    from clawmem.adapters.models.static_words import StaticWords
    from clawmem.adapters.sqlite.vault import SqliteVault
    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.services.indexing.embed import EmbedPending
    from clawmem.app.services.indexing.update import Folder, UpdateCollection
    from clawmem.app.services.retrieval.pipelines.query import query

    with tempfile.TemporaryDirectory() as place:
        vault = SqliteVault(str(Path(place) / "vault.db"))
        UpdateCollection(vault, DiskFiles(), SystemClock(), parse_yaml)(
            Folder("corpus", str(folder / "corpus"))
        )
        EmbedPending(vault, embedder)()
        pipeline = query(vault, embedder, StaticWords())
        for unit in ("document", "line") if (folder / "qrels_turn.tsv").exists() else ("document",):
            for text, judged in questions(folder, unit):
                yield {
                    "collection": folder.parent.name,
                    "embedder": name,
                    "unit": unit,
                    "real": judged is not None,
                    **asked(vault, pipeline, text, unit, judged or (lambda candidate: False)),
                }
        vault.close()


def questions(folder: Path, unit: str) -> Iterator[tuple[str, Callable[[Any], bool] | None]]:
    """Each question with what tells whether a candidate was judged an answer; prompts without an answer have none."""
    from clawmem.app.services.bench.collection import load_collection

    collection = load_collection(folder, turns=unit == "line")
    for question in collection.queries:
        grades = collection.grades[question.qid]
        yield question.text, lambda candidate, grades=grades: _is_judged(candidate, grades, collection)
    for line in SILENCE.read_text("utf-8").splitlines():
        yield json.loads(line)["text"], None


def _is_judged(candidate: Any, grades: Mapping[str, float], collection: Any) -> bool:
    name, span = candidate.document.path.removesuffix(".md"), candidate.span
    if span is None:
        return name in grades
    rows = collection.turn_lines.get(name, ())
    return any(span.start_line <= line <= span.end_line and turn in grades for line, turn in rows)


def asked(vault: Any, pipeline: Any, text: str, unit: str, judged: Callable[[Any], bool]) -> Fact:
    """The evidence for one question, and the places of its list."""
    from clawmem.app.services.retrieval.request import Unit, read_request
    from clawmem.app.services.retrieval.stages.judge import evidence_of

    request = read_request(text, now_ms=0, limit=TOP, unit=Unit(unit))
    work, _ = pipeline.rank(request)
    places = [[candidate.relevance, int(judged(candidate))] for candidate in work.candidates]
    return {"evidence": evidence_of(vault, request, work)._asdict(), "places": places}


def logistic(features: Floats, labels: Floats, weights: Floats) -> Floats:
    """
    Bias and slopes of a logistic regression, no slope below zero.

    Newton's method on standardised features with a small ridge; a slope that would be negative is left out.

    Args:
        features: Shape (n, k).
        labels: Shape (n,), 0 or 1.
        weights: Shape (n,), what each row counts.
    """
    mean, spread = features.mean(0), features.std(0) + 1e-9
    scaled, share = (features - mean) / spread, weights / weights.sum()
    free = list(range(features.shape[1]))
    while True:
        found = _newton(np.column_stack([np.ones(len(labels)), scaled[:, free]]), labels, share)
        if not free or found[1:].min() >= 0:
            break
        del free[int(found[1:].argmin())]
    slopes = np.zeros(features.shape[1])
    slopes[free] = found[1:] / spread[free]
    return np.concatenate([[found[0] - slopes @ mean], slopes])


def _newton(design: Floats, labels: Floats, share: Floats) -> Floats:
    found = np.zeros(design.shape[1])
    ridge = RIDGE * np.eye(len(found))
    ridge[0, 0] = 0
    for _ in range(100):
        predicted = sigmoid(design @ found)
        slope = design.T @ (share * (predicted - labels)) + 2 * ridge @ found
        curve = (design * (share * predicted * (1 - predicted))[:, None]).T @ design + 2 * ridge
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(found)), slope)
        found -= step * min(1.0, 2 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    return found


def sigmoid(log_odds: Floats) -> Floats:
    """Of every number."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))))


def evidence_rows(facts: Sequence[Fact], names: Sequence[str]) -> Floats:
    """One row a question: more is always better evidence."""
    columns = {
        "line": [np.log1p(f["evidence"]["line"]) for f in facts],
        "unknown": [-f["evidence"]["unknown"] for f in facts],
        "entries": [-np.log(f["evidence"]["entries"]) for f in facts],
        "cosine": [f["evidence"]["cosine"] or 0.0 for f in facts],
    }
    return np.column_stack([columns[name] for name in names])


def balanced(facts: Sequence[Fact]) -> Floats:
    """Every collection counts as much as every other, and so do its real questions and the prompts."""
    kinds = [(f["collection"], f["real"]) for f in facts]
    sizes = {kind: kinds.count(kind) for kind in set(kinds)}
    return np.array([1 / sizes[kind] for kind in kinds])


def fit_answered(facts: Sequence[Fact], names: Sequence[str]) -> Floats:
    """Real questions against prompts without an answer."""
    return logistic(evidence_rows(facts, names), np.array([float(f["real"]) for f in facts]), balanced(facts))


def probabilities(model: Floats, facts: Sequence[Fact], names: Sequence[str]) -> Floats:
    """That each question is answered."""
    return sigmoid(evidence_rows(facts, names) @ model[1:] + model[0])


def place_rows(fact: Fact) -> list[tuple[float, float, float]]:
    """(relevance, -log rank, judged) of each place."""
    return [(r, -np.log(rank), float(j)) for rank, (r, j) in enumerate(fact["places"][:TOP], start=1)]


def fit_placed(facts: Sequence[Fact]) -> Floats:
    """Judged items against the others in the lists of real questions."""
    real = [f for f in facts if f["real"]]
    rows = np.array([row for f in real for row in place_rows(f)])
    weights = np.concatenate(
        [np.full(len(f["places"][:TOP]), w) for f, w in zip(real, balanced(real), strict=True)]
    )
    return logistic(rows[:, :2], rows[:, 2], weights)


def fit_and_report(facts: Sequence[Fact], picture: str) -> None:
    """Everything that is printed, and the picture."""
    held_out = [f for place, f in enumerate(facts) if f["real"] or place % 2]
    fitted_on = [f for place, f in enumerate(facts) if f["real"] or not place % 2]
    curves = {}
    placed = {unit: fit_placed([f for f in facts if f["unit"] == unit]) for unit in ("document", "line")}
    for unit, model in placed.items():
        show(f"placed, {unit}", model, PLACED)
    for name, embedder, features in (
        ("static vectors", "static", ANSWERED),
        ("MiniLM", "minilm", ANSWERED),
        ("words alone", "static", ANSWERED[:3]),
    ):
        mine = [f for f in fitted_on if f["embedder"] == embedder]
        if mine:
            model = fit_answered(mine, features)
            show(f"answered, {name}", model, features)
            kept = [f for f in held_out if f["embedder"] == embedder]
            report_floor(mine, kept, model, features)
            curves[name] = confidences(kept, probabilities(model, kept, features), placed)
            report_reliability(curves[name])
    draw(curves, picture)


def say(line: str) -> None:
    """A line of the report."""
    sys.stdout.write(line + "\n")


def show(name: str, model: Floats, features: Sequence[str]) -> None:
    """A model as it goes into the module."""
    slopes = ", ".join(f"{n}={w:.4g}" for n, w in zip(features, model[1:], strict=True))
    say(f"{name}: bias={model[0]:.4g}, {slopes}")


def report_floor(
    fitted_on: Sequence[Fact], kept: Sequence[Fact], model: Floats, names: Sequence[str]
) -> None:
    """For each collection the share of silence and of answered questions lost; then fitted on the others alone."""
    for collection in sorted({f["collection"] for f in kept}):
        mine = [f for f in kept if f["collection"] == collection]
        others = fit_answered([f for f in fitted_on if f["collection"] != collection], names)
        figures = (
            f"silent {silent:.3f}, lost {lost:.3f}"
            for silent, lost in (floor_costs(mine, m, names) for m in (model, others))
        )
        say(f"  {collection:10} " + "; without it in the fit: ".join(figures))


def floor_costs(facts: Sequence[Fact], model: Floats, names: Sequence[str]) -> tuple[float, float]:
    """At the default floor: the share of prompts that are met with silence, and of recall that is lost."""
    below = probabilities(model, facts, names) < DEFAULT_FLOOR
    prompts = np.array([not f["real"] for f in facts])
    found = np.array([f["real"] and any(judged for _, judged in f["places"][:TOP]) for f in facts])
    return float(below[prompts].mean()), float(below[found].mean())


def confidences(
    facts: Sequence[Fact], answered: Floats, placed: Mapping[str, Floats]
) -> list[tuple[float, float, float]]:
    """(confidence, judged, weight) of every item of every list."""
    rows = []
    for fact, likely, weight in zip(facts, answered, balanced(facts), strict=True):
        model = placed[fact["unit"]]
        for relevance, rank, judged in place_rows(fact):
            here = sigmoid(np.array(model[0] + model[1] * relevance + model[2] * rank))
            rows.append((float(likely * here), judged, float(weight)))
    return rows


def reliability(rows: Iterable[tuple[float, float, float]]) -> list[tuple[float, float, int]]:
    """(mean confidence, share that answers, items) of each tenth of the scale that has any."""
    table = np.array(list(rows))
    bins = np.minimum((table[:, 0] * BINS).astype(int), BINS - 1)
    groups = [table[bins == number] for number in range(BINS) if (bins == number).any()]
    return [
        (float(np.average(g[:, 0], weights=g[:, 2])), float(np.average(g[:, 1], weights=g[:, 2])), len(g))
        for g in groups
    ]


def report_reliability(rows: Iterable[tuple[float, float, float]]) -> None:
    """The table behind the picture."""
    for confidence, share, items in reliability(rows):
        say(f"  confidence {confidence:.2f}  answers {share:.2f}  items {items}")


def draw(curves: Mapping[str, Sequence[tuple[float, float, float]]], picture: str) -> None:
    """A panel a model: what was promised against what held."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "clawmem", "font.size": 9})
    from matplotlib import pyplot

    canvas, panels = pyplot.subplots(
        1, len(curves), figsize=(3 * len(curves), 3.2), sharex=True, sharey=True, squeeze=False
    )
    for axes, (name, rows) in zip(panels.flat, curves.items(), strict=True):
        draw_panel(axes, name, reliability(rows))
    canvas.supxlabel("confidence", fontsize=9)
    canvas.supylabel("share that answers", fontsize=9)
    canvas.tight_layout()
    canvas.savefig(picture, metadata={"Date": None} if picture.endswith(".svg") else None, dpi=110)


def draw_panel(axes: Axes, name: str, table: Sequence[tuple[float, float, int]]) -> None:
    """The diagonal is perfect; a dot is as large as its tenth has items."""
    promised, held, items = zip(*table, strict=True)
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
    axes.plot(promised, held, color="#0072b2", linewidth=1)
    axes.scatter(promised, held, s=[8 + 6 * np.log1p(count) for count in items], color="#0072b2")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_title(name, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main(*sys.argv[1:])
