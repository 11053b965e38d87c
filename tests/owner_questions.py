"""Judged questions to the vaults of invented owners in ``tests/data``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.app.services.indexing.folders import Folder, scan_folder
from clawmem.app.services.indexing.source import ParsedSource, parse_source
from clawmem.app.services.retrieval.work import Candidate
from clawmem.domain.documents import frontmatter
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.records import SourceStamp

DATA = Path(__file__).parent / "data"
OWNERVAULT, HOUSEHOLDVAULT, OBSIDIANVAULT = "ownervault", "householdvault", "obsidianvault"
VAULTS = (OWNERVAULT, HOUSEHOLDVAULT, OBSIDIANVAULT)
BEST = 3  # the grade of an answer
SEEN = 10  # results in which a trap does harm
UNANSWERABLE = "unanswerable"
KINDS = (
    *("fact", "paraphrase", "recency", "temporal", "pin", "history", "current", "trap", "typo"),
    *("multilingual", "cross-language", "long-note", "who-when", "linked", UNANSWERABLE),
)
NO_STAMP = SourceStamp(0, 0)  # a note that does not say when it was written would be of 1970


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the grades of its answers, notes that must not rank above the best one, and a quotation."""

    id: str
    kind: str
    text: str
    relevant: Mapping[str, int] = field(default_factory=dict)
    not_above: Sequence[str] = ()
    as_of: str = ""
    says: str = ""  # words of the answer


def lines(name: str) -> list[dict[str, Any]]:
    """Return the lines of a JSON Lines file of ``tests/data``."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").split("\n") if line]


def questions(vault: str = OWNERVAULT, which: str = "questions") -> list[Question]:
    """Return every question to *vault* of the file *which*, those without an answer included."""
    return [Question(**line) for line in lines(f"{vault}_{which}.jsonl")[1:]]


def answered_questions(vault: str = OWNERVAULT) -> list[Question]:
    return [question for question in questions(vault) if question.relevant]


def now_ms(vault: str = OWNERVAULT) -> int:
    """Return the moment at which every question to *vault* is asked."""
    moment = parse_iso(lines(f"{vault}_questions.jsonl")[0]["now"])
    assert moment is not None
    return moment


def parsed(vault: str = OWNERVAULT) -> Iterator[tuple[ParsedSource, dict[str, object]]]:
    """Yield every note as the index stores it, and its front matter."""
    files = DiskFiles()
    for file in scan_folder(files, Folder("own", str(DATA / vault))).files:
        data = files.read(str(DATA / vault), file.path)
        head = parse_front_matter(frontmatter.split(data.decode("utf-8")).text)
        yield (
            parse_source(
                data, "own", file.path, NO_STAMP, now_ms=now_ms(vault), parse_front_matter=parse_front_matter
            ),
            head,
        )


def paths_of(candidates: Sequence[Candidate]) -> list[str]:
    return [candidate.document.path for candidate in candidates if candidate.document]


def broken_traps(ranking: Sequence[str], question: Question) -> list[str]:
    """Return the traps seen above the best answer, or all that are seen if no best answer was found."""
    most = max(question.relevant.values())
    best = (place for place, path in enumerate(ranking) if question.relevant.get(path) == most)
    above = ranking[: min(next(best, len(ranking)), SEEN)]
    return [path for path in above if path in question.not_above]
