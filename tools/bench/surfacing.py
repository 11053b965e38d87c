"""
What a prompt carries, on judged conversations: the hook ``context-surfacing`` in this process, without a model.

    python tools/bench/surfacing.py FOLDER [--work FOLDER] [--most 1000]

A prompt is a question in a session of its own, over a vault that holds all conversations; gold are the turns that
answer it. Of more than *most* questions a sample with a fixed seed is asked. The prompts of ``tests/data/silence.jsonl``
have no answer there. ``docs/bench/surfacing`` gets two tables for each collection, with ids and numbers only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from artefacts import FOLDER, read_facts, write_facts
from judged import collections_in, data_hash, each, surroundings, vault_of

from clawmem.app.bench.collection import JudgedCollection, JudgedQuery, load_collection
from clawmem.app.interfaces.hooks.handlers import HookContext, context_surfacing
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.domain.security.quoting import safe
from clawmem.domain.surfacing.profiles import PROFILES
from clawmem.domain.text.words import token_count

TABLES = FOLDER / "surfacing"
FACTS = FOLDER / "surfacing.json"
SILENCE = Path(__file__).parents[2] / "tests" / "data" / "silence.jsonl"
SEED, MOST = 20260501, 1000  # questions of a collection: so far all of them, for four minutes of CPU time
LEAST = 20  # characters of a turn in a row that are no coincidence
WHOLE = 0.9  # share of a turn's characters from which nothing of it is missing


class Gold(NamedTuple):
    """What answers a question: the files by their paths in the vault, and the turns as a block spells them, plain."""

    files: tuple[str, ...]
    turns: tuple[str, ...]


class Carried(NamedTuple):
    """Of one block: its tokens, and how many gold files it names, gold turns it quotes and has nearly whole."""

    tokens: int
    files: int = 0
    quoted: int = 0
    whole: int = 0


def gold_of(query: JudgedQuery, collection: JudgedCollection) -> Gold:
    """The answers of *query*."""
    at = {turn: (doc, line) for doc, lines in collection.turn_lines.items() for line, turn in lines}
    places = [at[turn] for turn in collection.grades[query.qid] if turn in at]
    turns = tuple(_spelt(_line(collection.corpus / f"{doc}.md", line)) for doc, line in places)
    return Gold(tuple(dict.fromkeys(f"{doc}.md" for doc, _ in places)), turns)


def judged(block: str, gold: Gold) -> Carried:
    """What of *gold* stands in *block*."""
    if not block:
        return Carried(0)
    shown = [plain(line).strip(" .…") for line in block.splitlines()]
    longest = [max((len(text) for text in shown if text and text in turn), default=0) for turn in gold.turns]
    return Carried(
        token_count(block),
        sum(f" {file}:" in block for file in gold.files),
        sum(n >= min(LEAST, len(turn) * WHOLE) for n, turn in zip(longest, gold.turns, strict=True)),
        sum(n >= len(turn) * WHOLE for n, turn in zip(longest, gold.turns, strict=True)),
    )


class Prompts:
    """The hook over one vault, with nothing of this machine's configuration, and without writing anything down."""

    def __init__(self, vault: Path, embedder: str = "static") -> None:
        config = vault.parent / f"surfacing-config-{embedder}"
        config.mkdir(exist_ok=True)
        (config / "config.yaml").write_text(f"telemetry: off\nembedder: {embedder}\n", "utf-8")
        self._environ = {
            "INDEX_PATH": str(vault),
            "CLAWMEM_CONFIG_DIR": str(config),
            "HOME": str(config),
            "XDG_CACHE_HOME": str(config),
        }

    def block(self, prompt: str, session: str, profile: str) -> str:
        """What *prompt* carries."""
        here = HookContext({**self._environ, "CLAWMEM_PROFILE": profile})
        return context_surfacing(HookEvent("UserPromptSubmit", session, prompt=prompt), here)


def measure(name: str, folder: Path, work: Path, most: int) -> None:
    """Both tables of one collection."""
    collection = load_collection(folder, turns=True)
    with vault_of(name, folder, "static", work):
        pass  # made, and complete
    prompts = Prompts(work / f"{name}.static.sqlite")
    write(TABLES / f"{name}.tsv", _answered(name, sample(collection.queries, most), collection, prompts))
    write(TABLES / f"{name}.silence.tsv", _unanswered(name, prompts))
    facts = read_facts(FACTS)
    about = {"sha256": data_hash(folder), "questions": len(collection.queries), "seed": SEED}
    facts.setdefault("collections", {})[name] = about
    write_facts(FACTS, {**facts, "made with": surroundings()})


def sample(queries: Sequence[JudgedQuery], most: int) -> list[JudgedQuery]:
    """*most* of them in their order, the same ones every time."""
    chosen = random.Random(SEED).sample(range(len(queries)), min(most, len(queries)))
    return [queries[index] for index in sorted(chosen)]


def _answered(
    name: str, queries: Sequence[JudgedQuery], collection: JudgedCollection, prompts: Prompts
) -> list[list[str]]:
    rows = [["qid", "category", "files", "turns", *PROFILES]]
    say = each(len(queries), f"{name} questions")
    for done, query in enumerate(queries, start=1):
        gold = gold_of(query, collection)
        carried = [judged(prompts.block(query.text, query.qid, profile), gold) for profile in PROFILES]
        about = [query.qid, query.category, str(len(gold.files)), str(len(gold.turns))]
        rows.append([*about, *(",".join(map(str, one)) for one in carried)])
        say(done)
    return rows


def _unanswered(name: str, prompts: Prompts) -> list[list[str]]:
    asked = [json.loads(line) for line in SILENCE.read_text("utf-8").splitlines()]
    rows = [["number", "kind", *PROFILES]]
    say = each(len(asked), f"{name} silence")
    for number, one in enumerate(asked, start=1):
        blocks = [prompts.block(one["text"], f"silence {number}", profile) for profile in PROFILES]
        rows.append(
            [str(number), one["kind"], *(str(token_count(block) if block else 0) for block in blocks)]
        )
        say(number)
    return rows


def write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """A table as tab-separated text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")


def _line(file: Path, number: int) -> str:
    return file.read_text("utf-8").split("\n")[number - 1]


def _spelt(text: str) -> str:
    """As a block spells it, plain."""
    return plain(safe(text))


def plain(text: str) -> str:
    """Without emphasis and with single blanks."""
    return " ".join(text.replace("*", "").split())


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where vaults are kept")
    parser.add_argument("--most", type=int, default=MOST, help="questions of a collection")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    found: Mapping[str, Path] = collections_in(chosen.data)
    for name, folder in found.items():
        if (folder / "turns.tsv").exists():
            measure(name, folder, chosen.work, chosen.most)
        else:
            sys.stderr.write(f"{name} has no turns\n")


if __name__ == "__main__":
    main()
