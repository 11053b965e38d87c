"""
Fit the weights of `clawmem.domain.retrieval.relevance_weights`, and write that module with ``--write``.

``python tests/bench/fit_relevance.py --data EVAL/data --minilm FOLDER [--facts FILE] [--picture FILE.svg] [--write]``

Four vaults come with the repository: the example notes and the vaults of ``tests/data``, asked with
``tests/data/relevance_questions.jsonl`` (names, single words, identifiers, short look-ups, sentences, and questions on
and off the subject that nothing answers), ``attribute_pairs.jsonl`` and the questions of each vault, but not those in
other words. ``--data`` adds judged collections, asked with their own questions and with ``silence.jsonl``. Questions about documents are also asked of the vault without the
notes that answer them: what remains is about the topic and does not answer. Every collection is indexed with every embedder; what is found
is kept in ``--facts`` and read from there the next time. Printed are figures of each
collection from a model that was fitted on all others.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from vault_stores import retrieval_stores
from weights_file import fitted_weights, text_of_module, write
from wired import embed_pending, update_collection

from clawmem.domain.retrieval.relevance import LIKELY, POSSIBLE
from clawmem.domain.retrieval.relevance_model import (
    COUNTED_ENTRIES,
    MOST_COVERAGE,
    AnsweredWeights,
    PlacedWeights,
)
from clawmem.domain.retrieval.requested import Shortfall
from clawmem.ports.records import Grain, LexicalQuery

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
Fact = Mapping[str, Any]
Judge = Callable[[Any], bool]
Asked = tuple[str, str, Judge | None]  # a unit, a question, and what tells an answer; none for one without

TESTS = Path(__file__).parents[1]
OWN_VAULTS = {
    "examples": TESTS.parent / "examples" / "notes",
    "ownervault": TESTS / "data" / "ownervault",
    "householdvault": TESTS / "data" / "householdvault",
    "obsidianvault": TESTS / "data" / "obsidianvault",
}
SEVERAL_SUBJECTS = ("locomo",)  # judged collections whose other documents do not answer the same questions
TOP = 10  # places of a list that are judged
RIDGE = 1e-3
BINS = 10
LACKS = Shortfall._fields
ANSWERED = ("line", "unknown", "entries", "cosine", "coverage", "words", *(f"unmet {name}" for name in LACKS))
FOUND = 5  # an answer that is not among the first results is no evidence of how questions with an answer look
WITHHELD = 0.06  # what the questions without their answers count, as other notes answer some of them in part
BY_WORDS = tuple(name for name in ANSWERED if name != "cosine")
# A likely result of a question without an answer does less harm than the loss of an answer.
LENIENCY = 0.3
# The block of a prompt hides lines of unlikely notes below a likely one: with 0, LoCoMo loses 1.2 of 100 answers, so the
# best line is never quite likely.
PLACE_LENIENCY = {"document": 0.0, "line": -0.2}
ANSWERED_FITS = {  # embedder, its family, features
    "static vectors": ("static", "wordllama:l2_supercat", ANSWERED),
    "MiniLM": ("minilm", "minilm:384", ANSWERED),
    "words alone": ("static", "", BY_WORDS),
}
WEIGHTS = "clawmem.domain.retrieval.relevance_weights"
SOURCE = "clawmem.domain.retrieval.relevance_model"
SCRIPT = "tests/bench/fit_relevance.py"
PLACED = {
    "document": ("relevance", "rank", "coverage", "name", "name_coverage"),
    "line": ("relevance", "rank"),
}


def main() -> None:
    """Collect what is not collected yet, fit, and report."""
    parser = argparse.ArgumentParser(description="Fit the relevance model.")
    parser.add_argument("--data", type=Path, help="a folder of judged collections, NAME/dev below it")
    parser.add_argument("--minilm", type=Path, help="the folder of models with MiniLM")
    parser.add_argument("--facts", type=Path, help="where what was found is kept between runs")
    parser.add_argument("--picture", help="draw the reliability into this file")
    parser.add_argument("--write", action="store_true", help="write the module of the weights")
    given = parser.parse_args()
    if given.facts and given.facts.exists():
        facts = [json.loads(line) for line in given.facts.read_text("utf-8").splitlines()]
    else:
        facts = list(collect(given.data, given.minilm))
        if given.facts:
            given.facts.write_text("".join(json.dumps(fact) + "\n" for fact in facts), "utf-8")
    fitted = fit_and_report(facts, given.picture)
    if given.write:
        write(WEIGHTS, text_of_module(SCRIPT, SOURCE, fitted))


def collect(data: Path | None, minilm: Path | None) -> Iterator[Fact]:
    """Ask every vault with every embedder; judged collections also line by line where turns are judged."""
    from clawmem.adapters.models.catalogue import embedder_named
    from clawmem.adapters.models.static import StaticEmbedder

    embedders: dict[str, Any] = {"static": StaticEmbedder()}
    if minilm:
        embedders["minilm"] = embedder_named("minilm", minilm)
    judged = sorted(data.glob("*/dev/queries.jsonl")) if data else []
    for name, embedder in embedders.items():
        for vault, notes in OWN_VAULTS.items():
            yield from ask_vault(vault, notes, name, embedder, own_questions(vault, notes))
        for folder in (path.parent for path in judged):
            asked = list(judged_questions(folder))
            yield from ask_vault(folder.parent.name, folder / "corpus", name, embedder, asked)


def ask_vault(
    collection: str, notes: Path, name: str, embedder: Any, asked: Iterable[Asked]
) -> Iterator[Fact]:
    """What is found for every question, all notes in one vault."""
    from clawmem.adapters.files.disk import DiskFiles
    from clawmem.adapters.files.front_matter import parse_yaml
    from clawmem.adapters.models.static import StaticWords
    from clawmem.adapters.sqlite.vault import open_vault
    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.services.retrieval.pipelines import query

    sys.stderr.write(f"{collection}, {name}\n")
    with tempfile.TemporaryDirectory() as place:
        vault = open_vault(str(Path(place) / "vault.db"))
        update_collection(vault, DiskFiles(), SystemClock(), parse_yaml)(Folder("corpus", str(notes)))
        embed_pending(vault, embedder)()
        pipeline = query(retrieval_stores(vault), embedder, StaticWords())
        for unit, text, judge in asked:
            found = evidence_and_places(vault, pipeline, text, unit, judge or (lambda candidate: False))
            about = {"collection": collection, "embedder": name, "unit": unit}
            yield {**about, "real": judge is not None, "withheld": False, **found}
            if judge and unit == "document" and collection in (*OWN_VAULTS, *SEVERAL_SUBJECTS):
                rest = evidence_and_places(
                    vault, pipeline, text, unit, lambda candidate: False, without=judge
                )
                yield {**about, "real": False, "withheld": True, **rest}
        vault.close()


def own_questions(vault: str, notes: Path) -> Iterator[Asked]:
    """The labelled questions to a vault of the repository."""
    for row in _rows("relevance_questions.jsonl"):
        if row["vault"] == vault:
            yield "document", row["text"], _judge(row, notes)
    if (TESTS / "data" / f"{vault}_questions.jsonl").exists():
        for row in _rows(f"{vault}_questions.jsonl")[1:]:
            yield "document", row["text"], _judge(row, notes)
    for row in _rows("attribute_pairs.jsonl"):
        if row["vault"] == vault:
            yield "document", row["answered"], _judge(row, notes)
            yield "document", row["unanswered"], None


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TESTS / "data" / name).read_text("utf-8").splitlines()]


def _judge(row: Mapping[str, Any], notes: Path) -> Judge | None:
    """An answer is a note that is listed, or one that holds a text; ``None`` for a question without an answer."""
    if "relevant" not in row and "holds" not in row:
        return None
    paths = set(row.get("relevant", ()))
    if "holds" in row:
        held = row["holds"].casefold()
        files = {str(path.relative_to(notes)): path.read_text("utf-8") for path in notes.rglob("*.md")}
        paths |= {path for path, text in files.items() if held in text.casefold() or held in path.casefold()}
    return lambda candidate: candidate.document.path in paths


def judged_questions(folder: Path) -> Iterator[Asked]:
    """The questions of a judged collection, and prompts without an answer, for every unit that is judged."""
    from clawmem.app.bench.collection import load_collection

    for unit in ("document", "line") if (folder / "qrels_turn.tsv").exists() else ("document",):
        collection = load_collection(folder, turns=unit == "line")
        for question in collection.queries:
            grades = collection.grades[question.qid]
            yield unit, question.text, lambda c, g=grades, of=collection: _is_judged(c, g, of)
        for row in _rows("silence.jsonl"):
            yield unit, row["text"], None


def _is_judged(candidate: Any, grades: Mapping[str, int], collection: Any) -> bool:
    name, span = candidate.document.path.removesuffix(".md"), candidate.span
    if span is None:
        return name in grades
    rows = collection.turn_lines.get(name, ())
    return any(span.start_line <= line <= span.end_line and turn in grades for line, turn in rows)


def evidence_and_places(
    vault: Any, pipeline: Any, text: str, unit: str, judge: Judge, *, without: Judge | None = None
) -> Fact:
    """The evidence for one question, and the places of its list; not of the notes that *without* holds."""
    from clawmem.app.services.retrieval.confidence import evidence_of, places_of, statistics_of
    from clawmem.app.services.retrieval.request import Unit, read_request

    request = read_request(text, now_ms=0, limit=TOP, unit=Unit(unit), show_all=True)
    if without:
        every = vault.documents.many(vault.documents.ids(request.scope))
        rest = {
            number for number, one in every.items() if not without(SimpleNamespace(document=one, span=None))
        }
        request = request._replace(scope=request.scope._replace(documents=frozenset(rest)))
    work, _ = pipeline.rank(request)
    words = statistics_of(vault.lexical, request, work)
    if without:
        words = words._replace(unknown=_unknown(vault, request))
    pairs = zip(places_of(request, work, words), work.candidates, strict=True)
    places = [{**place._asdict(), "judged": int(judge(candidate))} for place, candidate in pairs]
    evidence = evidence_of(vault.lexical, work, words)
    return {"evidence": {**evidence._asdict(), "unmet": list(evidence.unmet)}, "places": places}


def _unknown(vault: Any, request: Any) -> float:
    """The share of words that no document of the request's scope contains."""
    terms = request.question.forms.relaxed.terms
    held = [vault.lexical.search(LexicalQuery((term,)), Grain.DOCUMENT, 1, request.scope) for term in terms]
    return sum(not one for one in held) / max(1, len(terms))


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
    every = [fact["evidence"] for fact in facts]
    columns = {
        "line": [np.log1p(e["line"]) for e in every],
        "unknown": [-e["unknown"] for e in every],
        "entries": [-np.log(np.clip(e["entries"], *COUNTED_ENTRIES)) for e in every],
        "cosine": [e["cosine"] or 0.0 for e in every],
        "coverage": [min(MOST_COVERAGE, e["coverage"]) for e in every],
        "words": [np.log(max(1, e["words"])) for e in every],
        **{f"unmet {name}": [-e["unmet"][at] for e in every] for at, name in enumerate(LACKS)},
    }
    return np.column_stack([columns[name] for name in names])


