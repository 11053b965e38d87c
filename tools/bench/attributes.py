"""
Answerability of questions that ask a known topic for something that no note says.

    python tools/bench/attributes.py [--work FOLDER] [--embedder bge-small] [--data EVAL/data] [--each]

Asked are the pairs of ``tests/data/attribute_pairs.jsonl`` (one question that the vault answers, and one of the same
form that it does not), the questions of ``owner_questions``, and with ``--data`` the development questions of judged
collections and ``silence.jsonl``. "False likely" is the share of unanswered questions that are judged likely to be
answered; "missed" the share of answered ones that are judged below `LIKELY`, and "unlikely" below `POSSIBLE`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from judged import EMBEDDERS, collections_in, vault_of
from owner_questions import DATA, VAULTS, lines, now_ms, questions
from owners import owner_vault

from clawmem.app.bench.collection import load_collection
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.retrieval.request import read_request
from clawmem.domain.retrieval.relevance import LIKELY, POSSIBLE

MOST = 250  # questions of a judged collection


class LabelledQuestion(NamedTuple):
    """A question, the set it belongs to, and whether a note answers it."""

    group: str
    text: str
    is_answered: bool


def pairs(vault: str) -> Iterator[LabelledQuestion]:
    """Yield the questions of the pairs for *vault*."""
    for one in lines("attribute_pairs.jsonl"):
        if one["vault"] == vault:
            yield LabelledQuestion(f"{vault} pairs", one["answered"], True)
            yield LabelledQuestion(f"{vault} pairs", one["unanswered"], False)


def owned(vault: str) -> Iterator[LabelledQuestion]:
    """Yield every question to *vault*."""
    yield from pairs(vault)
    yield from (
        LabelledQuestion(vault, one.text, bool(one.relevant)) for one in questions(vault) if not one.as_of
    )
    for one in lines("relevance_questions.jsonl"):
        if one["vault"] == vault:
            yield LabelledQuestion(f"{vault} labelled", one["text"], "relevant" in one or "holds" in one)


def judged(folder: Path, name: str) -> Iterator[LabelledQuestion]:
    """Yield a sample of the questions of a judged collection, and the prompts that it does not answer."""
    queries = load_collection(folder, turns=False).queries
    step = max(1, len(queries) // MOST)
    yield from (LabelledQuestion(name, one.text, True) for one in queries[::step])
    for line in (DATA / "silence.jsonl").read_text("utf-8").splitlines():
        yield LabelledQuestion(name, json.loads(line)["text"], False)


def ask(
    services: Services, asked: Sequence[LabelledQuestion], at_ms: int
) -> list[tuple[LabelledQuestion, float]]:
    """Return each question with the probability that it is answered."""
    found = []
    for one in asked:
        request = read_request(one.text, now_ms=at_ms, show_all=True)
        work, _ = services.query.rank(request)
        found.append((one, work.answered or 0.0))
    return found


def table(found: Sequence[tuple[LabelledQuestion, float]]) -> Iterator[str]:
    """Yield a row for each set."""
    for group in dict.fromkeys(one.group for one, _ in found):
        yes = [sure for one, sure in found if one.group == group and one.is_answered]
        no = [sure for one, sure in found if one.group == group and not one.is_answered]
        above = sum((a > b) + (a == b) / 2 for a in yes for b in no) / max(1, len(yes) * len(no))
        yield (
            f"{group:26} answered n={len(yes):3} missed {_share(yes, LIKELY):.3f} unlikely {_share(yes, POSSIBLE):.3f}"
            f"   unanswered n={len(no):3} false likely {1 - _share(no, LIKELY):.3f}   AUC {above:.3f}"
        )


def _share(some: Sequence[float], below: float) -> float:
    return sum(one < below for one in some) / max(1, len(some))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where vaults are kept")
    parser.add_argument("--embedder", choices=EMBEDDERS, default=EMBEDDERS[0])
    parser.add_argument("--data", type=Path, help="folder of judged collections")
    parser.add_argument(
        "--each", action="store_true", help="print each wrongly judged question of the vaults"
    )
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    found: list[tuple[LabelledQuestion, float]] = []
    for vault in VAULTS:
        with owner_vault(vault, chosen.embedder, chosen.work) as services:
            found += ask(services, [*owned(vault)], now_ms(vault))
    wrong = [(one, sure) for one, sure in found if (sure >= LIKELY) != one.is_answered]
    for name, folder in (collections_in(chosen.data) if chosen.data else {}).items():
        with vault_of(name, folder, chosen.embedder, chosen.work) as services:
            found += ask(services, [*judged(folder, name)], 0)
    sys.stdout.write("\n".join(table(found)) + "\n")
    for one, sure in wrong if chosen.each else ():
        sys.stdout.write(
            f"{one.group:26} {'missed' if one.is_answered else 'false '} {sure:.2f} {one.text}\n"
        )


if __name__ == "__main__":
    main()
