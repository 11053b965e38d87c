"""
Turn recall of mined conversations against the direct index of the same conversations as notes.

``python tools/bench/mined_recall.py DIR [EVERY]``: DIR is a judged collection with turns, EVERY asks only each n-th question.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from chat_exports import FORMATS, Talk, Turn

from clawmem.app.bench.collection import JudgedCollection, load_collection
from clawmem.app.bench.retrieval import measure, unrolled
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.services.conversations.mining import MiningOptions
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.request import Unit, read_request
from clawmem.app.settings.model import load_settings

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

SOURCES = ("chatgpt", "claude.ai", "claude-code", "slack", "text")
NAMED = ("slack", "text")  # formats that record the names of speakers
DIRECT = (
    "direct",
    "direct with roles",
)  # the second one names speakers in the text, as formats with roles do
DEPTH = 100
_TURN = re.compile(r"\*\*([^*]+):\*\* (.*)")
_TITLE = re.compile(r"^title: (.+)$", re.MULTILINE)
_DATE = re.compile(r"^date: (\S+)$", re.MULTILINE)


def talks_of(folder: Path, scope: str) -> list[Talk]:
    """Return the sessions of one conversation as talks; each turn is a minute after the one before."""
    found = []
    for file in sorted((folder / "corpus" / scope).rglob("*.md")):
        text = file.read_text("utf-8")
        said = _TURN.findall(text)
        day = _DATE.search(text)
        start = (
            datetime.fromisoformat(f"{day[1] if day else '2024-01-01'}T12:00:00")
            .replace(tzinfo=UTC)
            .timestamp()
        )
        title = _TITLE.search(text)
        turns = [Turn(name, words, start + 60 * at) for at, (name, words) in enumerate(said)]
        found.append(Talk(f"{scope}-{file.stem}", title[1] if title else file.stem, turns))
    return found


def mined(services: Services, collection: JudgedCollection, folder: Path, source: str) -> JudgedCollection:
    """Import the conversations of each scope into a collection of its name, and return where their turns are."""
    for scope in sorted({query.scope for query in collection.queries}):
        with tempfile.TemporaryDirectory() as place:
            talks = talks_of(folder, scope)
            if source not in NAMED:
                talks = [_named(one) for one in talks]
            for name, text in FORMATS[source](talks).items():
                (Path(place) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(place) / name).write_text(text, "utf-8")
            report = services.mining([place], MiningOptions(scope))
            assert not report.faults, report
    return replace(collection, turn_lines=dict(_places(services, folder)))


def _named(one: Talk) -> Talk:
    """Return a talk whose messages begin with the name of the speaker, which a format with roles does not record."""
    return one._replace(turns=[turn._replace(text=f"{turn.speaker}: {turn.text}") for turn in one.turns])


def _index(
    services: Services, collection: JudgedCollection, folder: Path, place: Path, *, with_roles: bool
) -> None:
    """Index the sessions as notes, line for line."""
    for scope in sorted({query.scope for query in collection.queries}):
        root = place / scope
        for file in sorted((folder / "corpus" / scope).rglob("*.md")):
            text = file.read_text("utf-8")
            first = _TURN.search(text)
            if with_roles and first:
                text = _TURN.sub(partial(_with_role, first[1]), text)
            (root / file.relative_to(folder / "corpus" / scope)).parent.mkdir(parents=True, exist_ok=True)
            (root / file.relative_to(folder / "corpus" / scope)).write_text(text, "utf-8")
        services.update(Folder(scope, str(root)))


def _with_role(user: str, turn: re.Match[str]) -> str:
    return f"**{'User' if turn[1] == user else 'Agent'}:** {turn[1]}: {turn[2]}"


def _places(services: Services, folder: Path) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    waiting: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in (folder / "turns.tsv").read_text("utf-8").split("\n"):
        if row:
            turn, document, _, speaker, text = row.split("\t")[:5]
            waiting[document.partition("/")[0], _flat(text)].append(turn)
            waiting[document.partition("/")[0], _flat(f"{speaker}: {text}")].append(turn)
    for document in sorted(
        services.vault.documents.latest(limit=None), key=lambda one: (one.authored_at, one.path)
    ):
        body = services.vault.documents.body(document.id) or ""
        rows = []
        for number, line in enumerate(body.split("\n"), start=1):
            key = (document.collection, _flat(line.partition(":** ")[2]))
            if waiting.get(key):
                rows.append((number, waiting[key].pop(0)))
        yield document.display_path.removesuffix(".md"), rows


def _flat(text: str) -> str:
    return " ".join(text.split())


def recall(services: Services, collection: JudgedCollection, every: int) -> Mapping[str, float]:
    """Return the mean recall@10 and nDCG@10 of turns."""
    sums: dict[str, float] = defaultdict(float)
    asked = collection.queries[::every]
    for query in asked:
        request = read_request(
            query.text,
            show_all=True,
            now_ms=services.clock.now_ms(),
            limit=DEPTH,
            collections=[query.scope],
            unit=Unit.LINE,
        )
        work, _ = services.query_without_models.rank(request)
        items = [_item(one) for one in work.candidates]
        measures = measure(unrolled(items, collection), collection.grades[query.qid])
        for name in ("recall@10", "ndcg@10"):
            sums[name] += measures[name] / len(asked)
    return {**sums, "n": len(asked)}


def _item(candidate: object) -> str:
    document, span = candidate.document, candidate.span  # type: ignore[attr-defined]
    return f"{document.display_path.removesuffix('.md')}:{span.start_line}-{span.end_line}"


def recalls(
    folder: Path, sources: Sequence[str], every: int = 1
) -> Iterator[tuple[str, int, Mapping[str, float]]]:
    """Yield each of *sources*, the number of its documents, and its measures."""
    collection = load_collection(folder, turns=True)
    for source in sources:
        with tempfile.TemporaryDirectory() as place:
            settings = load_settings(vault=Path(place) / "vault.sqlite")
            with open_services(settings) as services:
                judged = collection
                if source in DIRECT:
                    _index(services, collection, folder, Path(place), with_roles=source == DIRECT[1])
                else:
                    judged = mined(services, collection, folder, source)
                services.embed()
                documents = sum(services.vault.documents.collections().values())
                yield source, documents, recall(services, judged, every)


def main(arguments: Sequence[str]) -> None:
    folder, every = Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 1
    sources = arguments[2].split(",") if len(arguments) > 2 else SOURCES
    for source, documents, measures in recalls(folder, (*DIRECT, *sources), every):
        sys.stdout.write(f"{source}: {documents} documents, {measures}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
