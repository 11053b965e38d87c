"""How a model server is paced, asked again, and left alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from scripted_server import Models, ReceivedRequest, ScriptedReply, said, well_behaved

from clawmem.adapters.memory.clock import START_MS
from clawmem.adapters.models.api import SAFETY, TokenRateLimiter
from clawmem.adapters.models.server import Limits, secrets_in, shown
from clawmem.ports.errors import ModelRefused, ModelUnavailable

KEY = "sk-made-up-1234567890"


class TestAskingAgain:
    def test_what_passes_is_asked_again(self, models: Models) -> None:
        """Errors that pass are waited for, twice as long every time, and the answer counts."""
        server = models.serve(_failing(3, ScriptedReply(b"", 503)))

        assert models.connect(server.url).post("/v1/x", {}, Limits(60), dict) == {"ok": True}
        assert models.slept == [pytest.approx(wait + 1 / 8, abs=1 / 8) for wait in (1, 2, 4)]

    @pytest.mark.parametrize(("background", "waits"), [(False, [1, 2, 4, 8]), (True, [2, 4, 8, 16])])
    def test_patience_ends(self, models: Models, background: bool, waits: list[float]) -> None:
        """Questions and batches are tried five times, batches with longer waits."""
        server = models.serve(_failing(99, ScriptedReply(b"", 500)))

        first = waits[0]
        with pytest.raises(ModelUnavailable, match="HTTP 500"):
            models.connect(server.url).post("/v1/x", {}, Limits(600, background=background), dict)
        assert models.slept == [pytest.approx(wait + first / 8, abs=first / 8) for wait in waits]
        assert len(server.asked) == len(waits) + 1

    @pytest.mark.parametrize(
        ("headers", "wait_s"),
        [
            ({"Retry-After": "7"}, 7),
            ({"Retry-After": "0"}, 0),
            ({"Retry-After": "soon"}, 1),
            ({}, 1),
            (
                {
                    "Retry-After": format_datetime(
                        datetime.fromtimestamp(START_MS / 1000 + 12, UTC), usegmt=True
                    )
                },
                12,
            ),
            ({"Retry-After": "Mon, 13 Nov 2023 22:13:20 GMT"}, 0),
        ],
        ids=["seconds", "none", "nonsense", "silence", "date", "past"],
    )
    def test_the_server_says_when(self, models: Models, headers: dict[str, str], wait_s: float) -> None:
        """A 429 is asked again when it says; after a second when it says nothing that can be read."""
        server = models.serve(_failing(1, ScriptedReply(b"", 429, headers)))

        assert models.connect(server.url).post("/v1/x", {}, Limits(60), dict) == {"ok": True}
        assert models.slept == [pytest.approx(wait_s, abs=0.25)]

    def test_a_wait_beyond_the_deadline(self, models: Models) -> None:
        """A wait that is too long ends the question at once, and nobody asks before it is over."""
        server = models.serve(_failing(1, ScriptedReply(b"", 429, {"Retry-After": "90"})))
        client = models.connect(server.url)

        with pytest.raises(ModelUnavailable, match="in 90 seconds") as caught:
            client.post("/v1/x", {}, Limits(5), dict)
        assert (caught.value.retry_after_s, models.slept) == (90, [])
        models.clock.advance(89_999)
        with pytest.raises(ModelUnavailable):
            client.post("/v1/x", {}, Limits(5), dict)
        assert len(server.asked) == 1
        models.clock.advance(1)
        assert client.post("/v1/x", {}, Limits(5), dict) == {"ok": True}

    @pytest.mark.parametrize(
        "reply",
        [
            said({"error": {"message": "no", "code": "insufficient_quota"}}, 429),
            said({"error": {"message": "no"}}, 401),
            said({"detail": "no"}, 422),
            said({"error": {"code": 501, "message": "no"}}, 501),
            ScriptedReply(b"", 307, {"Location": "https://elsewhere.example"}),
            said({"error": {"message": "in a success"}}),
        ],
    )
    def test_what_stays_is_not_asked_again(self, models: Models, reply: ScriptedReply) -> None:
        """A refusal for good is one request, and leaves the server open for other questions."""
        server = models.serve(_failing(1, reply))
        client = models.connect(server.url)

        with pytest.raises(ModelRefused):
            client.post("/v1/x", {}, Limits(60), dict)
        assert (len(server.asked), models.slept) == (1, [])
        assert client.post("/v1/x", {}, Limits(60), dict) == {"ok": True}

    def test_a_key_is_never_repeated(self, models: Models) -> None:
        """A server that quotes the key it does not like does not bring it into messages and logs."""
        server = models.serve(_failing(1, said({"error": {"message": f"Incorrect API key: {KEY}"}}, 401)))

        with pytest.raises(ModelRefused) as caught:
            models.connect(server.url, api_key=KEY).post("/v1/x", {}, Limits(5), dict)
        assert KEY not in str(caught.value)
        assert "Incorrect API key" in str(caught.value)


class TestCoolDown:
    def test_a_server_that_is_down_is_left_alone(self, models: Models) -> None:
        """After a failure of the connection nothing is sent for exactly a minute."""
        server = models.serve(_failing(1, ScriptedReply(hangs_up=True)))
        client = models.connect(server.url)

        with pytest.raises(ModelUnavailable):
            client.post("/v1/x", {}, Limits(5), dict)
        models.clock.advance(59_999)
        with pytest.raises(ModelUnavailable, match="in 1 seconds"):
            client.post("/v1/x", {}, Limits(5), dict)
        assert len(server.asked) == 1
        models.clock.advance(1)
        assert client.post("/v1/x", {}, Limits(5), dict) == {"ok": True}


class TestPace:
    @pytest.fixture
    def pace(self, models: Models) -> TokenRateLimiter:
        """Six thousand tokens a minute: a hundred a second."""
        return TokenRateLimiter(round(6000 / SAFETY), models.clock, models.sleep)

    def test_the_first_does_not_wait(self, pace: TokenRateLimiter, models: Models) -> None:
        """Each request waits for those before it, in proportion to their tokens."""
        for tokens in (1000, 200, 100):
            pace.wait(tokens)

        assert models.slept == pytest.approx([10, 2], rel=1e-3)

    def test_documents_are_paced_and_questions_are_not(self, models: Models) -> None:
        """Four characters count as a token; a question neither waits nor counts."""
        server = models.serve(well_behaved)
        embedder = models.embedder(
            server.url, provider="jina", dimensions=64, tokens_per_minute=round(60 / SAFETY)
        )

        embedder.embed_documents(["bees and boats"])  # 4 tokens
        embedder.embed_query("hive")
        assert models.slept == []
        embedder.embed_documents(["bees"])

        assert models.slept == pytest.approx([4], rel=0.01)


def _failing(times: int, reply: ScriptedReply) -> Callable[[ReceivedRequest], ScriptedReply]:
    """First *reply*, so many times, then what is wanted."""
    left = iter(range(times))
    return lambda asked: said({"ok": True}) if next(left, None) is None else reply


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (" http://localhost:8088/v1 ", "http://localhost:8088/v1"),
        ("http://me:secret@[::1]:8088/v1", "http://[::1]:8088/v1"),
        ("https://token@host/v1", "https://host/v1"),
        ("https://me:se@cret@host", "https://host"),
        ("https://host/v1?api_key=secret&version=2#secret", "https://host/v1"),
        ("http://host/@org/model", "http://host/@org/model"),
        ("", ""),
    ],
)
def test_an_address_as_it_is_shown(url: str, expected: str) -> None:
    """Neither user nor password, nor what a query says."""
    assert shown(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://host:8088/v1", ()),
        ("http://host?version=2024&api_key=abcdefgh", ("abcdefgh",)),
        ("http://me@host", ()),
        ("http://me:p%40ss@host", ("bWU6cEBzcw==", "p%40ss", "p@ss")),
    ],
)
def test_the_secrets_of_an_address(url: str, expected: tuple[str, ...]) -> None:
    """The password as it is written, as it is meant and as it is sent, and whatever of a query may be a key."""
    assert secrets_in(url) == expected
