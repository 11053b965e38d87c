"""
Fit the weights of `clawmem.domain.retrieval.relevance_weights`, and write that module with ``--write``.

    python tools/bench/fit_confidence.py --data EVAL/data [--models FOLDER] [--work FOLDER] [--write]

Questions with an answer are told from those without, and answers from the other results. Collections: the example notes
and the vaults of ``tests/data`` with their questions and ``coding_prompts.jsonl``, the small vaults of
``small_vaults.txt`` and ``beliefs.txt``, and with ``--data`` the judged collections, which are also asked
``silence.jsonl`` and their own questions without an answer. What is found is kept in the work folder and read from there
the next time. Printed are the figures of each collection by a model that was fitted on all others.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import packaged_e5
from judged import settings_for
from small_vaults import FILES, people, write_memories
from vault_stores import retrieval_stores
from weights_file import fitted_weights, text_of_module, write

from clawmem.adapters.models.catalogue import model_named
from clawmem.adapters.models.local import StaticEmbedder, StaticWords
from clawmem.app.bench.collection import JudgedCollection, load_collection
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.confidence import evidence_of, passages_of, places_of
from clawmem.app.services.retrieval.pipelines import query
from clawmem.app.services.retrieval.request import Unit, read_request
from clawmem.domain.retrieval.relevance import (
    DEFAULT_FLOOR,
    Evidence,
    ResultPlace,
    answer_features,
    place_features,
)
from clawmem.domain.retrieval.relevance_weights import ANSWERED
from clawmem.ports.errors import ClawmemError

Floats = npt.NDArray[np.float64]
Fact = Mapping[str, Any]
Judge = Callable[[Any], bool]
Asked = tuple[str, str, str, Judge | None]  # a unit, a question, its kind, and what tells an answer

TESTS = Path(__file__).parents[2] / "tests"
OWN_VAULTS = {
    "examples": TESTS.parent / "examples" / "notes",
    **{name: TESTS / "data" / name for name in ("ownervault", "householdvault", "obsidianvault")},
}
FAMILIES = {
    "static": "wordllama:l2_supercat",
    "bge-small": "bge-small:384",
    packaged_e5.NAME: "multilingual-e5:384",
}
WEIGHTS = "clawmem.domain.retrieval.relevance_weights"
SCRIPT = "tools/bench/fit_confidence.py"
TOP = 10  # places of a list that are judged
FOUND = 5  # an answer that is not among the first results is no evidence of how questions with an answer look
RIDGE = 1e-3
SEED = 20261128
PROMPTED = 1e-9  # the floor of a prompt that cuts nothing
SAMPLE = (
    0.6  # the power of its size that a group counts with: a hundred questions more than ten, not ten times
)
# Added to the fitted biases: a result is called likely where it answers more often than not among near questions too.
LENIENCY = -0.2
WORDS_LENIENCY = -1.2  # words alone tell an answer less well: with it .96 of the unrelated prompts are silent
# What a question counts besides. An unrelated block disturbs the work on code; many of the unanswerable questions are about
# notes that a reader would want to see.
COUNTS = {"coding without": 8.0, "unanswerable without": 0.75, "judged with": 2.0}


def main() -> None:
    """Collect what is not collected yet, fit, and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="a folder of judged collections, NAME/dev below it")
    parser.add_argument(
        "--models",
        type=Path,
        help="the folder of models; weights of those that are not there stay as they are",
    )
    parser.add_argument(
        "--work", type=Path, default=Path("build/fit"), help="where vaults and facts are kept"
    )
    parser.add_argument(
        "--most", type=int, default=10_000, help="questions of a collection, a sample of them"
    )
    parser.add_argument("--write", action="store_true", help="write the module of the weights")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    embedders: dict[str, Any] = {"static": StaticEmbedder()}
    packaged_e5.take_packaged()
    for name in FAMILIES.keys() - embedders.keys() if given.models else ():
        with suppress(ClawmemError, ImportError):
            embedders[name] = model_named(name, given.models).opened()
    answered: dict[str, dict[str, float]] = {**ANSWERED}
    for name, embedder in embedders.items():
        facts = list(
            kept(given.work / f"{name}.jsonl", collect(given.data, given.work, name, embedder, given.most))
        )
        answered[FAMILIES[name]] = report(name, facts, LENIENCY)
        if name == "static":
            by_words = report(
                "words alone", [{**fact, "evidence": fact["by_words"]} for fact in facts], WORDS_LENIENCY
            )
            placed = {
                unit: fit_places([fact for fact in facts if fact["unit"] == unit])
                for unit in ("document", "line")
            }
    if given.write:
        constants = {"ANSWERED_BY_WORDS": by_words, "ANSWERED": answered, "PLACED": placed}
        write(WEIGHTS, text_of_module(SCRIPT, constants))


