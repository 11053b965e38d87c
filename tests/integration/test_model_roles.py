"""Who plays which role, why, and what is remembered of it when that goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Invoke
from scripted_server import ReceivedRequest, ScriptedReply, scripted, well_behaved

from clawmem.adapters.llama.gguf_model import GgufModel
from clawmem.adapters.llama.published import ALL, PublishedModel
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.memory.generator import ScriptedGenerator
from clawmem.adapters.memory.reranker import OverlapReranker
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.bootstrap.adapters import Adapters
from clawmem.app.bootstrap.models import LocalModels, ModelContext, chosen
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.operations.vault import ago, failure_line
from clawmem.app.services.models.selection import NONE, Option, Provider, Roles, first_of
from clawmem.app.services.models.watching import (
    AGAIN_MS,
    REST_MS,
    Watch,
    WatchedEmbedder,
    WatchedGenerator,
    WatchedReranker,
)
from clawmem.app.settings import load_settings
from clawmem.contracts.generator import GeneratorContract
from clawmem.contracts.reranker import RerankerContract
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import ConfigError, InputTooLong, ModelUnavailable, VaultLocked
from clawmem.ports.generator import Generator
from clawmem.ports.model_failures import ModelFailure, ModelFailures, ModelRole
from clawmem.ports.records import Vector
from clawmem.ports.reranker import Reranker

PLACE = "http://localhost:8088"
needs_http = pytest.mark.skipif(not find_spec("httpx2"), reason="needs the extra http")


class Moody(HashingEmbedder):
    """An embedder that fails as long as there is an error to fail with."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def embed_query(self, text: str) -> Vector:
        if self.error:
            raise self.error
        return super().embed_query(text)


class Locked:
    """A diary that cannot be written."""

    def record(self, failure: ModelFailure) -> None:
        raise VaultLocked("vault")

    def latest(self) -> dict[ModelRole, ModelFailure]:
        raise VaultLocked("vault")


def watch(failures: ModelFailures, clock: ManualClock, role: ModelRole = ModelRole.EMBEDDER) -> Watch:
    return Watch(failures, clock, role, PLACE)


class TestSettings:
    def test_every_variable(self) -> None:
        """What the environment says of each server arrives under its name, numbers as numbers."""
        settings = load_settings(
            environ={
                "CLAWMEM_LLM_URL": "http://llm",
                "CLAWMEM_LLM_MODEL": "qwen3",
                "CLAWMEM_LLM_API_KEY": "secret-1",
                "CLAWMEM_RERANK_URL": "http://rerank",
                "CLAWMEM_RERANK_MODEL": "zerank",
                "CLAWMEM_RERANK_API_KEY": "secret-2",
                "CLAWMEM_RERANK_MAX_DOC_CHARS": "400",
            }
        )

        assert settings.llm_server is not None and settings.rerank_server is not None
        assert settings.llm_server.model_dump() == {
            "url": "http://llm",
            "model": "qwen3",
            "api_key": "secret-1",
        }
        assert (settings.rerank_server.model, settings.rerank_server.max_document_chars) == ("zerank", 400)
        assert "secret" not in repr(settings)
        assert settings.embed_server is None

    def test_a_model_without_a_server_is_nothing(self) -> None:
        """A model or key whose URL is not said names no server."""
        settings = load_settings(environ={"CLAWMEM_LLM_MODEL": "qwen3", "CLAWMEM_RERANK_API_KEY": "x"})

        assert (settings.llm_server, settings.rerank_server) == (None, None)

    @pytest.mark.parametrize("number", ["0", "-1", "many"])
    def test_numbers_that_are_none(self, number: str) -> None:
        """How much of a document is read has to be a number above nothing."""
        environ = {"CLAWMEM_RERANK_URL": "http://x", "CLAWMEM_RERANK_MAX_DOC_CHARS": number}

        with pytest.raises(ConfigError, match="max_document_chars"):
            load_settings(environ=environ)

    @pytest.mark.parametrize("text", ["llm_server: {url: http://x}", "rerank_server: {url: http://x}"])
    def test_servers_do_not_belong_into_a_file(self, tmp_path: Path, text: str) -> None:
        """A server, which may come with a key, is refused in the config file."""
        (tmp_path / "config.yaml").write_text(text, "utf-8")

        with pytest.raises(ConfigError, match="is not known"):
            load_settings(environ={"CLAWMEM_CONFIG_DIR": str(tmp_path)})

    @pytest.mark.parametrize(
        ("environ", "read_only", "may"),
        [
            ({}, False, False),
            ({"CLAWMEM_DOWNLOAD_MODELS": "1"}, False, True),
            ({"CLAWMEM_DOWNLOAD_MODELS": "1"}, True, False),
            ({"CLAWMEM_DOWNLOAD_MODELS": "1", "CLAWMEM_NO_LOCAL_MODELS": "1"}, False, False),
        ],
    )
    def test_nothing_is_downloaded_unasked(self, environ: dict[str, str], read_only: bool, may: bool) -> None:
        """A download wants the person's word, and a command that changes the vault: no question, no hook."""
        adapters = Adapters(load_settings(environ=environ), read_only=read_only)

        assert adapters.local_models().may_download is may


