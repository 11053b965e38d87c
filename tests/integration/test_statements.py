"""How many SQL statements a question and a prompt cost in a process of their own, from opening to recording."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from programs import run_program

NOTES = Path(__file__).parents[1] / "data" / "ownervault"
QUESTIONS = (
    "Latest on where the readings live?",
    "why did we move the readings to ClickHouse, and what does it cost a month?",
    "What did we last settle about logging in to the dashboard?",
)
MISSPELT = "Which tabel of the dashbord shows readngs, jornal or archve?"
# Several retrievers count the same words, and the filters of a prompt read the body of each candidate.
MOST_OF_QUERY, MOST_OF_PROMPT = 140, 400

TRACING = """
import os, sys, apsw
log = open(os.environ["STATEMENTS"], "w", buffering=1)

def traced(connection):
    connection.exec_trace = lambda cursor, sql, bindings: bool(log.write(" ".join(sql.split()) + "\\n"))

apsw.connection_hooks.append(traced)
from clawmem.__main__ import main
main()
"""

Traced = Callable[..., list[str]]


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes that ask the owner's notes."""
    folder = tmp_path_factory.mktemp("statements")
    given = {name: value for name, value in os.environ.items() if not name.startswith("CLAWMEM_")}
    own = {"HOME": str(folder), "INDEX_PATH": str(folder / "index.sqlite"), "CLAWMEM_EMBEDDER": "static"}
    environ = {**given, **own, "CLAWMEM_NO_SERVER": "1", "STATEMENTS": str(folder / "statements.txt")}
    command = [sys.executable, "-m", "clawmem", "bootstrap", str(NOTES)]
    subprocess.run(command, env=environ, check=True, capture_output=True)
    return environ


@pytest.fixture
def traced(environ: dict[str, str]) -> Traced:
    """Run a command and return its statements; its output must hold *answer*."""

    def run(arguments: Sequence[str], event: object = "", *, answer: str) -> list[str]:
        assert answer in run_program(TRACING, *arguments, env=environ, input=json.dumps(event)).stdout
        return Path(environ["STATEMENTS"]).read_text("utf-8").splitlines()

    return run


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_query_reads_in_batches(traced: Traced, question: str) -> None:
    """A query has few statements, and their number has a ceiling."""
    assert len(traced(["query", question], answer="ownervault/")) <= MOST_OF_QUERY


@pytest.mark.parametrize("question", [QUESTIONS[0], MISSPELT])
def test_a_prompt_reads_in_batches(traced: Traced, question: str) -> None:
    """A prompt that gets a block has few statements, and their number has a ceiling."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": question, "prompt": question}

    assert len(traced(["hook", "UserPromptSubmit"], event, answer="vault-context")) <= MOST_OF_PROMPT
