"""The command line as people and scripts meet it: real processes in an empty home."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import configure, write_file
from command_process import Run
from programs import run_program

from clawmem.app.version import VERSION

HEAVY = {"numpy", "tokenizers", "lancedb", "tantivy", "duckdb", "rich", "wordllama"}


def modules_after(environ: dict[str, str], home: Path, *args: str) -> set[str]:
    code = (
        "import sys; from clawmem.app.main import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    return set(run_program(code, *args, check=False, cwd=home, env=environ).stderr.split())


def test_from_nothing_to_an_answer(run: Run, notes: Path) -> None:
    """``bootstrap`` is enough: afterwards every way of asking answers with a place; in new interpreters."""
    begun = run("bootstrap", notes, fresh=True)

    assert begun.returncode == 0, begun.stderr
    assert "notes: 3 added" in begun.stdout
    assert "clawmem query" in begun.stdout
    for verb in (["search"], ["query"], ["query", "--mode", "vectors"]):
        found = run(*verb, "where", "do", "login", "sessions", "live", fresh=True)
        assert found.returncode == 0, found.stderr
        assert found.stdout.startswith("notes/decisions/2026-"), verb
        assert not found.stderr


@pytest.mark.parametrize(
    "verb",
    [
        ("search", "x"),
        ("query", "x"),
        ("status",),
        ("list",),
        (
            "doctor",
            "--verify",
        ),
        ("embed",),
    ],
)
def test_without_a_vault_it_says_so_and_makes_none(run: Run, home: Path, verb: tuple[str, ...]) -> None:
    """A reading command on no vault leaves with 5, the way out, and an untouched disk."""
    done = run(*verb)

    assert done.returncode == 5
    assert done.stderr.count("\n") == 1
    assert "clawmem bootstrap PATH" in done.stderr
    assert not done.stdout
    assert list(home.iterdir()) == []


def test_the_version_is_the_package_s(run: Run) -> None:
    """``--version`` prints the version of the package, with and without ``--json``."""
    assert run("--version", fresh=True).stdout == f"clawmem {VERSION}\n"
    assert run("--version", "--json").stdout == f"clawmem {VERSION}\n"


@pytest.mark.parametrize("args", [("--help",), ("search", "--help"), ("bench", "retrieval", "--help")])
def test_help_starts_light(environ: dict[str, str], home: Path, args: tuple[str, ...]) -> None:
    """Help loads neither models nor indexes."""
    assert not modules_after(environ, home, *args) & (HEAVY - {"rich"})


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end differently")
def test_a_reader_that_goes_away_is_no_error(
    run: Run, notes: Path, environ: dict[str, str], home: Path
) -> None:
    """``clawmem … | head`` ends without a word."""
    (notes / "long.md").write_text("# Long\n\n" + "a line of text\n" * 50_000, "utf-8")
    run("bootstrap", notes, "--skip-embed")
    command = [sys.executable, "-m", "clawmem", "get", "notes/long.md"]

    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, check=False, stdout=writer, stderr=subprocess.PIPE, cwd=home, env=environ)
    os.close(writer)

    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.skipif(sys.platform == "win32", reason="a shell")
@pytest.mark.parametrize(
    ("closed", "args", "code"),
    [("<&-", ("remember", "-"), 2), ("<&-", ("forget", "haruka"), 2), (">&-", ("search", "Redis"), 0), ("2>&-", ("get", "none"), 3)],
)  # fmt: skip
def test_a_closed_stream_is_empty(
    run: Run, notes: Path, environ: dict[str, str], home: Path, closed: str, args: tuple[str, ...], code: int
) -> None:
    """No traceback, and no file of the vault gets the number of a standard stream."""
    run("bootstrap", notes, "--skip-embed")
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "clawmem", *args]

    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=home, env=environ)

    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr


def test_an_interrupt_ends_with_130(run: Run, notes: Path, environ: dict[str, str], home: Path) -> None:
    """Ctrl-C is neither a traceback nor a success; the vault is usable afterwards."""
    run("bootstrap", notes)
    started = notes / "started"
    configure(home, "    update: touch started; sleep 60")
    command = [sys.executable, "-m", "clawmem", "update", "--pull"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=home, env=environ) as process:
        while not started.exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]

    assert process.returncode == 130
    assert "Traceback" not in said
    assert run("search", "redis").returncode == 0


def test_dotenv_of_a_cloned_folder_says_nothing(run: Run, home: Path) -> None:
    """Neither which vault is asked, nor which others there are, nor which server is told what the notes say."""
    settled = run("vault", "path").stdout
    (home / ".env").write_text(
        "INDEX_PATH=theirs.sqlite\nCLAWMEM_CONFIG_DIR=.\nCLAWMEM_VAULTS={}x\nCLAWMEM_EMBED_URL=http://theirs\n",
        "utf-8",
    )
    (home / "config.yaml").write_text("vaults: {theirs: /theirs.sqlite}\n", "utf-8")

    assert run("vault", "path").stdout == settled
    assert run("vault", "list").stdout == run("vault", "list", CLAWMEM_VAULTS="").stdout
    assert "theirs" not in run("vault", "list").stdout


def test_dotenv_of_the_config_folder_chooses_the_vault_and_the_shell_wins(run: Run, home: Path) -> None:
    """``.env`` beside the config file is read; a variable of the shell is stronger."""
    write_file(home / ".config" / "clawmem" / ".env", "# mine\nINDEX_PATH='elsewhere.sqlite'\n")

    assert run("vault", "path").stdout == "elsewhere.sqlite\n"
    assert run("vault", "path", INDEX_PATH="/from/shell").stdout == f"{Path('/from/shell')}\n"
    assert run("vault", "path", "--vault", "given.sqlite").stdout == "given.sqlite\n"
