"""How many SQL statements a question and a prompt cost in a process of their own, from opening to recording."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from command_process import run_process
from process_environ import process_environ

NOTES = Path(__file__).parents[1] / "data" / "ownervault"
QUERY = "why did we move the readings to ClickHouse, and what does it cost a month?"
PROMPT = "Latest on where the readings live?"
MISSPELT = "Which tabel of the dashbord shows readngs, jornal or archve?"
# Several retrievers count the same words, and the filters of a prompt read the body of each candidate.
MOST_OF_QUERY, MOST_OF_PROMPT = 150, 400

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
    places = {"INDEX_PATH": str(folder / "index.sqlite"), "STATEMENTS": str(folder / "statements.txt")}
    environ = process_environ(folder, CLAWMEM_EMBEDDER="static", **places)
    run_process("bootstrap", NOTES, environ=environ, check=True)
    return environ


@pytest.fixture
def traced(environ: dict[str, str]) -> Traced:
    """Run a command and return its statements; its output must hold *answer*."""

    def run(arguments: Sequence[str], event: object = "", *, answer: str) -> list[str]:
        done = run_process("-c", TRACING, *arguments, environ=environ, input=json.dumps(event), check=True)
        assert answer in done.stdout
        return Path(environ["STATEMENTS"]).read_text("utf-8").splitlines()

    return run


def test_a_query_reads_in_batches(traced: Traced) -> None:
    """A query has few statements, and their number has a ceiling."""
    assert 20 < len(traced(["query", QUERY], answer="ownervault/")) <= MOST_OF_QUERY


@pytest.mark.parametrize("question", [PROMPT, MISSPELT])
def test_a_prompt_reads_in_batches(traced: Traced, question: str) -> None:
    """A prompt that gets a block has few statements, and their number has a ceiling."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": question, "prompt": question}

    assert len(traced(["hook", "UserPromptSubmit"], event, answer="vault-context")) <= MOST_OF_PROMPT
