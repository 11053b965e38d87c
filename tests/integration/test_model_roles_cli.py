"""The roles of models at the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Invoke
from scripted_server import ReceivedRequest, ScriptedReply, scripted, well_behaved


class TestCommands:
    @pytest.fixture
    def named(self, remembered: Invoke, monkeypatch: pytest.MonkeyPatch) -> Iterator[Invoke]:
        """A vault with vectors of its own, and after that one good server that is named for every role."""
        with scripted(well_behaved) as server:
            for name in ("LLM", "RERANK", "EMBED"):
                monkeypatch.setenv(f"CLAWMEM_{name}_URL", server.url)
            yield remembered

    def roles(self, invoke: Invoke) -> dict[str, dict[str, object]]:
        found = json.loads(invoke("--json", "status").stdout)["roles"]
        return {one["role"]: one for one in found}

    def test_doctor_examines_every_role(self, named: Invoke) -> None:
        """With good models behind every role each canary passes, with how long it took and whose doing it is."""
        found = {one["check"]: one for one in json.loads(named("--json", "doctor").stdout)["findings"]}

        assert found["reranker"]["ok"] and found["generator"]["provider"]["role"] == "generator"
        assert " ms" in found["reranker"]["detail"]
        assert not found["generator"]["ok"]  # which only repeats the question
        assert "something else" in found["generator"]["detail"]

    def test_a_failure_is_remembered(
        self, invoke: Invoke, notes: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Status tells that the embedder failed, why and what answers lacked, and later that it answers again."""
        with scripted(well_behaved) as server:
            monkeypatch.setenv("CLAWMEM_EMBED_URL", server.url)
            invoke("bootstrap", notes)
            server.answer = down
            assert invoke("query", "sessions").exit_code == 0

            shown = invoke("status").stdout
            failed = self.roles(invoke)["embedder"]["last_failure"]
            server.answer = well_behaved
            invoke("query", "sessions")
            healed = self.roles(invoke)["embedder"]["last_failure"]

        assert "by words alone" in shown
        assert isinstance(failed, dict) and isinstance(healed, dict)
        assert (failed["model"], failed["answered_at"]) == (server.url, None)
        assert "503" in failed["reason"]
        assert healed["failed_at"] == failed["failed_at"] and healed["answered_at"]


def down(asked: ReceivedRequest) -> ScriptedReply:
    """A server that names its model and is too busy for everything else."""
    return ScriptedReply(b"", 503) if asked.body is not None else well_behaved(asked)
