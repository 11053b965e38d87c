"""A stand-in for the Messages API: it records what a client sends for the model, and says what a test wants said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from threading import Thread
from typing import Any, NamedTuple
from uuid import uuid4

Block = Mapping[str, Any]
USAGE = {"input_tokens": 10, "output_tokens": 5}


class Request(NamedTuple):
    """What a client wants of the model: the conversation so far and the tools that it offers."""

    body: Mapping[str, Any]

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the model may call."""
        return [str(tool.get("name")) for tool in self.body.get("tools", ())]

    @property
    def said(self) -> str:
        """Every text since the model spoke last, with what hooks and tools added to it."""
        return "\n".join(text for message in self._since() for text in _texts(message["content"]))

    @property
    def results(self) -> list[str]:
        """What tools answered since then, in their order."""
        blocks = [b for m in self._since() if isinstance(m["content"], list) for b in m["content"]]
        return [
            "\n".join(_texts(block.get("content", ""))) for block in blocks if block["type"] == "tool_result"
        ]

    def _since(self) -> list[Mapping[str, Any]]:
        back = takewhile(lambda message: message["role"] != "assistant", reversed(self.body["messages"]))
        return list(back)[::-1]


Turn = Callable[[Request], Sequence[Block]]


def text(said: str) -> Block:
    """The model says this."""
    return {"type": "text", "text": said}


def call(tool: str, **arguments: Any) -> Block:
    """The model calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": tool, "input": arguments}


class MessagesApi:
    """
    Where it listens, what it was asked, and what it says next.

    ``turn`` makes the blocks of an answer from the request; ``requests`` are those that offered tools, which a
    client does for a conversation and not for its own errands, such as a title.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.requests: list[Request] = []
        self.turn: Turn = lambda request: [text("Fine.")]

    def answer(self, request: Request) -> Sequence[Block]:
        """The blocks for *request*, which is written down."""
        if not request.tools:
            return [text("Fine.")]
        self.requests.append(request)
        return self.turn(request)


@contextmanager
def listening() -> Iterator[MessagesApi]:
    """One that answers until the test is over."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Door)
    api = MessagesApi(server.server_port)
    server.api = api  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: standard error belongs to the test."""

    def do_HEAD(self) -> None:
        """A client looks whether somebody is there."""
        self._send(b"")

    def do_GET(self) -> None:
        """A list of models, as far as a client asks for one."""
        models = {"object": "list", "data": [{"id": "mock", "object": "model"}], "models": []}
        self._send(json.dumps(models).encode(), status=200 if "/models" in self.path else 404)

    def do_POST(self) -> None:
        """One request for the model; a question for the number of tokens gets a number."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        path = self.path.split("?")[0]
        if (other := messages_body(path, body)) is not None:
            return self._answer_other(path, other)
        if not path.endswith("/messages"):
            return self._send(json.dumps({"input_tokens": USAGE["input_tokens"]}).encode())
        api: MessagesApi = self.server.api  # type: ignore[attr-defined]
        message = _message(body, api.answer(Request(body)))
        if body.get("stream"):
            events = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in _events(message))
            return self._send(events.encode(), kind="text/event-stream")
        return self._send(json.dumps(message).encode())

    def _answer_other(self, path: str, body: Mapping[str, Any]) -> None:
        api: MessagesApi = self.server.api  # type: ignore[attr-defined]
        blocks = api.answer(Request(body))
        if path.endswith(":generateContent"):
            return self._send(json.dumps(generated(blocks)).encode())
        return self._send(events_of(path, blocks).encode(), kind="text/event-stream")

    def _send(self, content: bytes, *, status: int = 200, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _message(body: Mapping[str, Any], blocks: Sequence[Block]) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": body.get("model"),
        "content": list(blocks), "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None, "usage": USAGE,
    }  # fmt: skip


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same answer bit by bit."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        empty, delta = _opened(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": USAGE["output_tokens"]}}
    yield {"type": "message_stop"}


def _opened(block: Block) -> tuple[dict[str, Any], dict[str, Any]]:
    """A block without its content, and the content."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result":
            yield from _texts(block.get("content", ""))


# -- The APIs that other clients use: requests in, answers out.

NAMESPACE = "/"  # between the namespace and the name of a tool of the Responses API


