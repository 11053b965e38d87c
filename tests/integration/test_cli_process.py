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
from command_process import Run, run_process, start_process
from programs import run_program

from clawmem.app.version import VERSION

HEAVY = {"numpy", "tokenizers", "lancedb", "tantivy", "duckdb", "wordllama"}


def test_from_nothing_to_an_answer(run: Run, notes: Path) -> None:
    """``bootstrap`` is enough: afterwards every way of asking answers with a place."""
    begun = run("bootstrap", notes, fresh=True)

    assert begun.returncode == 0, begun.stderr
    assert "notes: 3 added" in begun.stdout
    assert "clawmem query" in begun.stdout
    for verb in (["search"], ["query"], ["query", "--mode", "vectors"]):
        found = run(*verb, "where", "do", "login", "sessions", "live")
        assert found.returncode == 0, found.stderr
        assert found.stdout.startswith("notes/decisions/2026-"), verb
        assert not found.stderr


@pytest.mark.parametrize(
    "verb", [("search", "x"), ("query", "x"), ("status",), ("list",), ("doctor", "--verify"), ("embed",)]
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
    assert run("--version").stdout == f"clawmem {VERSION}\n"
    assert run("--version", "--json").stdout == f"clawmem {VERSION}\n"


def test_help_starts_light(environ: dict[str, str], home: Path) -> None:
    """Help loads neither models nor indexes."""
    code = (
        "import sys; from clawmem.app.main import main\n"
        "for words in ('--help', 'search --help', 'bench retrieval --help'):\n"
        "    sys.argv = ['clawmem', *words.split()]\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )

    assert not HEAVY & {*run_program(code, cwd=home, env=environ).stderr.split()}


def test_a_reader_that_goes_away_is_no_error(
    run: Run, notes: Path, environ: dict[str, str], home: Path
) -> None:
    """``clawmem … | head`` ends without a word."""
    (notes / "long.md").write_text("# Long\n\n" + "a line of text\n" * 50_000, "utf-8")
    run("bootstrap", notes, "--skip-embed")

    for words in (["get", "notes/long.md"], ["--help"], ["query", "--help"], ["--version"]):
        reader, writer = os.pipe()
        os.close(reader)
        pipes = {"stdout": writer, "stderr": subprocess.PIPE}
        with start_process(*words, environ=environ, cwd=home, **pipes) as process:
            os.close(writer)
            said = process.communicate(timeout=60)[1]

        assert (process.returncode, said) == (141, b""), words


def test_output_that_is_lost_is_named(run: Run, notes: Path, environ: dict[str, str], home: Path) -> None:
    """No traceback, and no file of the vault gets the number of a standard stream. Only hooks never fail."""
    run("bootstrap", notes, "--skip-embed")
    for closed, words, code in (
        ("<&-", "remember -", 2),
        (">&-", "search Redis", 1),
        (">&-", "hook Stop", 0),
        ("<&- >&- 2>&-", "status", 1),
    ):
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "clawmem", *words.split()]
        pipes = {"input": "{}", "capture_output": True, "text": True}
        done = subprocess.run(command, check=False, cwd=home, env=environ, **pipes)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), (command, done.stderr)
        assert code != 1 or "2>&-" in closed or "standard output" in done.stderr, command
    with Path("/dev/full").open("w") as full:
        done = run_process("--json", "search", "Redis", environ=environ, cwd=home, stdout=full)
        assert (done.returncode, "Traceback" in done.stderr, "standard output" in done.stderr) == (
            1,
            False,
            True,
        )
        assert run_process("--json", "get", "none", environ=environ, cwd=home, stderr=full).returncode == 3


def test_an_interrupt_ends_with_130(run: Run, notes: Path, environ: dict[str, str], home: Path) -> None:
    """Ctrl-C is neither a traceback nor a success; the vault is usable afterwards."""
    run("bootstrap", notes)
    started = notes / "started"
    configure(home, "    update: touch started; sleep 60")
    pipe = subprocess.PIPE
    with start_process("update", "--pull", environ=environ, cwd=home, stderr=pipe, text=True) as process:
        while not started.exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]

    assert process.returncode == 130
    assert "Traceback" not in said
    assert run("search", "redis").returncode == 0


def test_an_interrupt_while_an_object_is_deleted(environ: dict[str, str]) -> None:
    """Python swallows it there, as in libraries that are being imported; it arrives all the same."""
    program = """
import os, sys, time
from clawmem.app.main import main
sys.argv[1:] = ["--version"]
try:
    main()
except SystemExit:
    pass
class Group:
    def __del__(self):
        os.kill(os.getpid(), 2)
        time.sleep(0.01)
Group()
time.sleep(20)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, env=environ, capture_output=True, text=True
    )
    assert done.stderr.endswith("KeyboardInterrupt\n") and "ignored" not in done.stderr


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
