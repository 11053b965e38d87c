"""The roles of models at the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Invoke
from programs import run_program
from scripted_server import ReceivedRequest, ScriptedReply, scripted, well_behaved

from clawmem.app.services.models import NONE

PLACE = "http://localhost:8088"


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

    def test_without_any_server(self, remembered: Invoke) -> None:
        """Status names who plays each role and why, nobody included, in both forms."""
        roles = self.roles(remembered)

        assert list(roles) == ["embedder", "generator", "reranker"]
        assert roles["generator"]["chosen"] == roles["reranker"]["chosen"] == NONE
        assert "CLAWMEM_LLM_URL" in str(roles["generator"]["reason"])
        shown = remembered("status").stdout
        assert "reranker" in shown and "none" in shown

    def test_doctor_examines_every_role(self, named: Invoke) -> None:
        """With good models behind every role each canary passes, with how long it took and whose doing it is."""
        found = {one["check"]: one for one in json.loads(named("--json", "doctor").stdout)["findings"]}

        assert found["reranker"]["ok"] and found["generator"]["provider"]["role"] == "generator"
        assert " ms" in found["reranker"]["detail"]
        assert not found["generator"]["ok"]  # which only repeats the question
        assert "something else" in found["generator"]["detail"]

    def test_a_search_makes_no_model(
        self, remembered: Invoke, home: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A search in a process of its own loads nothing that could make a model, whatever is named or allowed."""
        code = (
            "import sys\nfrom clawmem.app.main import main\nsys.argv = ['clawmem', 'search', 'sessions']\n"
            "try: main()\nexcept SystemExit: pass\n"
            "print(*(name for name in sys.modules if name.startswith('clawmem.')))"
        )
        named = {f"CLAWMEM_{name}_URL": PLACE for name in ("LLM", "RERANK", "EMBED")}
        done = run_program(code, cwd=home, env={**environ, **named, "CLAWMEM_DOWNLOAD_MODELS": "1"})

        loaded = done.stdout.splitlines()[-1].split()
        makers = ("http", "llama", "models")
        assert "clawmem.adapters.sqlite.vault" in loaded
        assert not [
            name for name in loaded if name.startswith(tuple(f"clawmem.adapters.{m}" for m in makers))
        ]
        assert "clawmem.app.bootstrap.models" not in loaded

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

    @pytest.mark.skipif(not (find_spec("xllamacpp") and find_spec("gguf")), reason="needs xllamacpp and gguf")
    def test_a_model_in_this_process(self, remembered: Invoke, home: Path) -> None:
        """A file that was added plays its role without any setting, and is examined as well."""
        from llama_server import Role, write_model

        write_model(Role.GENERATE, home / "mine.gguf")
        added = remembered("models", "add", "qmd-query-expansion", "--file", home / "mine.gguf")
        assert added.exit_code == 0, added.output

        generator = self.roles(remembered)["generator"]
        examined = {
            one["check"]: one for one in json.loads(remembered("--json", "doctor").stdout)["findings"]
        }

        assert (generator["chosen"], generator["passed_over"]) == ("qmd-query-expansion", [])
        assert examined["generator"]["ok"], examined["generator"]["detail"]


def down(asked: ReceivedRequest) -> ScriptedReply:
    """A server that names its model and is too busy for everything else."""
    return ScriptedReply(b"", 503) if asked.body is not None else well_behaved(asked)
