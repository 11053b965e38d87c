"""Hooks called over and over: nothing is left behind by a call, neither in a process that stays nor on the disk."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest
from hook_process import ONCE, QUESTION, Client

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.interfaces.hooks import runner
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.ports.telemetry import Recall

MOST_LOG = 5_000_000  # bytes of a write-ahead log
LONG_AGO = "2020-01-01T00:00:00.000Z"
OLD = 100

# Of twenty calls, as a client makes them.
CALLS = [
    *[("context-surfacing", {"prompt": "hi"})] * 8,
    *[("context-surfacing", {"prompt": QUESTION})] * 3,
    *[("pretool-inject", {"tool_input": {"file_path": "/app/redis.md"}})] * 3,
    ("session-bootstrap", {"source": "startup"}),
    ("curator-nudge", {"source": "startup"}),
    ("precompact-extract", {}),
    ("decision-extractor", {}),
    ("handoff-generator", {}),
    ("feedback-loop", {}),
]


class Calls:
    """Calls hooks in this process."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._here = HookContext({**client.environ, "INDEX_PATH": str(client.vault)})
        self._number = 0

    def __call__(self, times: int) -> None:
        for _ in range(times):
            name, fields = CALLS[self._number % len(CALLS)]
            self._number += 1
            asked = (
                {"prompt": f"{fields['prompt']} {self._number}"} if fields.get("prompt") == QUESTION else {}
            )
            told = {"session_id": "5f0c", "transcript_path": str(self._client.conversation)}
            runner.call(name, HookEvent(**{**told, **fields, **asked}), self._here)


def left_behind(client: Client) -> tuple[int, int, list[str]]:
    """Descriptors, threads, and files beside the vault."""
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count(), files(client)


def files(client: Client) -> list[str]:
    """The names of what lies beside the vault."""
    return sorted(path.name for path in client.vault.parent.rglob("*"))


# A model in this process lets go of its file with itself, which is soon enough for descriptors to be counted.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted there")
@pytest.mark.parametrize("times", [60, pytest.param(2_000, marks=pytest.mark.slow)])
def test_many_calls_in_a_row(client: Client, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No descriptor, thread or file more than after the first rounds; what is past its retention goes."""
    monkeypatch.setenv("HOME", str(client.home))
    with closing(open_vault(str(client.vault))) as vault:
        for _ in range(OLD):
            vault.telemetry.record(Recall(LONG_AGO, "context-surfacing", "0" * 12, 1.0, 10, session_id="old"))
    call = Calls(client)
    call(2 * len(CALLS))
    before = left_behind(client)

    call(times - 2 * len(CALLS))

    assert left_behind(client) == before
    log = client.vault.with_name(f"{client.vault.name}-wal")
    assert not log.exists() or log.stat().st_size < MOST_LOG
    prompts = sum(fields.get("prompt") == QUESTION for _, fields in CALLS) * times // len(CALLS)
    assert [turn.session_id for turn in client.turns()] == ["5f0c"] * prompts
    assert client.memories() == ONCE