def place_rows(facts: Sequence[Fact], names: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """Features, judgement and weight of each place of each list."""
    rows, judged, weights = [], [], []
    for fact, weight in zip(facts, balanced(facts), strict=True):
        for place in fact["places"][:TOP]:
            covered, is_name = min(MOST_COVERAGE, place["coverage"]), float(place["is_name"])
            values = {
                "relevance": place["relevance"],
                "rank": -np.log(place["rank"]),
                "coverage": covered,
                "name": is_name,
                "name_coverage": is_name * covered,
            }
            rows.append([values[name] for name in names])
            judged.append(float(place["judged"]))
            weights.append(weight)
    return np.array(rows), np.array(judged), np.array(weights)


def balanced(facts: Sequence[Fact]) -> Floats:
    """Every collection counts as much as every other, and so do its real questions and the others."""
    kinds = [(fact["collection"], fact["real"], fact["withheld"]) for fact in facts]
    sizes = Counter(kinds)
    return np.array([(WITHHELD if kind[2] else 1) / sizes[kind] for kind in kinds])


def fit_answered(facts: Sequence[Fact], names: Sequence[str]) -> Floats:
    """Real questions whose answer was found against those without an answer."""
    facts = [f for f in facts if not f["real"] or any(place["judged"] for place in f["places"][:FOUND])]
    return logistic(evidence_rows(facts, names), labels(facts), balanced(facts))


def fit_placed(facts: Sequence[Fact], unit: str) -> Floats:
    """Answers against the other places in the lists of real questions."""
    return logistic(*place_rows([fact for fact in facts if fact["real"]], PLACED[unit]))


def labels(facts: Sequence[Fact]) -> Floats:
    """1 for a question with an answer, 0 for one without."""
    return np.array([float(fact["real"]) for fact in facts])


def predicted(model: Floats, rows: Floats) -> Floats:
    """The probability of each row."""
    return sigmoid(rows @ model[1:] + model[0])


def fit_and_report(facts: Sequence[Fact], picture: str | None) -> dict[str, Any]:
    """Everything that is printed, and the picture; return the constants of the module."""
    curves = {}
    for name, (embedder, _, features) in ANSWERED_FITS.items():
        mine = [fact for fact in facts if fact["embedder"] == embedder]
        for unit in sorted({fact["unit"] for fact in mine}):
            say(name)
            rows = left_out(mine, features, unit)
            if unit == "document":
                curves[name] = rows
    if picture:
        draw(curves, picture)
    return constants(facts)


def constants(facts: Sequence[Fact]) -> dict[str, Any]:
    """The weights that are fitted on all *facts*, by the name of their constant."""
    units = sorted({fact["unit"] for fact in facts})
    placed = {
        unit: fitted_weights(
            PlacedWeights,
            PLACED[unit],
            fit_placed([f for f in facts if f["unit"] == unit], unit).tolist(),
            PLACE_LENIENCY[unit],
        )
        for unit in units
    }
    answered = {}
    for name, (embedder, family, features) in ANSWERED_FITS.items():
        if mine := [fact for fact in facts if fact["embedder"] == embedder]:
            model = fit_answered(mine, features).tolist()
            answered[family or name] = fitted_weights(AnsweredWeights, features, model, LENIENCY)
    return {"ANSWERED_BY_WORDS": answered.pop("words alone"), "ANSWERED": answered, "PLACED": placed}


def left_out(facts: Sequence[Fact], names: Sequence[str], unit: str) -> list[tuple[float, float, float]]:
    """Report each collection by models fitted on all others; (confidence, judged, weight) of every place."""
    every: list[tuple[float, float, float]] = []
    for collection in sorted({f["collection"] for f in facts if f["unit"] == unit}):
        mine = [f for f in facts if f["collection"] == collection and f["unit"] == unit]
        others = [f for f in facts if f["collection"] != collection]
        likely = predicted(fit_answered(others, names), evidence_rows(mine, names))
        of_unit = [f for f in others if f["unit"] == unit]
        if not any(f["real"] for f in of_unit):
            continue
        confidence = confidences(mine, likely, fit_placed(of_unit, unit), unit)
        say(f"  {unit} {collection:10} {question_figures(likely, mine)}; {first_figures(confidence, mine)}")
        for fact, some, weight in zip(mine, confidence, balanced(mine), strict=True):
            judged = (float(place["judged"]) for place in fact["places"][:TOP])
            every += [(one, is_answer, float(weight)) for one, is_answer in zip(some, judged, strict=True)]
    return every


def confidences(facts: Sequence[Fact], likely: Floats, placed: Floats, unit: str) -> list[list[float]]:
    """The confidence of every place of every list."""
    found = []
    for fact, any_answers in zip(facts, likely, strict=True):
        rows = place_rows([fact], PLACED[unit])[0]
        here = predicted(placed, rows) if len(rows) else np.array([])
        found.append([float(any_answers * one) for one in here])
    return found


def question_figures(likely: Floats, facts: Sequence[Fact]) -> str:
    """How well questions with an answer are told from those without."""
    real, weights = labels(facts), balanced(facts) / balanced(facts).sum()
    sure = np.clip(likely, 1e-6, 1 - 1e-6)
    brier = float((weights * (likely - real) ** 2).sum())
    loss = -float((weights * (real * np.log(sure) + (1 - real) * np.log(1 - sure))).sum())
    above = np.mean([[(a > b) + (a == b) / 2 for b in likely[real == 0]] for a in likely[real == 1]])
    return f"n {len(facts)}, AUC {above:.3f}, Brier {brier:.3f}, log-loss {loss:.3f}"


def first_figures(confidence: Sequence[Sequence[float]], facts: Sequence[Fact]) -> str:
    """Correct first results called unlikely, and first results called likely where nothing answers."""
    firsts = [(fact, some[0]) for fact, some in zip(facts, confidence, strict=True) if some]
    correct = np.array([one for fact, one in firsts if fact["places"][0]["judged"]])
    wrong = np.array(
        [some[0] if some else 0.0 for f, some in zip(facts, confidence, strict=True) if not f["real"]]
    )
    return (
        f"correct first unlikely {np.mean(correct < POSSIBLE):.3f} (likely {np.mean(correct >= LIKELY):.3f}), "
        f"unanswerable likely {np.mean(wrong >= LIKELY):.3f} (unlikely {np.mean(wrong < POSSIBLE):.3f})"
    )


say = print


def reliability(rows: Iterable[tuple[float, float, float]]) -> list[tuple[float, float, int]]:
    """(mean confidence, share that answers, items) of each tenth of the scale that has any."""
    table = np.array(list(rows))
    bins = np.minimum((table[:, 0] * BINS).astype(int), BINS - 1)
    groups = [table[bins == number] for number in range(BINS) if (bins == number).any()]
    return [
        (float(np.average(g[:, 0], weights=g[:, 2])), float(np.average(g[:, 1], weights=g[:, 2])), len(g))
        for g in groups
    ]


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
    main()
