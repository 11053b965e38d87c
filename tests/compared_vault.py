"""Vaults of chance, and questions to them at one time."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from random import Random

from file_tree import FileTree
from wired import embed_pending, update_collection, wired

from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.vault import Vault

NOW_MS = parse_iso("2026-06-17T12:00:00Z") or 0  # a Wednesday


def filled(vault: Vault, texts: Mapping[str, str], collection: str = "notes") -> Vault:
    """*vault* with a note for each of *texts*, with vectors."""
    files = FileTree()
    for path, text in texts.items():
        files.write(f"/{collection}/{path}", text.encode(), mtime_ns=NOW_MS * 1_000_000)
    update_collection(vault, files, ManualClock(NOW_MS), parse_yaml)(Folder(collection, f"/{collection}"))
    embed_pending(vault, HashingEmbedder())()
    return vault


def asked(question: str, **rest: object) -> RetrievalRequest:
    return read_request(question, now_ms=NOW_MS, show_all=True, **rest)  # type: ignore[arg-type]


WORDS = "kettle whistle steam spout water boat harbour bee honey hive car garden rain wall tower".split()
OPENED = ExitStack()


@cache
def some_vault(seed: int) -> Vault:
    """A small vault of chance: notes of several lines over half a year, with relations in time."""
    chance = Random(seed)
    texts = {
        f"2026-{1 + n % 6:02d}-{1 + n % 28:02d}-{n}.md": _some_note(chance, n)
        for n in range(chance.choice((3, 12, 60, 130)))
    }
    vault = filled(open_vault(":memory:"), texts)
    OPENED.callback(vault.close)
    wired(vault, ManualClock(NOW_MS)).build_graphs().temporal()
    return vault


def _some_note(chance: Random, number: int) -> str:
    lines = [" ".join(chance.choices(WORDS, k=chance.randint(2, 9))) for _ in range(chance.randint(1, 4))]
    return f"# Note {number}\n\n" + "".join(f"{line.capitalize()} {number}.\n\n" for line in lines)
