"""
Answers to owners' questions, by vault and kind: ranking, traps, the context block, and silence.

    python tools/bench/owners.py [--work FOLDER] [--embedder bge-small] [--vault NAME] [--questions other_words] [--each]

Asked are the questions to the vaults of ``owner_questions``, with ``query`` and with the prompt hook (``balanced``).
The figures of a kind are nDCG@10, the share of questions whose first result is an answer, traps broken of those set,
blocks that quote the answer, and for questions without an answer those judged unanswered and the silent prompts.
With ``--each`` a line for each question follows.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from judged import EMBEDDERS, settings_for
from owner_questions import BEST, DATA, KINDS, VAULTS, Question, broken_traps, now_ms, paths_of, questions
from surfacing import Prompts, plain

from clawmem.adapters.system.clock import SystemClock
from clawmem.app.bench.retrieval import measure
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.request import read_request
from clawmem.domain.retrieval.relevance import LIKELY

DEPTH = 100
PROFILE = "balanced"


class Outcome(NamedTuple):
    """The answer to one question: its ranking, the probability that it answers, and the block of the prompt."""

    question: Question
    ranking: Sequence[str]
    answered: float
    block: str

    @property
    def ndcg(self) -> float:
        """nDCG@10."""
        return measure(self.ranking, self.question.relevant)["ndcg@10"]

    @property
    def is_first(self) -> bool:
        """Whether the first result is an answer."""
        return bool(self.ranking) and self.question.relevant.get(self.ranking[0], 0) == BEST

    @property
    def is_in_block(self) -> bool:
        """Whether the block quotes the answer, or, if the question quotes none, shows a note that answers."""
        if self.question.says:
            return self.question.says.casefold() in plain(self.block).casefold()
        best = (path for path, grade in self.question.relevant.items() if grade == BEST)
        return any(f" notes/{path}:" in self.block for path in best)


@contextmanager
def owner_vault(vault: str, embedder: str, work: Path) -> Iterator[Services]:
    """Open the vault of an owner, indexed and embedded; it is made in *work* the first time."""
    path = work / f"owner.{vault}.{embedder}.sqlite"
    made = path.exists()
    with open_services(settings_for(path, embedder)) as services:
        if not made:
            services.update(Folder("notes", str(DATA / vault)))
            services.embed()
        yield services


def outcomes(vault: str, embedder: str, work: Path, which: str = "questions") -> list[Outcome]:
    """Ask every question to *vault* of the file *which*."""
    prompts = Prompts(work / f"owner.{vault}.{embedder}.sqlite", embedder)
    asked_at = now_ms(vault)
    found = []
    with owner_vault(vault, embedder, work) as services:
        for one in questions(vault, which):
            request = read_request(one.text, now_ms=asked_at, limit=DEPTH, until=one.as_of, show_all=True)
            done, _ = services.query.rank(request)
            block = "" if one.as_of else _block(prompts, one, asked_at)
            found.append(Outcome(one, paths_of(done.candidates), done.answered or 0.0, block))
    return found


def _block(prompts: Prompts, one: Question, asked_at: int) -> str:
    with patch.object(SystemClock, "now_ms", lambda self: asked_at):
        return prompts.block(one.text, one.id, PROFILE)


def table(found: Sequence[Outcome]) -> Iterator[str]:
    """Yield a row for each kind, and one for all of them."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for one in found:
        groups[one.question.kind].append(one)
        if one.question.relevant:
            groups["all"].append(one)
    yield f"{'':16}{'n':>5}{'nDCG@10':>9}{'first':>7}{'traps':>10}{'in block':>10}{'silent':>8}"
    for kind in (*KINDS, "all"):
        if kind in groups:
            yield _row(kind, groups[kind])


def _row(kind: str, group: Sequence[Outcome]) -> str:
    head = f"{kind:16}{len(group):5}"
    if not group[0].question.relevant:
        unanswered = _share(one.answered < LIKELY for one in group)
        return (
            f"{head}   judged unanswered {unanswered:.2f}{'':9}{_share(not one.block for one in group):8.2f}"
        )
    broken = sum(len(broken_traps(one.ranking, one.question)) for one in group)
    traps = sum(len(one.question.not_above) for one in group)
    shown = [one for one in group if not one.question.as_of]
    ndcg, first = sum(one.ndcg for one in group) / len(group), _share(one.is_first for one in group)
    carried = _share(one.is_in_block for one in shown)
    silent = _share(not one.block for one in shown)
    return f"{head}{ndcg:9.3f}{first:7.3f}{f'{broken}/{traps}':>10}{carried:10.3f}{silent:8.2f}"


def _share(flags: Iterable[bool]) -> float:
    some = [*flags]
    return sum(some) / len(some) if some else 0.0


def _line(one: Outcome) -> str:
    if not one.question.relevant:
        return (
            f"{one.question.id:18} {one.answered:.2f} {'block' if one.block else '-':5} {one.question.text}"
        )
    broken = len(broken_traps(one.ranking, one.question))
    marks = (
        f"{one.ndcg:.2f} {'first' if one.is_first else '-':5} {'in' if one.is_in_block else '--':2} {broken}"
    )
    return f"{one.question.id:18} {marks} {one.answered:.2f} {one.question.text} -> {one.ranking[:3]}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where vaults are kept")
    parser.add_argument("--embedder", choices=EMBEDDERS, default=EMBEDDERS[0])
    parser.add_argument("--vault", choices=VAULTS, action="append", help="only this vault")
    parser.add_argument("--questions", choices=("questions", "other_words"), default="questions")
    parser.add_argument("--each", action="store_true", help="print each question as well")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    asked = [one for one in VAULTS if (DATA / f"{one}_{chosen.questions}.jsonl").exists()]
    for vault in chosen.vault or asked:
        found = outcomes(vault, chosen.embedder, chosen.work, chosen.questions)
        rows = [vault, *table(found), *(map(_line, found) if chosen.each else ())]
        sys.stdout.write("\n".join(rows) + "\n\n")


if __name__ == "__main__":
    main()
