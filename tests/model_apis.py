"""The APIs that other clients use, on top of the stand-in for the Messages API: requests in, answers out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

Block = Mapping[str, Any]

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