def messages_body(path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the request of another API as one of the Messages API; ``None`` for an unknown path."""
    if path.endswith("/responses"):
        return {
            "messages": [*map(_of_item, body.get("input", ()))],
            "tools": [*_names(body.get("tools", ()))],
        }
    if path.endswith("/chat/completions"):
        messages = [_of_chat(one) for one in body.get("messages", ()) if one["role"] != "system"]
        return {"messages": messages, "tools": [*_names(body.get("tools", ()))]}
    if "GenerateContent" in path or "generateContent" in path:
        declared = (one.get("functionDeclarations", ()) for one in body.get("tools", ()))
        tools = [{"name": one["name"]} for group in declared for one in group]
        return {"messages": [*map(_of_content, body.get("contents", ()))], "tools": tools}
    return None


def _of_item(item: Mapping[str, Any]) -> dict[str, Any]:
    kind = item.get("type", "message")
    if kind.endswith("_output"):
        return {"role": "user", "content": [{"type": "tool_result", "content": _flat(item.get("output"))}]}
    texts = [{"type": "text", "text": one.get("text", "")} for one in item.get("content") or ()]
    is_ours = item.get("role") == "assistant" or kind.endswith("_call")
    return {"role": "assistant" if is_ours else "user", "content": texts}


def _of_chat(message: Mapping[str, Any]) -> dict[str, Any]:
    text = [{"type": "text", "text": _flat(message.get("content"))}]
    if message["role"] == "tool":
        return {"role": "user", "content": [{"type": "tool_result", "content": text}]}
    return {"role": message["role"], "content": text}


def _of_content(content: Mapping[str, Any]) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for part in content.get("parts", ()):
        if answer := part.get("functionResponse"):
            blocks.append({"type": "tool_result", "content": json.dumps(answer.get("response"))})
        elif "text" in part:
            blocks.append({"type": "text", "text": part["text"]})
    return {"role": "assistant" if content.get("role") == "model" else "user", "content": blocks}


def _flat(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(one.get("text", "")) for one in parts if isinstance(one, dict))


def _names(tools: Sequence[Mapping[str, Any]], namespace: str = "") -> Iterator[dict[str, str]]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _names(tool.get("tools", ()), f"{tool['name']}{NAMESPACE}")
        else:
            name = tool.get("name") or tool.get("function", {}).get("name") or tool.get("type")
            yield {"name": f"{namespace}{name}"}


def events_of(path: str, blocks: Sequence[Block]) -> str:
    """Return the stream of an answer with *blocks*."""
    if path.endswith("/responses"):
        return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in _responses(blocks))
    if path.endswith("/chat/completions"):
        return "".join(f"data: {json.dumps(one)}\n\n" for one in _chunks(blocks)) + "data: [DONE]\n\n"
    return f"data: {json.dumps(generated(blocks))}\n\n"


def _responses(blocks: Sequence[Block]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    for number, block in enumerate(blocks):
        item = _item(number, block)
        yield {"type": "response.output_item.added", "output_index": number, "item": item}
        yield {"type": "response.output_item.done", "output_index": number, "item": item}
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    }  # fmt: skip
    yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}


def _item(number: int, block: Block) -> dict[str, Any]:
    if block["type"] == "text":
        content = [{"type": "output_text", "text": block["text"], "annotations": []}]
        return {"type": "message", "id": f"msg_{uuid4().hex}", "role": "assistant", "content": content}
    space, _, name = block["name"].rpartition(NAMESPACE)
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": block["id"], "name": name}
    return {**call, "arguments": json.dumps(block["input"]), **({"namespace": space} if space else {})}


def _chunks(blocks: Sequence[Block]) -> Iterator[dict[str, Any]]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
    calls = [one for one in blocks if one["type"] == "tool_use"]
    text = "".join(one.get("text", "") for one in blocks)
    delta: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        delta["tool_calls"] = [
            {"index": at, "id": one["id"], "type": "function",
             "function": {"name": one["name"], "arguments": json.dumps(one["input"])}}
            for at, one in enumerate(calls)
        ]  # fmt: skip
    yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if calls else "stop"
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield {**head, "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}


def generated(blocks: Sequence[Block]) -> dict[str, Any]:
    """Return an answer with *blocks* in the format of the Gemini API."""
    parts = [
        {"text": one["text"]}
        if one["type"] == "text"
        else {"functionCall": {"name": one["name"], "args": one["input"]}}
        for one in blocks
    ]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}
