"""Loading of judged collections: documents, questions, and the documents or turns that answer them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clawmem.ports.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One question; ``scope`` is the sub-folder of the corpus to search, ``""`` for all of it."""

    qid: str
    text: str
    category: str
    scope: str


@dataclass(frozen=True, slots=True)
class JudgedCollection:
    """
    The parts of one collection.

    ``grades`` maps each question to the grades of its answers, by document id or, for turns, by turn id; ``turn_lines``
    maps a document id to its (line, turn id) pairs in line order.
    """

    corpus: Path
    queries: tuple[JudgedQuery, ...]
    grades: Mapping[str, Mapping[str, int]]
    turn_lines: Mapping[str, list[tuple[int, str]]]


def load_collection(folder: Path, *, turns: bool) -> JudgedCollection:
    """
    Read ``corpus/``, ``queries.jsonl`` and the judgements; for *turns* ``turns.tsv`` and ``qrels_turn.tsv``.

    Questions without a judgement are left out.

    Raises:
        InvalidInput: a part is missing or cannot be read; the message names it.
    """
    grades = _grades(_part(folder, "qrels_turn.tsv" if turns else "qrels.tsv"))
    lines = _turn_lines(_part(folder, "turns.tsv")) if turns else {}
    queries = tuple(q for q in _queries(_part(folder, "queries.jsonl")) if grades.get(q.qid))
    return JudgedCollection(_part(folder, "corpus"), queries, grades, lines)


def _part(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.exists():
        raise InvalidInput(
            "INVALID_INPUT",
            f"{folder} is no judged collection: {name} is missing. It needs corpus/, queries.jsonl, qrels.tsv "
            "(and turns.tsv, qrels_turn.tsv for --unit turn).",
        )
    return path


def _queries(path: Path) -> list[JudgedQuery]:
    with _reading(path):
        rows = [json.loads(line) for line in _lines(path)]
        return [JudgedQuery(r["qid"], r["text"], r.get("category", "all"), r.get("scope", "")) for r in rows]


def _grades(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with _reading(path):
        for line in _lines(path):
            qid, item, grade = line.split("\t")
            if int(grade) > 0:
                grades[qid][item] = int(grade)
    return grades


def _turn_lines(path: Path) -> dict[str, list[tuple[int, str]]]:
    lines: dict[str, list[tuple[int, str]]] = defaultdict(list)
    with _reading(path):
        for row in _lines(path):
            turn, document, line = row.split("\t")[:3]
            lines[document].append((int(line), turn))
    return {document: sorted(rows) for document, rows in lines.items()}


def _lines(path: Path) -> list[str]:
    # Not splitlines(): JSON may contain unescaped Unicode line separators.
    return [line for line in path.read_text("utf-8").split("\n") if line.strip()]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("INVALID_INPUT", f"{path} cannot be read: {error}") from error
