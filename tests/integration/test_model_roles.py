"""Who plays which role, why, and what is remembered of it when that goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from command_line import Invoke
from scripted_server import ReceivedRequest, ScriptedReply, scripted, well_behaved

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder, OverlapReranker, ScriptedGenerator
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.bootstrap.models import ModelSelection
from clawmem.app.services.models import NONE, REST_MS, Watch, WatchedModel
from clawmem.app.settings.model import load_settings
from clawmem.contracts.models import GeneratorContract, RerankerContract
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import ConfigError, ModelUnavailable
from clawmem.ports.models import Generator, ModelFailure, ModelFailures, ModelRole, Reranker
from clawmem.ports.records import Vector

PLACE = "http://localhost:8088"


class Moody(HashingEmbedder):
    """An embedder that fails as long as there is an error to fail with."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def embed_query(self, text: str) -> Vector:
        if self.error:
            raise self.error
        return super().embed_query(text)


def watch(failures: ModelFailures, clock: ManualClock, role: ModelRole = ModelRole.EMBEDDER) -> Watch:
    return Watch(failures, clock, role, PLACE)


def selection(environ: dict[str, str]) -> ModelSelection:
    failures = open_vault(":memory:").model_failures
    return ModelSelection(load_settings(environ=environ), lambda: failures, ManualClock(), ExitStack())


class TestSettings:
    @pytest.mark.parametrize("text", ["llm_server: {url: http://x}", "rerank_server: {url: http://x}"])
    def test_servers_do_not_belong_into_a_file(self, tmp_path: Path, text: str) -> None:
        """A server, which may come with a key, is refused in the config file."""
        (tmp_path / "config.yaml").write_text(text, "utf-8")

        with pytest.raises(ConfigError, match="is not known"):
            load_settings(environ={"CLAWMEM_CONFIG_DIR": str(tmp_path)})


class TestSelection:
    def test_a_ban_on_local_models(self) -> None:
        """Where models in this process are forbidden none is even looked for."""
        choice = selection({"CLAWMEM_NO_LOCAL_MODELS": "1"}).reranker

        assert (choice.model, choice.how.chosen) == (None, NONE)
        assert "CLAWMEM_NO_LOCAL_MODELS" in choice.how.reason

    @pytest.mark.parametrize(
        ("role", "name"), [("generator", "qmd-query-expansion"), ("reranker", "ms-marco")]
    )
    def test_a_model_that_is_here(self, tmp_path: Path, role: str, name: str) -> None:
        """A model is looked for where it is added, under the name by which it is added."""
        absent = getattr(selection({"XDG_DATA_HOME": str(tmp_path)}), role)
        folder = tmp_path / "clawmem" / "models" / name
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text("no manifest at all", "utf-8")
        present = getattr(selection({"XDG_DATA_HOME": str(tmp_path)}), role)

        assert f"{name!r} is not there. Run: clawmem models add {name} " in absent.how.reason
        assert "cannot be used" in present.how.reason


class TestWatch:
    def test_a_failure_is_kept_and_raised(self) -> None:
        """The caller sees the error as it was; the diary has the model, the time and the bare reason."""
        failures, clock, moody = open_vault(":memory:").model_failures, ManualClock(), Moody()
        embedder = WatchedModel(moody, watch(failures, clock))
        moody.error = ModelUnavailable(PLACE, "connection refused", retry_after_s=60)

        with pytest.raises(ModelUnavailable) as caught:
            embedder.embed_query("bees")

        assert caught.value is moody.error
        kept = ModelFailure(ModelRole.EMBEDDER, PLACE, iso_utc(clock.now_ms()), "connection refused")
        assert failures.latest() == {ModelRole.EMBEDDER: kept}

    def test_what_failed_another_process_rests(self) -> None:
        """For a minute it is not even asked who it is; then it is asked again, and what it answers ends the rest."""
        failures, clock = open_vault(":memory:").model_failures, ManualClock()
        failures.record(ModelFailure(ModelRole.EMBEDDER, PLACE, iso_utc(clock.now_ms()), "no answer"))
        resting = Watch(failures, clock, ModelRole.EMBEDDER, PLACE, rest_ms=REST_MS)
        embedder = WatchedModel(HashingEmbedder(), resting)
        clock.advance(REST_MS - 1)

        with pytest.raises(ModelUnavailable, match="no answer, 59 seconds ago"):
            embedder.embed_query("bees")
        with pytest.raises(ModelUnavailable):
            _ = embedder.fingerprint
        assert failures.latest()[ModelRole.EMBEDDER].failed_at == iso_utc(clock.now_ms() - REST_MS + 1)

        clock.advance(1)
        assert embedder.embed_query("bees") == HashingEmbedder().embed_query("bees")
        assert failures.latest()[ModelRole.EMBEDDER].answered_at is not None


class TestWatchedGenerator(GeneratorContract):
    """A generator under watch is a generator."""

    @pytest.fixture
    def generator(self) -> Generator:
        return WatchedModel(
            ScriptedGenerator(),
            watch(open_vault(":memory:").model_failures, ManualClock(), ModelRole.GENERATOR),
        )


class TestWatchedReranker(RerankerContract):
    """A reranker under watch is a reranker."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        return WatchedModel(
            OverlapReranker(), watch(open_vault(":memory:").model_failures, ManualClock(), ModelRole.RERANKER)
        )


# -- The roles of models at the command line.


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
        """With good models behind every role each canary passes that the model can pass."""
        found = {one["check"]: one for one in json.loads(named("--json", "doctor").stdout)["findings"]}

        assert found["reranker"]["ok"]
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