class TestSelection:
    def test_the_first_that_can_be_had(self) -> None:
        """Whoever is passed over is named with the reason; who comes after the chosen one is not tried."""

        def missing() -> str:
            raise ConfigError("its file is not there")

        def never() -> str:
            raise AssertionError("not to be made")

        options = [Option("a", "", missing), Option("b", "it is here", lambda: "B"), Option("c", "", never)]
        found = first_of(ModelRole.RERANKER, options, without="")

        assert found.model == "B"
        assert found.how == Provider(ModelRole.RERANKER, "b", "it is here", ("a: its file is not there",))

    def test_nobody(self) -> None:
        """Without any option the role is nobody's, and why is said."""
        found = first_of(ModelRole.GENERATOR, [], without="nothing is configured")

        assert (found.model, found.how.chosen, found.how.reason) == (None, NONE, "nothing is configured")

    def test_a_ban_on_local_models(self) -> None:
        """Where models in this process are forbidden none is even looked for."""
        around = ModelContext(SqliteVault(":memory:").model_failures, ManualClock(), ExitStack())

        found = chosen(ModelRole.RERANKER, {}, LocalModels("nowhere", False, False), around)

        assert found.model is None
        assert "CLAWMEM_NO_LOCAL_MODELS" in found.how.reason

    @pytest.mark.parametrize("published", ALL, ids=lambda one: one.name)
    def test_a_model_that_is_here(self, tmp_path: Path, published: PublishedModel) -> None:
        """A model is looked for where it is added, under the name by which it is added."""
        around = ModelContext(SqliteVault(":memory:").model_failures, ManualClock(), ExitStack())
        role = {"embed": "embedder", "generate": "generator", "rerank": "reranker"}[published.role]
        local = LocalModels(str(tmp_path), True, False)
        absent = chosen(ModelRole(role), {}, local, around)
        GgufModel(published, tmp_path).path.write_bytes(b"no model at all")
        present = chosen(ModelRole(role), {}, local, around)

        assert absent.how.passed_over == (
            f"{published.name!r} is not there. Run: clawmem models add {published.name}",
        )
        assert "is not there" not in present.how.passed_over[0]

    def test_what_cannot_be_meant_is_told(self) -> None:
        """A role whose settings cannot be honoured is nobody's, with the error for a reason; the others stand."""

        def wrong() -> Provider:
            raise ConfigError("That is no address.")

        right = Provider(ModelRole.GENERATOR, PLACE, "it is named")
        roles = Roles(
            {ModelRole.EMBEDDER: wrong, ModelRole.GENERATOR: lambda: right},
            SqliteVault(":memory:").model_failures,
        )

        assert roles() == [Provider(ModelRole.EMBEDDER, NONE, "That is no address."), right]


