"""What a model server can do wrong: each way by its name, for tests of whoever has to live with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from scripted_server import ReceivedRequest, ScriptedReply, embeddings, floats_of, said, well_behaved

from clawmem.ports.errors import BadVector, ClawmemError, ModelAnswerInvalid, ModelRefused, ModelUnavailable

HTML = ScriptedReply(
    b"<!doctype html><html><body>Sign in to the network</body></html>", 200, {"Content-Type": "text/html"}
)


def reply_of(bad: ScriptedReply) -> Callable[[ReceivedRequest], ScriptedReply]:
    """The same bad reply to everything but the list of models."""
    return lambda asked: well_behaved(asked) if asked.body is None else bad


def truncated(asked: ReceivedRequest) -> ScriptedReply:
    """The first half of a good answer, as if it were all."""
    good = well_behaved(asked)
    return replace(good, body=good.body[: len(good.body) // 2])


def closed_mid_stream(asked: ReceivedRequest) -> ScriptedReply:
    """The first half of a good answer, and the connection is closed."""
    return replace(truncated(asked), claimed=len(well_behaved(asked).body))


# Whatever is asked: what the server does, and what that is.
EVERYWHERE: dict[str, tuple[Callable[[ReceivedRequest], ScriptedReply], type[ClawmemError]]] = {
    "slow": (reply_of(ScriptedReply(b"{}", wait_s=30)), ModelUnavailable),
    "hangs up": (reply_of(ScriptedReply(hangs_up=True)), ModelUnavailable),
    "closed mid-stream": (closed_mid_stream, ModelUnavailable),
    "500": (reply_of(said({"error": {"message": "oops"}}, 500)), ModelUnavailable),
    "503 loading": (reply_of(said({"error": {"message": "Loading model"}}, 503)), ModelUnavailable),
    "502 of a proxy": (reply_of(replace(HTML, status=502)), ModelUnavailable),
    "429 seconds": (reply_of(ScriptedReply(b"", 429, {"Retry-After": "20"})), ModelUnavailable),
    "429 date": (
        reply_of(ScriptedReply(b"", 429, {"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"})),
        ModelUnavailable,
    ),
    "429 nonsense": (reply_of(ScriptedReply(b"", 429, {"Retry-After": "later \x01"})), ModelUnavailable),
    "401": (reply_of(said({"error": {"message": "no key"}}, 401)), ModelRefused),
    "404": (reply_of(ScriptedReply(b"not found", 404)), ModelRefused),
    "redirect": (reply_of(ScriptedReply(b"", 302, {"Location": "http://127.0.0.1:9/"})), ModelRefused),
    "error in a success": (reply_of(said({"error": {"message": "no"}})), ModelRefused),
    "HTML": (reply_of(HTML), ModelAnswerInvalid),
    "empty": (reply_of(ScriptedReply(b"")), ModelAnswerInvalid),
    "truncated JSON": (truncated, ModelAnswerInvalid),
    "not UTF-8": (reply_of(ScriptedReply(b'{"data": "\xff\xfe"}')), ModelAnswerInvalid),
    "a list": (reply_of(said([])), ModelAnswerInvalid),
    "null": (reply_of(said(None)), ModelAnswerInvalid),
    "no field of it": (reply_of(said({})), ModelAnswerInvalid),
    "nested too deeply": (reply_of(ScriptedReply(b"[" * 200_000)), ModelAnswerInvalid),
    "broken compression": (
        reply_of(ScriptedReply(b"{}", 200, {"Content-Encoding": "gzip"})),
        ModelUnavailable,
    ),
    "no HTTP": (reply_of(ScriptedReply(b"bees\r\n\r\n", is_raw=True)), ModelUnavailable),
}


def vectors_of(change: Callable[[list[Any]], list[Any]]) -> Callable[[ReceivedRequest], ScriptedReply]:
    """A server whose vectors of documents are changed; those of the probes before the first use are good."""

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if asked.body is None or "zlib" in str(asked.body):
            return well_behaved(asked)
        return said(embeddings(change([[*floats_of(text)] for text in asked.body["input"]])))

    return answer


def numbered(places: list[Any]) -> Callable[[ReceivedRequest], ScriptedReply]:
    """A server that numbers its vectors wrongly."""

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if asked.body is None or "zlib" in str(asked.body):
            return well_behaved(asked)
        good = embeddings([[*floats_of(text)] for text in asked.body["input"]])
        return said(
            {"data": [{**one, "index": place} for one, place in zip(good["data"], places, strict=False)]}
        )

    return answer


BAD_VECTORS: dict[str, tuple[Callable[[ReceivedRequest], ScriptedReply], type[ClawmemError]]] = {
    "shorter": (vectors_of(lambda vectors: [v[:-1] for v in vectors]), BadVector),
    "longer": (vectors_of(lambda vectors: [[*v, 0.1] for v in vectors]), BadVector),
    "one shorter": (vectors_of(lambda vectors: [*vectors[:-1], vectors[-1][:-1]]), BadVector),
    "NaN": (vectors_of(lambda vectors: [*vectors[:-1], [float("nan"), *vectors[-1][1:]]]), BadVector),
    "NaN as null": (vectors_of(lambda vectors: [*vectors[:-1], [None, *vectors[-1][1:]]]), BadVector),
    "infinite": (vectors_of(lambda vectors: [*vectors[:-1], [float("inf"), *vectors[-1][1:]]]), BadVector),
    "a huge integer": (vectors_of(lambda vectors: [*vectors[:-1], [10**400, *vectors[-1][1:]]]), BadVector),
    "words": (vectors_of(lambda vectors: [["bees"] * 64 for _ in vectors]), BadVector),
    "null": (vectors_of(lambda vectors: [None for _ in vectors]), BadVector),
    "empty": (vectors_of(lambda vectors: [[] for _ in vectors]), BadVector),
    "one a token": (vectors_of(lambda vectors: [[v, v] for v in vectors]), BadVector),
    "base64": (vectors_of(lambda vectors: ["AAAA" for _ in vectors]), BadVector),
    "one too few": (vectors_of(lambda vectors: vectors[:-1]), ModelAnswerInvalid),
    "one too many": (vectors_of(lambda vectors: [*vectors, vectors[0]]), ModelAnswerInvalid),
    "none": (vectors_of(lambda vectors: []), ModelAnswerInvalid),
    "numbered twice": (numbered([0, 1, 1]), ModelAnswerInvalid),
    "numbered from one": (numbered([1, 2, 3]), ModelAnswerInvalid),
    "numbered in words": (numbered(["0", None, {}]), ModelAnswerInvalid),
}