def kept(path: Path, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the facts in *path*; if there are none, *facts*, which are written there."""
    if not path.exists():
        path.write_text("".join(f"{json.dumps(fact)}\n" for fact in facts), "utf-8")
    yield from map(json.loads, path.read_text("utf-8").splitlines())


def collect(data: Path | None, work: Path, name: str, embedder: Any, most: int) -> Iterator[Fact]:
    """Ask every vault at most *most* questions."""
    for collection, notes in OWN_VAULTS.items():
        yield from ask_vault(
            collection, notes, work, name, embedder, sample(own_questions(collection, notes), most)
        )
    for folder in sorted(data.glob("*/dev")) if data else ():
        collection = folder.parent.name
        yield from ask_vault(
            collection, folder / "corpus", work, name, embedder, sample(judged_questions(folder), most)
        )
    for file in FILES:
        for person in people(file):
            with tempfile.TemporaryDirectory() as place:
                write_memories(person, Path(place) / "notes")
                prompts = [
                    ("line", prompt.text, "person", of_paths({f"{n:02}.md" for n in prompt.helpful}))
                    for prompt in person.prompts
                ]
                yield from ask_vault("persons", Path(place) / "notes", Path(place), name, embedder, prompts)


def sample(asked: Iterable[Asked], most: int) -> list[Asked]:
    """Return *most* of the questions in their order, the same ones every time."""
    every = list(asked)
    chosen = random.Random(SEED).sample(range(len(every)), min(most, len(every)))
    return [every[index] for index in sorted(chosen)]


def ask_vault(
    collection: str, notes: Path, work: Path, name: str, embedder: Any, asked: Iterable[Asked]
) -> Iterator[Fact]:
    """Yield what is found for every question."""
    sys.stderr.write(f"{collection}, {name}\n")
    late = StaticWords()
    with open_services(settings_for(work / f"{collection}.{name}.sqlite", name)) as services:
        services.update(Folder("notes", str(notes)))
        services.embed()
        stores = retrieval_stores(services.vault)
        pipeline = query(stores, embedder, late)
        for unit, text, kind, judge in asked:
            request = read_request(text, now_ms=0, limit=TOP, unit=Unit(unit), show_all=True, floor=PROMPTED)
            work_found, _ = pipeline.rank(request)
            if not work_found.candidates:
                continue
            passages = passages_of(stores.lexical, late, request, work_found)
            evidence = evidence_of(stores.lexical, request, work_found, passages)
            if not evidence.specificity:
                continue
            places = places_of(request, work_found, passages)[:TOP]
            words = passages_of(stores.lexical, None, request, work_found)
            by_words = evidence_of(stores.lexical, request, work_found, words)
            yield {
                "collection": collection,
                "unit": unit,
                "kind": kind,
                "answered": judge is not None,
                "evidence": evidence._asdict(),
                "by_words": by_words._asdict(),
                "places": [place._asdict() for place in places],
                "judged": [int(judge is not None and judge(c)) for c in work_found.candidates[:TOP]],
            }


def own_questions(vault: str, notes: Path) -> Iterator[Asked]:
    """Yield the labelled questions and prompts to a vault of the repository."""
    for row in rows("relevance_questions.jsonl"):
        if row["vault"] == vault:
            yield from both_units(row["text"], "judged", judge_of(row, notes))
    if (TESTS / "data" / f"{vault}_questions.jsonl").exists():
        for row in rows(f"{vault}_questions.jsonl")[1:]:
            yield from both_units(row["text"], "judged", judge_of(row, notes))
    for row in rows("attribute_pairs.jsonl"):
        if row["vault"] == vault:
            yield from both_units(row["answered"], "judged", judge_of(row, notes))
            yield from both_units(row["unanswered"], "unanswerable", None)
    for row in rows("coding_prompts.jsonl"):
        if row["vault"] == vault or not row["gold"]:
            yield "line", row["prompt"], "coding", of_paths(set(row["gold"]))


def both_units(text: str, kind: str, judge: Judge | None) -> Iterator[Asked]:
    """Yield a question about notes and about lines."""
    yield "document", text, kind, judge
    yield "line", text, kind, judge


def rows(name: str) -> list[dict[str, Any]]:
    """Return the objects of a file of the test data."""
    return [json.loads(line) for line in (TESTS / "data" / name).read_text("utf-8").splitlines()]


def judge_of(row: Mapping[str, Any], notes: Path) -> Judge | None:
    """Return what tells an answer: a note that is listed, or one that holds a text; ``None`` without any."""
    paths = set(row.get("relevant", ()))
    if "holds" in row:
        text = row["holds"].casefold()
        files = {str(path.relative_to(notes)): path.read_text("utf-8") for path in notes.rglob("*.md")}
        paths |= {path for path, body in files.items() if text in body.casefold() or text in path.casefold()}
    return of_paths(paths)


def of_paths(paths: set[str]) -> Judge | None:
    """Return what tells that a candidate has one of *paths*; ``None`` without any."""
    return (lambda candidate: candidate.document.path in paths) if paths else None


def judged_questions(folder: Path) -> Iterator[Asked]:
    """Yield the questions of a judged collection, and prompts without an answer, for every unit that is judged."""
    for unit in ("document", "line") if (folder / "qrels_turn.tsv").exists() else ("document",):
        collection = load_collection(folder, turns=unit == "line")
        for question in collection.queries:
            grades = {item: grade for item, grade in collection.grades[question.qid].items() if grade}
            yield unit, question.text, "judged", lambda c, g=grades, of=collection: is_judged(c, g, of)
        for row in rows("silence.jsonl"):
            yield unit, row["text"], "silence", None
        for name in ("unanswerable", "offtopic"):
            if (folder / f"{name}.txt").exists():
                for text in filter(None, (folder / f"{name}.txt").read_text("utf-8").splitlines()):
                    yield unit, text, name, None


def is_judged(candidate: Any, grades: Mapping[str, int], collection: JudgedCollection) -> bool:
    """Whether the judgements of a question name *candidate*."""
    name, span = candidate.document.path.removesuffix(".md"), candidate.span
    if span is None:
        return name in grades
    lines = collection.turn_lines.get(name, ())
    return any(span.start_line <= line <= span.end_line and turn in grades for line, turn in lines)


def report(name: str, facts: Sequence[Fact], leniency: float = 0.0) -> dict[str, float]:
    """Print the figures of each collection by models that were fitted on all others; return weights fitted on all."""
    sys.stdout.write(f"{name}\n")
    for collection in sorted({fact["collection"] for fact in facts}):
        model = fit_answered([fact for fact in facts if fact["collection"] != collection])
        mine = [fact for fact in facts if fact["collection"] == collection]
        likely, labels = sigmoid(features(mine) @ model[1:] + model[0] + leniency), answered_of(mine)
        real, other = likely[labels == 1], likely[labels == 0]
        area = np.mean((real[:, None] > other) + (real[:, None] == other) / 2) if len(other) else float("nan")
        silent = np.mean(other < DEFAULT_FLOOR) if len(other) else float("nan")
        sys.stdout.write(
            f"  {collection:15} n {len(mine):4}  AUC {area:.3f}  answered above the floor "
            f"{np.mean(real >= DEFAULT_FLOOR):.3f}  others below {silent:.3f}\n"
        )
    bias, *slopes = fit_answered(facts).tolist()
    names = answer_features(Evidence(**facts[0]["evidence"]))
    weights = fitted_weights(names, [bias + leniency, *slopes])
    sys.stdout.write(f"  {weights}\n")
    return weights


def fit_answered(facts: Sequence[Fact]) -> Floats:
    """Return bias and slopes of the model that tells questions whose answer was found from those without an answer."""
    usable = [fact for fact in facts if not fact["answered"] or any(fact["judged"][:FOUND])]
    groups = [(fact["collection"], fact["kind"], fact["answered"]) for fact in usable]
    sizes = Counter(groups)
    counts = [
        COUNTS.get(f"{kind} {'with' if answered else 'without'}", 1.0)
        / sizes[collection, kind, answered] ** SAMPLE
        for collection, kind, answered in groups
    ]
    return logistic(features(usable), answered_of(usable), np.array(counts))


def features(facts: Sequence[Fact]) -> Floats:
    """Return a row of features for each question."""
    return np.array([[*answer_features(Evidence(**fact["evidence"])).values()] for fact in facts])


def answered_of(facts: Sequence[Fact]) -> Floats:
    """Return 1 for a question with an answer, 0 for one without."""
    return np.array([float(fact["answered"]) for fact in facts])


def fit_places(facts: Sequence[Fact]) -> dict[str, float]:
    """Return the weights that tell answers from the other places in the lists of questions whose answer was found."""
    found = [fact for fact in facts if any(fact["judged"])]
    sizes = Counter(fact["collection"] for fact in found)
    table, labels, counts = [], [], []
    for fact in found:
        for place, judged in zip(fact["places"], fact["judged"], strict=True):
            features = place_features(ResultPlace(**place))
            table.append([*features.values()])
            labels.append(float(judged))
            counts.append(1 / sizes[fact["collection"]] ** SAMPLE / len(fact["places"]))
    return fitted_weights(features, logistic(np.array(table), np.array(labels), np.array(counts)).tolist())


def logistic(table: Floats, labels: Floats, counts: Floats) -> Floats:
    """
    Return bias and slopes of a logistic regression, no slope below zero.

    Newton's method on standardised features with a small ridge; a slope that would be negative is left out.

    Args:
        table: Features, shape (n, k).
        labels: Shape (n,), 0 or 1.
        counts: Shape (n,), what each row counts.
    """
    mean, spread = table.mean(0), table.std(0) + 1e-9
    scaled, share = (table - mean) / spread, counts / counts.sum()
    free = list(range(table.shape[1]))
    while True:
        model = _newton(np.column_stack([np.ones(len(labels)), scaled[:, free]]), labels, share)
        if not free or model[1:].min() >= 0:
            break
        del free[int(model[1:].argmin())]
    slopes = np.zeros(table.shape[1])
    slopes[free] = model[1:] / spread[free]
    return np.concatenate([[model[0] - slopes @ mean], slopes])


def _newton(design: Floats, labels: Floats, share: Floats) -> Floats:
    model = np.zeros(design.shape[1])
    ridge = RIDGE * np.eye(len(model))
    ridge[0, 0] = 0
    for _ in range(100):
        predicted = sigmoid(design @ model)
        slope = design.T @ (share * (predicted - labels)) + 2 * ridge @ model
        curve = (design * (share * predicted * (1 - predicted))[:, None]).T @ design + 2 * ridge
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(model)), slope)
        model -= step * min(1.0, 2 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    return model


def sigmoid(log_odds: Floats) -> Floats:
    """Return the probability of every log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))))


if __name__ == "__main__":
    main()