class TestWatch:
    def test_a_failure_is_kept_and_raised(self) -> None:
        """The caller sees the error as it was; the diary has the model, the time and the bare reason."""
        failures, clock, moody = SqliteVault(":memory:").model_failures, ManualClock(), Moody()
        embedder = WatchedEmbedder(moody, watch(failures, clock))
        moody.error = ModelUnavailable(PLACE, "connection refused", retry_after_s=60)

        with pytest.raises(ModelUnavailable) as caught:
            embedder.embed_query("bees")

        assert caught.value is moody.error
        kept = ModelFailure(ModelRole.EMBEDDER, PLACE, iso_utc(clock.now_ms()), "connection refused")
        assert failures.latest() == {ModelRole.EMBEDDER: kept}

    def test_that_it_answers_again_is_kept(self) -> None:
        """The first answer after a failure is noted with its time; later ones change nothing."""
        failures, clock, moody = SqliteVault(":memory:").model_failures, ManualClock(), Moody()
        embedder = WatchedEmbedder(moody, watch(failures, clock))
        moody.error = ModelUnavailable(PLACE, "busy")
        with pytest.raises(ModelUnavailable):
            embedder.embed_query("bees")
        failed_at = iso_utc(clock.now_ms())
        moody.error = None

        for _ in range(3):
            clock.advance(1000)
            embedder.embed_query("bees")

        last = failures.latest()[ModelRole.EMBEDDER]
        assert last.failed_at == failed_at
        assert last.answered_at == iso_utc(clock.now_ms() - 2000)

    def test_another_process_sees_the_recovery(self) -> None:
        """What failed in one process and answers in the next has answered since; its name alone says nothing."""
        failures, clock = SqliteVault(":memory:").model_failures, ManualClock()
        failures.record(ModelFailure(ModelRole.EMBEDDER, PLACE, iso_utc(clock.now_ms()), "busy"))
        embedder = WatchedEmbedder(HashingEmbedder(), watch(failures, clock))

        assert embedder.fingerprint and embedder.dimensions
        assert failures.latest()[ModelRole.EMBEDDER].answered_at is None
        embedder.embed_documents(["bees"])
        assert failures.latest()[ModelRole.EMBEDDER].answered_at is not None

    def test_another_model_heals_nothing(self) -> None:
        """That a model answers says nothing about the one that failed before it was chosen."""
        failures, clock = SqliteVault(":memory:").model_failures, ManualClock()
        failures.record(ModelFailure(ModelRole.EMBEDDER, "http://old", iso_utc(clock.now_ms()), "busy"))

        WatchedEmbedder(HashingEmbedder(), watch(failures, clock)).embed_query("bees")

        assert failures.latest()[ModelRole.EMBEDDER].answered_at is None

    def test_a_long_failure_is_noted_once_a_minute(self) -> None:
        """Of a server that stays away the diary is not written for every question."""
        failures, clock, moody = SqliteVault(":memory:").model_failures, ManualClock(), Moody()
        embedder = WatchedEmbedder(moody, watch(failures, clock))
        moody.error = ModelUnavailable(PLACE, "busy")
        times = []

        for _ in range(4):
            with pytest.raises(ModelUnavailable):
                embedder.embed_query("bees")
            times.append(failures.latest()[ModelRole.EMBEDDER].failed_at)
            clock.advance(AGAIN_MS // 2)

        assert times[0] == times[1] < times[2] == times[3]

    def test_what_failed_another_process_rests(self) -> None:
        """For a minute it is not even asked who it is; then it is asked again, and what it answers ends the rest."""
        failures, clock = SqliteVault(":memory:").model_failures, ManualClock()
        failures.record(ModelFailure(ModelRole.EMBEDDER, PLACE, iso_utc(clock.now_ms()), "no answer"))
        resting = Watch(failures, clock, ModelRole.EMBEDDER, PLACE, rest_ms=REST_MS)
        embedder = WatchedEmbedder(HashingEmbedder(), resting)
        clock.advance(REST_MS - 1)

        with pytest.raises(ModelUnavailable, match="no answer, 59 seconds ago"):
            embedder.embed_query("bees")
        with pytest.raises(ModelUnavailable):
            _ = embedder.fingerprint
        assert failures.latest()[ModelRole.EMBEDDER].failed_at == iso_utc(clock.now_ms() - REST_MS + 1)

        clock.advance(1)
        assert embedder.embed_query("bees") == HashingEmbedder().embed_query("bees")
        assert failures.latest()[ModelRole.EMBEDDER].answered_at is not None

    def test_a_text_that_is_too_long_is_no_failure(self) -> None:
        """What is wrong with a text is not held against the model."""
        failures, moody = SqliteVault(":memory:").model_failures, Moody()
        moody.error = InputTooLong(PLACE)

        with pytest.raises(InputTooLong):
            WatchedEmbedder(moody, watch(failures, ManualClock())).embed_query("bees")

        assert failures.latest() == {}

    def test_a_locked_diary_changes_nothing(self) -> None:
        """Answers and errors are the model's, whatever becomes of the diary."""
        moody = Moody()
        embedder = WatchedEmbedder(moody, watch(Locked(), ManualClock()))

        assert embedder.embed_query("bees") == HashingEmbedder().embed_query("bees")
        moody.error = ModelUnavailable(PLACE, "busy")
        with pytest.raises(ModelUnavailable, match="busy"):
            embedder.embed_query("bees")


class TestWatchedGenerator(GeneratorContract):
    """A generator under watch is a generator."""

    @pytest.fixture
    def generator(self) -> Generator:
        return WatchedGenerator(
            ScriptedGenerator(),
            watch(SqliteVault(":memory:").model_failures, ManualClock(), ModelRole.GENERATOR),
        )


class TestWatchedReranker(RerankerContract):
    """A reranker under watch is a reranker."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        return WatchedReranker(
            OverlapReranker(),
            watch(SqliteVault(":memory:").model_failures, ManualClock(), ModelRole.RERANKER),
        )


class TestWords:
    def test_a_failure_in_a_line(self) -> None:
        """Which model, how long ago, why, what was missing, and whether that is over."""
        failure = ModelFailure(ModelRole.RERANKER, PLACE, iso_utc(0), "connection refused")
        line = f"{PLACE}, 3 minutes ago: connection refused; answers were not reranked."

        assert failure_line(failure, iso_utc(180_000)) == line
        over = ModelFailure(ModelRole.RERANKER, PLACE, iso_utc(0), "connection refused", iso_utc(1))
        assert failure_line(over, iso_utc(180_000)) == f"{line} It has answered since."

    @pytest.mark.parametrize(
        ("seconds", "words"),
        [
            (-5, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (3599, "59 minutes ago"),
            (3600, "1 hour ago"),
            (86_399, "23 hours ago"),
            (86_400, "1 day ago"),
            (400 * 86_400, "400 days ago"),
        ],
    )
    def test_how_long_ago(self, seconds: int, words: str) -> None:
        """The largest unit that fits; a clock that was set back makes it now."""
        assert ago(iso_utc(0), iso_utc(seconds * 1000)) == words


@needs_http
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

    def test_servers_that_are_named(self, named: Invoke) -> None:
        """Each role is played by the server that the environment names, and nothing is asked to tell so."""
        roles = self.roles(named)

        assert all("CLAWMEM_" in str(one["reason"]) and one["chosen"] != NONE for one in roles.values())
        assert all(one["last_failure"] is None for one in roles.values())

    def test_doctor_examines_every_role(self, named: Invoke) -> None:
        """With good models behind every role each canary passes, with how long it took and whose doing it is."""
        found = {one["check"]: one for one in json.loads(named("--json", "doctor").stdout)}

        assert found["reranker"]["ok"] and found["generator"]["provider"]["role"] == "generator"
        assert " ms" in found["reranker"]["detail"]
        assert not found["generator"]["ok"]  # which only repeats the question
        assert "something else" in found["generator"]["detail"]

    def test_a_wrong_address_is_told(self, remembered: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        """Status and doctor name an address that is none, instead of dying of it; a search does not care."""
        monkeypatch.setenv("CLAWMEM_RERANK_URL", "bees")

        assert "not the address" in str(self.roles(remembered)["reranker"]["reason"])
        examined = {one["check"]: one for one in json.loads(remembered("--json", "doctor").stdout)}
        assert not examined["reranker"]["ok"]
        assert "not the address" in examined["reranker"]["detail"]
        assert remembered("search", "sessions").exit_code == 0

    def test_a_search_asks_nobody(self, named: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        """A search by words reaches no server, whichever are named."""
        with scripted(well_behaved) as server:
            for name in ("LLM", "RERANK", "EMBED"):
                monkeypatch.setenv(f"CLAWMEM_{name}_URL", server.url)

            assert named("search", "sessions").exit_code == 0
            assert server.asked == []

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
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            cwd=home,
            env={**environ, **named, "CLAWMEM_DOWNLOAD_MODELS": "1"},
        )

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

    def test_a_reranker_that_fails_a_reader(
        self, remembered: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What goes wrong while the vault is only read is remembered as well, with what the answer lacked."""
        with scripted(down) as server:
            monkeypatch.setenv("CLAWMEM_RERANK_URL", server.url)
            with open_services(load_settings(), read_only=True) as services:
                reranker: Reranker = services.adapters.reranker()
                with pytest.raises(ModelUnavailable):
                    reranker.rerank("bees", ["A hive."], timeout_s=0.5)

            failed = self.roles(remembered)["reranker"]["last_failure"]
            assert isinstance(failed, dict)
            assert failed["model"] == server.url
            assert "answers were not reranked" in remembered("status").stdout

    @pytest.mark.skipif(not (find_spec("xllamacpp") and find_spec("gguf")), reason="needs xllamacpp and gguf")
    def test_a_model_in_this_process(self, remembered: Invoke, home: Path) -> None:
        """A file that lies where models are added plays its role without any setting, and is examined as well."""
        from llama_server import Role, write_model

        folder = home / ".local/share/clawmem/models"
        folder.mkdir(parents=True)
        write_model(Role.GENERATE, folder / "qmd-query-expansion.gguf")

        generator = self.roles(remembered)["generator"]
        examined = {one["check"]: one for one in json.loads(remembered("--json", "doctor").stdout)}

        assert (generator["chosen"], generator["passed_over"]) == ("qmd-query-expansion", [])
        assert examined["generator"]["ok"], examined["generator"]["detail"]


def down(asked: ReceivedRequest) -> ScriptedReply:
    """A server that names its model and is too busy for everything else."""
    return ScriptedReply(b"", 503) if asked.body is not None else well_behaved(asked)
