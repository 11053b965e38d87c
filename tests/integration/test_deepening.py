"""What models make of a prompt, over a real vault: the block of before stands first, and whatever fails leaves it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from scripted_server import Answer, ReceivedRequest, ScriptedReply, said, scoring_each, writing
from scripted_server import Models as Servers
from surfacing_home import Home, places

from clawmem.adapters.models.api import ApiGenerator, ApiReranker
from clawmem.app.services.retrieval.models import EXPANSION, RERANKER, Models
from clawmem.app.services.surfacing.surface import Surfaced
from clawmem.domain.surfacing.profiles import PROFILES

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # of requests that were left to themselves
]

DEEP = PROFILES["deep"]
HASTY = DEEP._replace(deadline_s=1.7)  # the same, with a deadline that a test can wait for


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.vault.close()


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack)


def generating(servers: Servers, answer: Answer | str) -> Models:
    """With a generator alone: one at an address, or a server that gives an answer."""
    url = answer if isinstance(answer, str) else servers.serve(answer).url
    return Models(servers.factory(ApiGenerator, url))


def reading(servers: Servers, answer: Answer | str) -> Models:
    url = answer if isinstance(answer, str) else servers.serve(answer).url
    return Models(reranker=servers.factory(ApiReranker, url))


def hanging(asked: ReceivedRequest) -> ScriptedReply:
    """A server that takes every request and answers none."""
    return ScriptedReply(wait_s=60)


def deep(home: Home, models: Models, **rest: Any) -> Surfaced:
    """What the indexes and *models* make of a prompt, without a verdict of the test's own."""
    return home.ask(**{"confidence": None, "profile": DEEP, "session": "deep", "models": models, **rest})


class TestOtherWords:
    def test_what_only_other_words_find_is_said(self, home: Home, servers: Servers) -> None:
        """A note that shares no word with the prompt is found by the generator's, behind what the prompt finds."""
        models = generating(servers, writing("lex: Helsinki mast spruce pine\n"))

        without, helped = deep(home, Models()), deep(home, models)

        assert "boat.md" not in places(without)
        assert "boat.md" in places(helped)[1:]
        assert places(helped)[0] == places(without)[0]


class TestASecondReading:
    def test_what_it_lifts_is_said(self, home: Home, servers: Servers) -> None:
        """A note that was too far behind the best is near enough when a reranker puts it first."""
        nearer = {f"log/{n}.md": f"# Day {n}\n\nBackups of day {n} go to the box.\n" for n in range(4)}
        home.take_in(home.folder / "notes", nearer)
        models = reading(servers, scoring_each(lambda text: 6.0 if "on a disk" in text else -6.0))

        without, helped = deep(home, Models()), deep(home, models)

        assert "people/ann.md" not in places(without)
        assert "people/ann.md" in places(helped)


class TestFaults:
    """The block of before is offered before anybody is asked, and stays when whoever is asked fails."""

    @pytest.mark.parametrize(
        ("make", "leg", "bad"),
        [(generating, EXPANSION, hanging), (reading, RERANKER, lambda asked: said({"error": "no"}, 500))],
        ids=["hanging", "broken"],
    )
    def test_a_bad_server(self, home: Home, servers: Servers, make: Any, leg: str, bad: Answer) -> None:
        """In time, to the byte the block without it; the diary says what was missing."""
        alone, offered = deep(home, Models(), session="alone"), list[str]()
        began = time.monotonic()

        answer = deep(home, make(servers, bad), profile=HASTY, receive=offered.append)

        assert time.monotonic() - began < 30  # a server that hangs answers after a minute
        assert answer.block == alone.block
        assert offered == [alone.block]
        assert answer.answer.trace.degraded.keys() == {leg}
        assert [row.degraded for row in home.rows("deep")] == [(leg,)]
