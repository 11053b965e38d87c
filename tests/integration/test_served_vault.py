"""A vault whose indexes lie outside of it: what is written is found at once, and carried there afterwards."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from command_process import start_process
from notes_vault import ASKED, STORIES, ServedNotesVault
from vault_stores import retrieval_stores

from clawmem.adapters.system.clock import SystemClock
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines import query, search, vsearch
from clawmem.ports.records import Grain, InactiveReason
from clawmem.ports.vault import Vault


class Shelf(ServedNotesVault):
    """Notes whose indexes lie outside of the vault."""

    def ask(self, text: str, verb: str = "search", vault: Vault | None = None) -> Answer:
        """Return the answer of *vault*, or of the first handle."""
        asked = vault or self.vault
        request = self.request(text, limit=3, show_all=False)
        if verb == "search":
            return search(retrieval_stores(asked))(request)
        return {"vsearch": vsearch, "query": query}[verb](retrieval_stores(asked), self.embedder)(request)

    def first(self, text: str, verb: str = "search", vault: Vault | None = None) -> str | None:
        """Where the best answer lies; fails if anything was missing when it was looked for."""
        answer = self.ask(text, verb, vault)
        assert answer.trace.degraded == {}, answer.trace.degraded
        return answer.results[0].document.path if answer.results else None

    def firsts(self, verb: str, vault: Vault | None = None) -> dict[str, str | None]:
        """The best answer to every question of `ASKED`."""
        return {text: self.first(text, verb, vault) for text in ASKED}

    def lag(self, index: str = "lexical") -> int:
        """How many changes an index outside has not seen."""
        marker = (self.vault.lexical if index == "lexical" else self.vault.vectors).marker()
        return self.vault.outbox.head().seq - marker.seq

    def kept(self) -> int:
        """How many changes are still written down."""
        return int(self.records.storage.db.value("select count(*) from outbox"))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.close()


@pytest.fixture
def outside(shelf: Shelf) -> Shelf:
    """The stories, embedded, with their words in tantivy."""
    shelf.add(STORIES)
    shelf.embed()
    shelf.indexes.move("tantivy")
    return shelf


class TestWriting:
    def test_found_at_once_and_carried_afterwards(self, outside: Shelf) -> None:
        """What is new is found before any index outside has seen it, and afterwards."""
        before = {grain: outside.vault.lexical.count(grain) for grain in Grain}

        outside.add({"comet.md": "A comet was seen over the quarry.\n"})
        at_once = outside.first("comet"), outside.lag()
        outside.indexes.keep_up()

        assert at_once[0] == outside.first("comet") == "comet.md"
        assert at_once[1] > 0
        assert outside.lag() == 0
        assert outside.kept() == 1
        assert outside.vault.lexical.count(Grain.DOCUMENT) == before[Grain.DOCUMENT] + 1
        assert outside.verify() == []

    def test_questions_read_the_latest_state(self, outside: Shelf) -> None:
        """An external index changes on its own, so that a block of reads sees changes of the records as well."""
        other = outside.open()
        with outside.vault.transactions.reading():
            before = outside.vault.outbox.head()
            other.documents.deactivate([1], InactiveReason.REMOVED)

            assert outside.vault.outbox.head() != before


class TestReadOnly:
    def test_with_a_lag(self, outside: Shelf) -> None:
        """A vault opened for reading finds what no index has seen, and carries nothing."""
        outside.add({"comet.md": "A comet was seen over the quarry.\n"})
        outside.withdraw("kettle.md")
        lag = outside.lag()

        reader = outside.open(read_only=True)

        assert outside.first("comet", vault=reader) == "comet.md"
        assert outside.ask("kettle vinegar", vault=reader).results == ()
        assert reader.storage.info().read_only
        assert reader.storage.info().lexical_method == "tantivy"
        assert outside.lag() == lag > 0

    def test_sees_what_others_carry(self, outside: Shelf) -> None:
        """It follows when another handle writes, carries, and moves the indexes elsewhere."""
        reader = outside.open(read_only=True)
        before = outside.firsts("search", reader)

        outside.add({"comet.md": "A comet was seen over the quarry.\n"})
        outside.indexes.keep_up()
        carried = outside.first("comet", vault=reader)
        outside.indexes.move("sqlite")
        moved = outside.first("comet", vault=reader), reader.storage.info().backend

        assert before == ASKED
        assert carried == "comet.md"
        assert moved == ("comet.md", "sqlite")


class TestThreads:
    MOVES = (("rebuild", "--backend", "tantivy"), ("rebuild",), ("rebuild", "--backend", "sqlite"))
    THREADS = 4

    def test_while_another_process_moves_the_indexes(
        self, shelf: Shelf, environ: dict[str, str], home: Path
    ) -> None:
        """Threads that share one vault get every answer, whole, whichever generation serves at that moment."""
        shelf.clock = SystemClock()
        shelf.add(STORIES)
        shelf.embed()
        program = ("-c", RUN_ALL, shelf.vault_file, *(" ".join(move) for move in self.MOVES))
        options: dict[str, Any] = {"cwd": home, "stderr": subprocess.PIPE, "text": True}
        has_ended = Event()

        with (
            start_process(*program, environ=environ, **options) as mover,
            ThreadPoolExecutor(self.THREADS) as pool,
        ):
            asked = [pool.submit(self.ask_until, has_ended, shelf, n) for n in range(self.THREADS)]
            complaints = mover.communicate()[1]
            has_ended.set()
        answers = sum((future.result() for future in asked), Counter[tuple[str, str, str | None]]())

        assert (mover.returncode, complaints) == (0, "")
        assert {(text, first) for text, _, first in answers} == set(ASKED.items())
        assert {backend for _, backend, _ in answers} == {"sqlite", "tantivy"}
        assert shelf.indexes.backend == "sqlite"
        assert list(shelf.vault.outbox.indexes()) == []
        assert shelf.verify() == []

    @staticmethod
    def ask_until(has_ended: Event, shelf: Shelf, number: int) -> Counter[tuple[str, str, str | None]]:
        """Ask one question after the other: which was answered by which backend, and how, how often."""
        answers: Counter[tuple[str, str, str | None]] = Counter()
        questions = islice(cycle(ASKED), number, None)
        while not has_ended.is_set() or len(answers) < len(ASKED):
            text = next(questions)
            answers[text, shelf.indexes.backend, shelf.first(text)] += 1
        return answers


# One process for all of them.
RUN_ALL = """
import sys
from clawmem.app.interfaces.cli.command_line import cli
_, vault, *commands = sys.argv
for command in commands:
    try:
        cli(["--vault", vault, *command.split()])
    except SystemExit as left:
        if left.code:
            raise
"""
