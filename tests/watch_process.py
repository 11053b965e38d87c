"""``clawmem watch`` as a person runs it, over a home of its own."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from command_process import start_process
from process_environ import process_environ

from clawmem.adapters.sqlite.vault import open_vault

SOON_S = 60.0  # that anything may take on a machine that does much else


class Home:
    """Collections of a name and a folder below ``home``, and a vault."""

    def __init__(self, home: Path, **collections: str) -> None:
        self.home = home
        self.environ = process_environ(home)
        self.vault = home / ".cache" / "clawmem" / "index.sqlite"
        self.config = home / ".config" / "clawmem" / "config.yaml"
        self.config.parent.mkdir(parents=True)
        self.collect(**collections)

    def collect(self, **collections: str) -> None:
        folders = {name: {"path": str(self.home / below)} for name, below in collections.items()}
        self.config.write_text(json.dumps({"collections": folders}), "utf-8")

    def write(self, path: str, text: str) -> None:
        """A file of the user's."""
        (self.home / path).parent.mkdir(parents=True, exist_ok=True)
        (self.home / path).write_text(text, "utf-8")

    def served(self, collection: str) -> dict[str, str]:
        """Path and text of what is served of a collection."""
        vault = open_vault(str(self.vault), read_only=True)
        try:
            known = vault.documents.sources(collection)
            return {
                path: vault.documents.body(document.id) or ""
                for path, document in known.items()
                if document.inactive is None
            }
        finally:
            vault.close()

    def embedded(self) -> int:
        """How many texts have vectors."""
        vault = open_vault(str(self.vault), read_only=True)
        try:
            return vault.embeddings.counts().stored
        finally:
            vault.close()

    def serves(self, collection: str, *paths: str) -> bool:
        """Whether just these are served of a collection, soon."""
        return soon(lambda: set(self.served(collection)) == set(paths))


class Watcher:
    """A watcher that runs, and what it said."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.news: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def told(self, event: str, since: int = 0) -> list[str]:
        """The sentences of a kind of news, from the one at *since* on."""
        return [one["text"] for one in self.news[since:] if one["event"] == event]

    def end(self) -> int:
        self.process.terminate()
        code = self.process.wait(15)
        self._thread.join(5)
        return code

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.news.append(json.loads(line))


@contextmanager
def watching(home: Home, *options: str, until: str = "watching", fresh: bool = False) -> Iterator[Watcher]:
    """A watcher from its first word on; ended in any case."""
    command = ("watch", "--json", "--every", "3600", *options)
    pipes = {"stdout": subprocess.PIPE, "text": True, "fresh": fresh}
    with start_process(*command, environ=home.environ, cwd=home.home, **pipes) as process:
        try:
            watcher = Watcher(process)
            assert soon(lambda: bool(watcher.told(until)))
            yield watcher
        finally:
            if process.poll() is None:
                process.kill()


def soon(holds: Callable[[], bool], within_s: float = SOON_S) -> bool:
    """Whether it holds before long."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return holds()
