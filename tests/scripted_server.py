"""A model server on loopback that does as it is told, however bad; what it was asked it remembers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder, OverlapReranker
from clawmem.adapters.models.api import ApiEmbedder
from clawmem.adapters.models.server import LLAMA_SERVER, HttpServer
from clawmem.contracts.samples import floats


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any
    query: str = ""
    method: str = ""


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """A reply, and how it is sent."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    claimed: int | None = None  # bytes, instead of how many there are
    wait_s: float = 0.0  # before the first byte
    hangs_up: bool = False  # instead of a reply
    is_raw: bool = False  # the body is all that is sent, status line and headers included


Answer = Callable[[ReceivedRequest], ScriptedReply]


def said(data: Any, status: int = 200, **headers: str) -> ScriptedReply:
    return ScriptedReply(
        json.dumps(data).encode(), status, {name.replace("_", "-"): v for name, v in headers.items()}
    )


class ScriptedServer:
    """Answers with `answer`, which may be exchanged at any time."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[ReceivedRequest] = []
        self._released = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def questions(self, path: str = "") -> list[Any]:
        """The bodies that were sent to a path, or to all but the list of models."""
        return [one.body for one in self.asked if one.path == path or (not path and one.body is not None)]

    def close(self) -> None:
        """Let go of those who wait, and refuse connections from now on."""
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._reply(None)

            def do_HEAD(self) -> None:
                self._reply(None)

            def do_POST(self) -> None:
                self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _reply(self, body: Any) -> None:
                path, _, query = self.path.partition("?")
                asked = ReceivedRequest(
                    path, {name.lower(): v for name, v in self.headers.items()}, body, query, self.command
                )
                script.asked.append(asked)
                try:
                    script.send(self, script.answer(asked))
                except OSError:  # whoever asked has gone
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler

    def send(self, handler: BaseHTTPRequestHandler, reply: ScriptedReply) -> None:
        """Send *reply* the way it wants to be sent."""
        self._released.wait(reply.wait_s)
        handler.close_connection = reply.hangs_up or reply.is_raw or reply.claimed is not None
        if reply.hangs_up:
            return
        if not reply.is_raw:
            self._send_head(handler, reply)
        if handler.command == "HEAD":
            return
        handler.wfile.write(reply.body)

    def _send_head(self, handler: BaseHTTPRequestHandler, reply: ScriptedReply) -> None:
        handler.send_response(reply.status)
        length = len(reply.body) if reply.claimed is None else reply.claimed
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()


@contextmanager
def scripted(answer: Answer) -> Iterator[ScriptedServer]:
    server = ScriptedServer(answer)
    try:
        yield server
    finally:
        server.close()


def well_behaved(asked: ReceivedRequest) -> ScriptedReply:
    """What a llama-server says, by the models in memory."""
    if asked.path == "/v1/models":
        return listing("tiny")
    if asked.path == "/v1/embeddings":
        return said(embeddings([*floats_of(text)] for text in asked.body["input"]))
    if asked.path == "/v1/rerank":
        return said(ranking(asked.body["query"], asked.body["documents"]))
    if asked.path == "/v1/chat/completions":
        return said(message(asked.body["messages"][0]["content"]))
    return said({"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}, 404)


def listing(name: str, **meta: Any) -> ScriptedReply:
    """The one model that is served."""
    return said({"object": "list", "data": [{"id": name, "meta": meta}]})


def floats_of(text: str) -> tuple[float, ...]:
    return floats(HashingEmbedder().embed_query(text))


def embeddings(vectors: Iterator[Any] | list[Any]) -> dict[str, Any]:
    data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    return {"object": "list", "data": data, "usage": {"prompt_tokens": 7, "total_tokens": 7}}


def ranking(query: str, documents: list[str]) -> dict[str, Any]:
    """An answer that holds scores, best first."""
    scores = OverlapReranker().rerank(query, documents, timeout_s=1)
    results = [{"index": n, "relevance_score": 8 * score - 4} for n, score in enumerate(scores)]
    return {"results": sorted(results, key=lambda one: -one["relevance_score"])}


def message(text: Any) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]
    }


def writing(text: Any) -> Answer:
    """A server whose generator always writes the same."""
    return lambda asked: said(message(text)) if asked.path == "/v1/chat/completions" else well_behaved(asked)


def scoring(scores: Callable[[list[str]], list[Any]]) -> Answer:
    """A server whose reranker gives its documents these scores, numbered from 0."""

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if asked.path != "/v1/rerank":
            return well_behaved(asked)
        given = scores(asked.body["documents"])
        return said({"results": [{"index": n, "relevance_score": one} for n, one in enumerate(given)]})

    return answer


def scoring_each(score: Callable[[str], float]) -> Answer:
    """The same, whose scores follow from a document's text alone."""
    return scoring(lambda texts: [*map(score, texts)])


class Models:
    """Servers, and adapters over them, whose waits are noted instead of waited; all end with *stack*."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.clock = ManualClock()
        self.slept: list[float] = []

    def serve(self, answer: Answer = well_behaved) -> ScriptedServer:
        return self._stack.enter_context(scripted(answer))

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(round(seconds * 1000))

    def connect(self, url: str, **rest: Any) -> HttpServer:
        """Return a client for a model called ``tiny``."""
        server = HttpServer(url, self.clock, LLAMA_SERVER, "tiny", sleep=self.sleep, **rest)
        self._stack.callback(server.close)
        return server

    def embedder(self, url: str, **rest: Any) -> ApiEmbedder:
        return self.factory(ApiEmbedder, url, model="tiny", sleep=self.sleep, **rest)  # type: ignore[no-any-return]

    def factory(self, make: Any, url: str, **rest: Any) -> Any:
        """What one of the three factories makes."""
        made = make.at(url, self.clock, **rest)
        self._stack.callback(made.close)
        return made
