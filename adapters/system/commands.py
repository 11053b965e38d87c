"""Commands of other programs: those of the user's config file, and those that clients start, hooks and MCP servers."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import anyio

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
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise NoAnswer(f"it printed {done.stdout[:TAIL]!r} instead of a JSON object")
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
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=command[0], args=[*command[1:]], env=dict(environ))
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as log:

        async def call() -> Any:
            with anyio.fail_after(seconds):
                async with stdio_client(server, log) as streams, ClientSession(*streams) as session:
                    await session.initialize()
                    return await session.call_tool(tool, dict(arguments))

        try:
            result = anyio.run(call)
        except Exception as error:
            log.seek(0)
            raise NoAnswer(log.read().strip()[-TAIL:] or str(error) or type(error).__name__) from error
    text = "\n".join(getattr(part, "text", "") for part in result.content)
    if result.is_error:
        raise NoAnswer(text[:TAIL])
    return text


def failure_of_command(command: str, folder: Path) -> str:
    """Run a shell command in *folder*; return why it failed, or an empty string."""
    try:
        done = subprocess.run(
            command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        return f"{command!r} could not be run: {error.strerror}"
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    last = lines[-1] if lines else ""
    return f"{command!r} ended with {done.returncode}: {last}" if done.returncode else ""
