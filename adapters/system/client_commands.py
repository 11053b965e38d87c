"""Commands that clients start: a hook answers one event, an MCP server one call of a tool."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from threading import Timer
from typing import Any

CLIENT = {"name": "clawmem-check", "version": "1"}
PROTOCOL = "2025-06-18"
TAIL = 300  # characters of a message that are shown


class NoAnswer(OSError):
    """A command that cannot be started, failed, or answered with something else; the message says which."""


def hook_answer(
    command: str | Sequence[str], event: Mapping[str, Any], environ: Mapping[str, str], seconds: float
) -> dict[str, Any]:
    """
    Return the JSON object that a hook prints for *event*.

    Raises:
        NoAnswer: it fails, prints something else, or takes longer than *seconds*.
    """
    try:
        done = subprocess.run(
            command, shell=isinstance(command, str), input=json.dumps(event), capture_output=True, text=True,
            env=dict(environ), timeout=seconds, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoAnswer(str(error)) from error
    if done.returncode:
        raise NoAnswer(f"it ended with {done.returncode}: {done.stderr.strip()[-TAIL:]}")
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise NoAnswer(f"it printed {done.stdout[:TAIL]!r} instead of JSON") from error
    if not isinstance(answer, dict):
        raise NoAnswer(f"it printed {done.stdout[:TAIL]!r} instead of an object")
    return answer


def tool_answer(
    command: Sequence[str],
    tool: str,
    arguments: Mapping[str, Any],
    environ: Mapping[str, str],
    seconds: float,
) -> str:
    """
    Return the text with which an MCP server answers a call of *tool*.

    Raises:
        NoAnswer: it cannot be started, fails, or takes longer than *seconds*.
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        server = subprocess.Popen([*command], text=True, env=dict(environ), **pipes)  # type: ignore[call-overload]
    except OSError as error:
        raise NoAnswer(str(error)) from error
    late = Timer(seconds, server.kill)
    late.start()
    with server:
        try:
            return _called(server, tool, arguments)
        except (OSError, ValueError, KeyError, TypeError) as error:
            server.kill()
            message = (server.stderr.read() if server.stderr else "").strip()[-TAIL:]
            raise NoAnswer(message or f"it closed the connection ({error})") from error
        finally:
            late.cancel()
            server.kill()


def _called(server: subprocess.Popen[str], tool: str, arguments: Mapping[str, Any]) -> str:
    about = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
    _exchange(server, 1, "initialize", about)
    _send(server, {"method": "notifications/initialized"})
    result = _exchange(server, 2, "tools/call", {"name": tool, "arguments": arguments})
    text = "\n".join(str(one.get("text", "")) for one in result.get("content", ()))
    if result.get("isError"):
        raise ValueError(text[:TAIL])
    return text


def _exchange(server: subprocess.Popen[str], number: int, method: str, params: Mapping[str, Any]) -> Any:
    _send(server, {"id": number, "method": method, "params": params})
    for line in server.stdout or ():
        answer = json.loads(line)
        if answer.get("id") == number:
            if "error" in answer:
                raise ValueError(str(answer["error"].get("message"))[:TAIL])
            return answer["result"]
    raise ValueError("no answer")


def _send(server: subprocess.Popen[str], message: Mapping[str, Any]) -> None:
    assert server.stdin
    print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
