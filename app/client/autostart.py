"""
Check for a running server, and its start in the background, also by the first hook that finds none.

A hook does not wait for the server that it starts, and no process shares anything with it. Of two servers that start at once the lock of the
vault ends one. A start that failed is repeated after `RETRY_S`, so that prompts do not pay for it each time.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep, time
from typing import Any

from clawmem.app.client.request import (
    OFF_VARIABLE,
    Announcement,
    announced,
    fault_of_server,
    server_file,
    server_of,
)
from clawmem.app.environment.places import default_vault
from clawmem.app.environment.private_files import appended
from clawmem.ports.errors import ClawmemError

RETRY_S = 300.0
START_S, PAUSE_S = 10.0, 0.05
MOST_START_S = 60.0  # on a machine under load; an idle one needs 2 seconds
IDLE_MINUTES = 30
MOST_LOG_BYTES = 256_000

# Of glibc: by default no thread uses memory that another one freed; a server held 45 MB after some hundred questions.
_MOST = str(4 << 20)
ONE_HEAP = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": _MOST, "MALLOC_TRIM_THRESHOLD_": _MOST}


def is_running(vault: Path) -> bool:
    """Whether a process holds the server lock of *vault*; it may still be starting or already be stopping."""
    if not server_file(vault, "server-lock").exists():
        return False
    from filelock import FileLock, Timeout  # not for a prompt without a server

    with suppress(Timeout), FileLock(server_file(vault, "server-lock"), blocking=False, is_singleton=False):
        return False
    return True


def is_automatic(environ: Mapping[str, str], settings: Any = None) -> bool:
    """Whether hooks start a server: neither *settings*, those of *environ*, nor CI or the environment forbids it."""
    switches = (environ.get(name, "").lower() for name in ("CI", OFF_VARIABLE))
    if os.name == "nt" or any(switch not in ("", "0", "false", "no", "off") for switch in switches):
        return False
    from clawmem.app.settings.model import load_settings  # with pydantic, which a served hook must not import

    return (settings or load_settings(environ=environ, lenient=True)).server == "auto"


def start_server(environ: Mapping[str, str], inherited: Mapping[str, str]) -> None:
    """Start a server if hooks are to, none runs, and none was started lately; raise `OSError` if that fails."""
    vault = default_vault(environ).absolute()
    if is_automatic(environ) and vault.is_file() and _age_s(vault) >= RETRY_S and not is_running(vault):
        with vault.open("rb") as file:
            if file.read(6) != b"SQLite":  # nothing is left next to another file
                return
        server_file(vault, "server-start").touch(mode=0o600)
        _spawn(vault, inherited, "--idle-exit", str(IDLE_MINUTES))


def found_or_started(environ: Mapping[str, str]) -> Announcement | None:
    """Return the server for *environ*; start one if hooks may, and wait for it at most `START_S` seconds."""
    vault = default_vault(environ)
    if server := server_of(vault, environ):
        return server
    with suppress(OSError):
        start_server(environ, environ)
    while (server := server_of(vault, environ)) is None and _age_s(vault) < START_S:
        sleep(PAUSE_S)
    return server


def started_server(vault: Path, options: Sequence[str], inherited: Mapping[str, str]) -> Announcement:
    """
    Return the running server of *vault*, else start one with *options* in the background, and wait until it answers.

    Raises:
        ClawmemError: the server ended, does not answer within `MOST_START_S`, or runs but cannot be used.
        OSError: the server cannot be started.
    """
    if is_running(vault) and (server := announced(vault)):
        if fault := fault_of_server(server):
            raise ClawmemError(fault)
        return server
    process, end = _spawn(vault.absolute(), inherited, *options), time() + MOST_START_S
    log = server_file(vault, "server-log")
    while time() < end:
        has_ended = process.poll() is not None
        if is_running(vault):  # perhaps another one, which was faster
            if server := announced(vault):
                return server
        elif has_ended:
            lines = log.read_text("utf-8", "replace").splitlines()
            reason = next(filter(None, reversed(lines)), f"exit code {process.returncode}")
            ended = ClawmemError(f"The server ended: {reason.removeprefix('clawmem: ')} Its log is {log}")
            ended.exit_code = process.returncode or ended.exit_code
            raise ended
        sleep(PAUSE_S)
    raise ClawmemError(f"The server does not answer after {MOST_START_S:.0f} seconds. See {log}")


def _age_s(vault: Path) -> float:
    """Return the seconds since a start was noted that has not succeeded yet; infinite without one."""
    with suppress(FileNotFoundError):
        return abs(time() - server_file(vault, "server-start").stat().st_mtime)
    return float("inf")


def _spawn(vault: Path, inherited: Mapping[str, str], *options: str) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own; only the log is passed on of all open files."""
    isolation, file = "-I" if sys.flags.isolated else "-P", server_file(vault, "server-log")
    if file.exists() and file.stat().st_size > MOST_LOG_BYTES:
        file.unlink()
    with appended(file) as log:
        return subprocess.Popen(
            [sys.executable, isolation, "-m", "clawmem", "serve", *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=vault.parent,
            env={**ONE_HEAP, **inherited, "INDEX_PATH": str(vault)},
            start_new_session=True,
        )
