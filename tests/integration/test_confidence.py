"""One confidence with a word on the command line, over MCP and REST; unlikely results stand back."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, write_file
from command_process import run_process
from process_environ import process_environ

from clawmem.domain.retrieval.relevance import POSSIBLE

EXAMPLES = Path(__file__).parents[2] / "examples" / "notes"
HELD = "how long is a booking slot held during checkout"
# What the notes answer, one of each kind of question, with the note that does.
ANSWERED = {
    HELD: "decisions/2026-07-21-shorter-slot-hold.md",
    "where do we keep login sessions": "decisions/2026-06-09-postgres-sessions.md",
    "ERR_LINK_USED": "meetings/2026-03-12-auth-sync.md",
    "unicycle": "progress/running-log.md",
    "0047_auth_session.sql": "handoffs/2026-06-12-session-migration.md",
    "Kanal Collective": "progress/running-log.md",
    "no-show rate text message": "research/no-show-study.md",
}
# A question of which the note holds one rare word: meaning has to speak for it as well.
BY_MEANING = {"为什么放弃 RabbitMQ？": "decisions/2026-05-06-message-queue-zh.md"}
FACTS = re.compile(r"  #[0-9a-f]{6,}  (?P<confidence>[01]\.[0-9]{2}) (?P<word>likely|possible|unlikely)  \S")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose vault holds the example notes, with their vectors; to be copied."""
    home = tmp_path_factory.mktemp("examples")
    run_process("bootstrap", EXAMPLES, environ=process_environ(home), cwd=home, check=True)
    return home


@pytest.fixture
def examples(invoke: Invoke, indexed: Path, home: Path) -> Invoke:
    """``invoke`` over a vault that holds the example notes, with their vectors."""
    shutil.copytree(indexed, home, dirs_exist_ok=True)
    return invoke


def found(examples: Invoke, *words: str) -> dict[str, Any]:
    return dict(json.loads(examples(*words, "--json").stdout))


@pytest.mark.parametrize("verb", ["search", "query"])
def test_a_correct_first_result_is_never_called_unlikely(examples: Invoke, verb: str) -> None:
    """Names, single words, identifiers, look-ups and sentences."""
    for question, path in {**ANSWERED, **(BY_MEANING if verb == "query" else {})}.items():
        first = found(examples, verb, question)["results"][0]

        assert first["path"] == path, question
        assert first["likelihood"] in {"likely", "possible"}, (question, first["confidence"])


def test_who_asks_the_notes_requests_no_work(examples: Invoke) -> None:
    """The same sentence may be a task of a programmer as a prompt, which gets no block then."""
    sentence = "show the price tiers by bookings a month on the sign-up page"

    assert found(examples, "query", sentence)["results"][0]["likelihood"] == "likely"
    assert not examples("surface", sentence).stdout


def test_the_printed_answer_has_one_number_and_its_word(examples: Invoke) -> None:
    """The score is for the order of a list and is printed only in an explanation."""
    shown = examples("query", HELD, "-n", "3").output
    heads = [line for line in shown.splitlines() if line.startswith("notes/")]
    read = [FACTS.search(line) for line in heads]

    assert read and all(read)
    assert next(one["word"] for one in read if one) == "likely"
    assert "%" not in " ".join(heads)


def test_unlikely_results_below_a_likely_one_are_hidden(examples: Invoke) -> None:
    """They are counted, in the trace as well, and ``--all`` shows them."""
    few, every = found(examples, "query", HELD), found(examples, "query", HELD, "--all")

    assert len(few["results"]) + few["hidden"] == len(every["results"]) == 10
    assert few["hidden"] > 0 == every["hidden"]
    assert few["results"] == [one for one in every["results"] if one["confidence"] >= POSSIBLE]
    unlikely = found(examples, "query", "who repairs the zebra of the submarine")
    assert unlikely["results"] and not unlikely["hidden"]  # as none of them is likely
    assert (
        f"{few['hidden']} unlikely results hidden; --all (show_all) shows them."
        in examples("query", HELD).output
    )
    explained = found(examples, "query", HELD, "--explain")
    assert explained["trace"]["stages"][-2]["dropped"]["unlikely, below a likely one"] == few["hidden"]


def test_a_unique_word_of_a_large_vault_is_not_called_unlikely(invoke: Invoke, home: Path) -> None:
    """However many notes there are, the one that holds the word is what was looked for."""
    folder = home / "many"
    folder.mkdir()
    topics = ("harvest", "ledger", "bridge", "kettle", "violin", "harbour", "lantern")
    for number in range(400):
        words = " ".join(topics[(number * step) % len(topics)] for step in (1, 2, 3))
        lines = "\n\n".join(f"Remark {number}-{line} about {words}." for line in range(3))
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\n{lines}\n", "utf-8")
    (folder / "zoo.md").write_text(
        "# Visit\n\nWe saw a wallaby behind the ferns.\n\nTicket QX-7741.\n", "utf-8"
    )
    assert invoke("bootstrap", folder).exit_code == 0

    for verb in ("search", "query"):
        for question in ("wallaby", "QX-7741", "ticket QX-7741"):
            first = found(invoke, verb, question)["results"][0]
            assert (first["path"], first["likelihood"] != "unlikely") == ("zoo.md", True), (verb, question)


def test_missing_vectors_are_reported_with_the_remedy(examples: Invoke, home: Path) -> None:
    """A note that was changed and not embedded again can be missed by meaning; the answer says so."""
    folder = home / "more"
    write_file(folder / "a.md", "# Elephants\n\nThe elephant is the largest animal on land.\n")
    assert examples("bootstrap", folder).exit_code == 0
    assert found(examples, "query", "largest animal")["degraded"] == {}
    (folder / "a.md").write_text(
        "# Elephants\n\nThe elephant is the largest animal.\n\nIt sleeps.\n", "utf-8"
    )
    assert examples("update", "--no-embed").exit_code == 0

    for verb in ("query", "query --mode=vectors"):
        degraded = found(examples, verb, "largest animal")["degraded"]
        assert "no vectors and may be missed (documents: 1)" in degraded["vector"]
        assert "Run: clawmem embed" in degraded["vector"]

    assert examples("embed").exit_code == 0
    assert found(examples, "query", "--mode", "vectors", "largest animal")["degraded"] == {}
