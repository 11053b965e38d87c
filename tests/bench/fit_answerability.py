"""
Weights of `clawmem.domain.surfacing.answerability_weights`, from prompts that a vault answers and prompts that none does.

    python tests/bench/fit_answerability.py COLLECTIONS [--work FOLDER] [--write]

Five vaults: the example notes and the owner's notes with the prompts of ``tests/data/coding_prompts.jsonl`` (those
that one vault does not answer are put to the other as well) and the owners' judged questions; the development
conversations of LoCoMo and BEAM with their questions and ``tests/data/silence.jsonl``. Half of the prompts are for
fitting. Printed are the weights, and for each vault the share of right decisions: over all prompts, over the other
half, and with the vault left out of the fit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fit_relevance import Floats, logistic
from judged import EMBEDDERS, missing, settings_for, vault_of
from vault_stores import retrieval_stores
from weights_file import fitted_weights, text_of_module, write

from clawmem.app.bench.collection import load_collection
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.confidence import evidence_of, statistics_of
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import Unit, read_request
from clawmem.app.services.surfacing.candidates import match_of
from clawmem.app.services.surfacing.choices import Choices
from clawmem.app.services.surfacing.pipeline import RetrievalDependencies, finding
from clawmem.domain.retrieval.relevance import Evidence
from clawmem.domain.retrieval.relevance_model import MOST_COVERAGE
from clawmem.domain.retrieval.requested import Shortfall
from clawmem.domain.surfacing.answerability import PromptMatch, counted
from clawmem.domain.surfacing.answerability_model import Weights
from clawmem.domain.surfacing.gate import why_skip
from clawmem.domain.surfacing.prompt_form import PromptForm, prompt_form

TESTS = Path(__file__).parents[1]
NOTES = {
    "examples": TESTS.parent / "examples/notes",
    "ownervault": TESTS / "data/ownervault",
    "householdvault": TESTS / "data/householdvault",
}
CHATS = ("locomo", "beam")
COSINE = 1  # its column
LACKS = tuple(f"unmet {name}" for name in Shortfall._fields)
LESS = frozenset({"unknown", "entries", "task", "general", "pointing", *LACKS})  # signs that nothing answers
NAMES = (
    *("line", "cosine", "unknown", "entries", "task", "general", "pointing"),
    *("ours", "own", "identifier", "name", "whole", "coverage"),
    *LACKS,
)
# Silence where a note answers is worse than a block that does not help. With 0.3 the blocks of ownervault quote .732 of the
# answers, with 0.7 .763; the silence of BEAM falls from .976 to .967.
LENIENCY = 0.7
FAMILIES = {"static": "wordllama:l2_supercat", "minilm": "minilm:384"}
WEIGHTS = "clawmem.domain.surfacing.answerability_weights"
SOURCE = "clawmem.domain.surfacing.answerability_model"
SCRIPT = "tests/bench/fit_answerability.py"
SAMPLE = 0.6  # the power of its size that a group counts with: a hundred prompts more than ten, not ten times
EVERYDAY = 3.5  # what an everyday prompt counts: an unrelated block disturbs more than a missing one
CHATTED = 2.6  # what a question or silence of the conversations counts: they are held to their former figures


class Prompt(NamedTuple):
    """One prompt: the vault it is put to, its kind, whether the vault answers it, and whether it is fitted on."""

    vault: str
    kind: str
    text: str
    answered: bool
    fitted: bool

    @property
    def group(self) -> tuple[str, str, bool]:
        """The group whose prompts share one weight."""
        return self.vault, self.kind, self.answered


class Row(NamedTuple):
    """A prompt and its signs."""

    prompt: Prompt
    signs: tuple[float, ...]


def lines_of(name: str) -> list[dict[str, Any]]:
    """Return the objects of one file of the test data."""
    return [json.loads(line) for line in (TESTS / "data" / name).read_text("utf-8").splitlines()]


def prompts_of(vault: str, data: Path) -> Iterator[Prompt]:
    """Return every prompt that is put to *vault*."""
    for one in lines_of("coding_prompts.jsonl"):
        fitted, here = one["half"] == "fit", one["vault"] == vault
        if here or (not one["gold"] and vault != "beam"):  # the chats of BEAM are about code as well
            kind = "crossed" if not here else "task" if one["kind"] == "task" else "everyday"
            yield Prompt(vault, kind, one["prompt"], bool(one["gold"]), fitted)
    if (TESTS / "data" / f"{vault}_questions.jsonl").exists():
        for one in lines_of(f"{vault}_questions.jsonl")[1:]:
            yield Prompt(vault, "judged", one["text"], "relevant" in one, True)
    if vault in CHATS:
        for number, query in enumerate(load_collection(data / vault / "dev", turns=True).queries):
            yield Prompt(vault, "judged", query.text, True, number % 2 == 1)
        for number, one in enumerate(lines_of("silence.jsonl")):
            yield Prompt(vault, "silence", one["text"], False, number % 2 == 0)


def rows_of(vault: str, services: Services, data: Path) -> Iterator[Row]:
    """Return the signs of every prompt of *vault* that something is looked up for."""
    from clawmem.adapters.models.static import StaticWords

    means = RetrievalDependencies(embedder=services.embedder, late=StaticWords())
    stages = Pipeline(
        retrieval_stores(services.vault), finding(retrieval_stores(services.vault), means, Choices())
    )
    for prompt in prompts_of(vault, data):
        if why_skip(prompt.text):
            continue
        request = read_request(prompt.text, now_ms=0, limit=20, unit=Unit.LINE)
        work, _ = stages.rank(request)
        form = prompt_form(prompt.text)
        if form.telling and work.candidates:
            evidence, match = (
                evidence_of(
                    services.vault.lexical,
                    work,
                    statistics_of(
                        services.vault.lexical,
                        request,
                        work,
                    ),
                ),
                match_of(services.vault.lexical, request, work),
            )
            yield Row(prompt, signs(evidence, form, match))


def signs(evidence: Evidence, form: PromptForm, match: PromptMatch) -> tuple[float, ...]:
    """Return the signs of one prompt in the order of `NAMES`; more is always a better sign."""
    found = {
        "line": float(np.log1p(evidence.line)),
        "cosine": evidence.cosine or 0.0,
        "unknown": evidence.unknown,
        "entries": float(np.log(counted(evidence.entries))),
        "coverage": min(MOST_COVERAGE, evidence.coverage),
        **dict(zip(LACKS, evidence.unmet, strict=True)),
        **{name: float(value) for one in (form, match) for name, value in one._asdict().items()},
    }
    return tuple(-found[name] if name in LESS else found[name] for name in NAMES)


def fit(rows: Sequence[Row], columns: Sequence[int]) -> Floats:
    """Return bias and weights."""
    sizes = Counter(row.prompt.group for row in rows)
    weights = np.array([_counts(row.prompt) / sizes[row.prompt.group] ** SAMPLE for row in rows])
    answered = np.array([float(row.prompt.answered) for row in rows])
    return logistic(_table(rows, columns), answered, weights)


def _counts(prompt: Prompt) -> float:
    if prompt.kind in ("everyday", "crossed"):
        return 1.0 if prompt.answered else EVERYDAY
    return CHATTED if prompt.vault in CHATS else 1.0


def _table(rows: Sequence[Row], columns: Sequence[int]) -> Floats:
    return np.array([row.signs for row in rows])[:, list(columns)]


def right(rows: Sequence[Row], model: Floats, columns: Sequence[int]) -> list[bool]:
    """Return whether each decision is right, at even odds."""
    odds = _table(rows, columns) @ model[1:] + model[0] + LENIENCY
    return [(one > 0) == row.prompt.answered for one, row in zip(odds, rows, strict=True)]


def report(rows: Sequence[Row], columns: Sequence[int]) -> Weights:
    """Print what the weights decide rightly, and return them."""
    fitted = [row for row in rows if row.prompt.fitted]
    model = fit(fitted, columns)
    found = fitted_weights(Weights, [NAMES[column] for column in columns], model.tolist(), LENIENCY)
    say(str(found))
    decided = dict(zip(rows, right(rows, model, columns), strict=True))
    for vault in dict.fromkeys(row.prompt.vault for row in rows):
        without = fit([row for row in fitted if row.prompt.vault != vault], columns)
        for group in sorted({row.prompt.group for row in rows if row.prompt.vault == vault}):
            mine = [row for row in rows if row.prompt.group == group]
            other = [decided[row] for row in mine if not row.prompt.fitted]
            left_out = right(mine, without, columns)
            shares = [
                np.mean(some) if some else float("nan")
                for some in ([decided[r] for r in mine], other, left_out)
            ]
            figures = "  ".join(
                f"{name} {share:.3f}"
                for name, share in zip(("all", "other half", "left out"), shares, strict=True)
            )
            say(
                f"  {group[0]:10} {group[1]:9} {'answered' if group[2] else 'silent':8} n={len(mine):3}  {figures}"
            )
    return found


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where vaults are kept")
    parser.add_argument("--write", action="store_true", help="write the module of the weights")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    found: dict[str, Weights] = {}
    for embedder, family in FAMILIES.items():
        if reason := missing(embedder):
            raise SystemExit(f"cannot fit {embedder}: {reason}")
        rows = [*rows_with(embedder, chosen.data, chosen.work)]
        say(embedder)
        found[family] = report(rows, range(len(NAMES)))
        if embedder == EMBEDDERS[0]:
            say("by words")
            by_words = report(rows, [column for column in range(len(NAMES)) if column != COSINE])
    if chosen.write:
        write(WEIGHTS, text_of_module(SCRIPT, SOURCE, {"BY_WORDS": by_words, "BY_FAMILY": found}))


def rows_with(embedder: str, data: Path, work: Path) -> Iterator[Row]:
    """Yield the signs of every prompt to every vault."""
    for name, folder in NOTES.items():
        with open_services(settings_for(work / f"{name}.{embedder}.sqlite", embedder)) as services:
            services.update(Folder("notes", str(folder)))
            services.embed()
            yield from rows_of(name, services, data)
    for name in CHATS:
        with vault_of(name, data / name / "dev", embedder, work) as services:
            yield from rows_of(name, services, data)


if __name__ == "__main__":
    main()
