"""Judged collections, and the user's own cases, by which answers are measured."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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

    Questions without a judgement are left out. Raises `InvalidInput` that names a missing or wrong part.
    """
    judgements = "qrels_turn.tsv" if turns else "qrels.tsv"
    for name in ("corpus", "queries.jsonl", judgements, *(["turns.tsv"] if turns else [])):
        if not (folder / name).exists():
            raise InvalidInput(
                "INVALID_INPUT",
                f"{folder} is no judged collection: {name} is missing. It needs corpus/, queries.jsonl, qrels.tsv "
                "(and turns.tsv, qrels_turn.tsv for --unit turn).",
            )
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    lines: dict[str, list[tuple[int, str]]] = defaultdict(list)
    path = folder / judgements
    try:
        for qid, item, grade in (line.split("\t") for line in _lines(path)):
            if int(grade) > 0:
                grades[qid][item] = int(grade)
        path = folder / "turns.tsv"
        for turn, document, line, *_ in (row.split("\t") for row in _lines(path)) if turns else ():
            lines[document].append((int(line), turn))
        path = folder / "queries.jsonl"
        rows = [json.loads(line) for line in _lines(path)]
        queries = tuple(
            JudgedQuery(row["qid"], row["text"], row.get("category", "all"), row.get("scope", ""))
            for row in rows
            if row["qid"] in grades
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("INVALID_INPUT", f"{path} cannot be read: {error}") from error
    turn_lines = {document: sorted(places) for document, places in lines.items()}
    return JudgedCollection(folder / "corpus", queries, dict(grades), turn_lines)


def _lines(path: Path) -> list[str]:
    # Not splitlines(): JSON may contain unescaped Unicode line separators.
    return [line for line in path.read_text("utf-8").split("\n") if line.strip()]


class Case(NamedTuple):
    """A prompt, and a note that its block should have (``wanted``) or should not have."""

    prompt: str
    file: str
    wanted: bool
    at: str


def cases_file(config_file: Path) -> Path:
    """Return the file of the cases, next to the config file."""
    return config_file.with_name("cases.jsonl")


def read_cases(file: Path) -> list[Case]:
    """Return the cases of *file*; none if it is missing. Raises `InvalidInput` for a line that is no case."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    cases = []
    for number, line in enumerate(lines, start=1):
        try:
            cases.append(Case(**json.loads(line)))
        except (ValueError, TypeError) as error:
            raise InvalidInput("INVALID_INPUT", f"{file}:{number} is no case: {error}") from error
    return cases
