"""Model servers that are absent, slow or wrong: a typed error in time, and nothing of it is stored."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from bad_servers import BAD_VECTORS, EVERYWHERE, reply_of
from scripted_server import ReceivedRequest, ScriptedReply, ScriptedServer, said, well_behaved

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.models import server as model_server
from clawmem.adapters.models.api import ApiEmbedder, ApiGenerator, ApiReranker
from clawmem.adapters.models.server import LLAMA_SERVER, HttpServer, Limits
from clawmem.ports.errors import ClawmemError, ModelAnswerInvalid, ModelUnavailable

TIMEOUT_S = 0.6
SLACK_S = 15.0  # for a busy machine
PASSWORD, KEY = "hunter2", "made-up-1234567890"
TOKEN = b64encode(f"me:{PASSWORD}".encode()).decode()
TEXTS = ["The bees left the hive at noon.", "Two wooden boats.", "Income tax is due in April."]


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embedding that waits for tenths of seconds where it would wait for minutes."""
    monkeypatch.setattr(model_server, "TRIES", 3)
    monkeypatch.setattr(model_server, "FIRST_WAIT_S", 0.025)
    monkeypatch.setattr(model_server, "LONGEST_ASKED_S", 0.1)


class Bad:
    """The three adapters over one server, with little time."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self.clock = ManualClock()
        self._made: list[Any] = []

    @property
    def url(self) -> str:
        return self.server.url.replace("//", f"//me:{PASSWORD}@") + f"?api_key={KEY}"

    def asking(self) -> dict[str, Callable[[], Any]]:
        limits = {"query_timeout_s": TIMEOUT_S, "batch_timeout_s": TIMEOUT_S}
        embedder = ApiEmbedder.at(self.url, self.clock, model="tiny", **limits)
        generator = ApiGenerator.at(self.url, self.clock, model="tiny")
        reranker = ApiReranker.at(self.url, self.clock, model="tiny")
        # Its waits are real, but never longer than the deadline.
        client = HttpServer(self.url, self.clock, LLAMA_SERVER, "tiny")
        self._made = [embedder, generator, reranker, client]
        return {
            "anything": lambda: client.post("/v1/x", {}, Limits(TIMEOUT_S)),
            "question": lambda: embedder.embed_query("hive"),
            "documents": lambda: embedder.embed_documents(TEXTS),
            "text": lambda: generator.generate("Why?", timeout_s=TIMEOUT_S, max_tokens=9),
            "ranking": lambda: reranker.rerank("hive", TEXTS, timeout_s=TIMEOUT_S),
        }

    def close(self) -> None:
        self.server.close()
        for model in self._made:
            model.close()


def assert_hides_secrets(error: ClawmemError) -> None:
    """Nothing of an error tells the password, or the key, in any form."""
    told = f"{error} {vars(error)}"
    assert not [secret for secret in (PASSWORD, TOKEN, KEY) if secret in told]


@pytest.fixture
def bad() -> Iterator[Bad]:
    made = Bad(ScriptedServer(well_behaved))
    yield made
    made.close()


class TestEveryModel:
    @pytest.mark.parametrize(
        ("mood", "kind"),
        [
            *((mood, "documents") for mood in EVERYWHERE),
            ("no field of it", "text"),
            ("no field of it", "ranking"),
        ],
    )
    def test_a_typed_error_in_time(self, bad: Bad, mood: str, kind: str) -> None:
        """Whatever the server does, the answer to it comes within the deadline and has the right name."""
        bad.server.answer, expected = EVERYWHERE[mood]
        ask = bad.asking()[kind]

        began = time.monotonic()
        with pytest.raises(expected) as caught:
            ask()

        assert time.monotonic() - began < TIMEOUT_S + SLACK_S
        assert bad.server.url in str(caught.value)
        assert len(str(caught.value)) < 600
        assert_hides_secrets(caught.value)

    @pytest.mark.parametrize("kind", ["question", "documents", "text", "ranking"])
    def test_an_absent_server(self, bad: Bad, kind: str) -> None:
        """A server that is not there is out of reach at once, and then for a minute without being asked."""
        bad.server.close()
        ask = bad.asking()[kind]

        for _ in range(3):
            with pytest.raises(ModelUnavailable) as caught:
                ask()
        assert caught.value.retry_after_s == 60
        assert_hides_secrets(caught.value)

    @pytest.mark.parametrize("status", [200, 302, 400, 401, 500])
    def test_a_server_that_repeats_what_it_was_sent(self, bad: Bad, status: int) -> None:
        """Password and key reach the server, and nobody else when it quotes them, whatever it says with it."""

        def repeating(asked: ReceivedRequest) -> ScriptedReply:
            text = f"no {asked.headers['authorization']} {PASSWORD} at ?{asked.query}"
            body = text if status == 500 else json.dumps({"error": text}).replace("-", r"\u002d")
            return ScriptedReply(
                body.encode(), status, {"Location": f"http://me:{PASSWORD}@127.0.0.1:9/?api_key={KEY}"}
            )

        bad.server.answer = repeating
        with pytest.raises(ClawmemError) as caught:
            bad.asking()["anything"]()

        assert bad.server.asked[0].query == f"api_key={KEY}"
        assert bad.server.asked[0].headers["authorization"] == f"Basic {TOKEN}"
        assert_hides_secrets(caught.value)
        assert "127.0.0.1:9" in str(caught.value) if status == 302 else "no Basic ***" in str(caught.value)


class TestVectors:
    @pytest.mark.parametrize("mood", BAD_VECTORS)
    def test_a_wrong_vector_is_refused(self, bad: Bad, mood: str) -> None:
        """One wrong vector refuses its whole batch."""
        bad.server.answer, expected = BAD_VECTORS[mood]

        with pytest.raises(expected):
            bad.asking()["documents"]()


class TestRanking:
    @pytest.mark.parametrize(
        "results",
        [
            [{"index": 0, "relevance_score": 1.0}],
            [{"index": 0, "relevance_score": 0.1} for _ in range(3)],
            [{"index": n} for n in range(3)],
            [{"index": n, "relevance_score": float("nan")} for n in range(3)],
            [{"index": n + 1, "relevance_score": 0.1} for n in range(3)],
            [1, 2, 3],
            None,
        ],
    )
    def test_a_wrong_score_is_refused(self, bad: Bad, results: Any) -> None:
        """A ranking that is not one finite score for each document is no ranking."""
        bad.server.answer = reply_of(said({"results": results}))

        with pytest.raises(ModelAnswerInvalid):
            bad.asking()["ranking"]()
