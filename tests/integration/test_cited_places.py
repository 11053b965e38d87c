"""The place that is cited contains the text that is shown, however and by whichever interface a question is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import Invoke, ask_json, write_notes

from clawmem.domain.documents.markdown import is_delimiter

HERE = Path(__file__).parents[1]
EXAMPLES = HERE.parent / "examples" / "notes"
OWNERVAULT = HERE / "data" / "ownervault"
OWNERVAULT_QUESTIONS = HERE / "data" / "ownervault_questions.jsonl"
EXAMPLE_QUESTIONS = (
    "where do we keep login sessions, how long is a stand held while somebody fills in the form, "
    "who designs ticket machines, redis, booking slot, postgres sessions, "
    "what did we decide about the queue"
).split(", ")
VERBS = ("search", "query")
UNITS = ("document", "line")
DOTS = "..."


@dataclass(frozen=True)
class Cited:
    """A text that is shown, and the lines of the file that it is said to stand in."""

    path: str
    first: int
    last: int
    text: str

    def is_right(self, root: Path) -> bool:
        """
        Whether the cited lines, read from the file, contain every line of the text, headers of tables excepted.

        What comes after an ellipsis are other lines of the file.
        """
        lines = (root / self.path).read_text("utf-8").split("\n")
        text, _, rest = self.text.partition("\n…\n")
        cited, others = lines[self.first - 1 : self.last], lines[: self.first] + lines[self.last - 1 :]
        if not all(part == "…" or any(part in line for line in others) for part in _parts(rest)):
            return False
        shown = [part for part in _parts(text) if not any(part in line for line in cited)]
        return all(is_delimiter(line) for line in shown[1::2]) and len(shown) % 2 == 0


def _parts(text: str) -> Iterator[str]:
    """The lines of a shown text, without the dots where it was cut and the indent of a terminal."""
    for line in text.split("\n"):
        bare = line.strip().removeprefix(DOTS).removesuffix(DOTS).strip()
        if bare:
            yield bare


def from_json(found: Iterable[dict[str, Any]]) -> Iterator[Cited]:
    for one in found:
        yield Cited(one["path"], one["start_line"], one["end_line"], one["snippet"])


class QuestionedVault(NamedTuple):
    """A vault that can be asked, its folder, and questions to it."""

    invoke: Invoke
    root: Path
    questions: tuple[str, ...]


@pytest.fixture(params=["examples", "ownervault"])
def vault(request: pytest.FixtureRequest, invoke: Invoke) -> QuestionedVault:
    """The example notes, and those of an invented owner."""
    root, questions = EXAMPLES, EXAMPLE_QUESTIONS
    if request.param == "ownervault":
        rows = map(json.loads, OWNERVAULT_QUESTIONS.read_text("utf-8").splitlines())
        root, questions = OWNERVAULT, tuple(row["text"] for row in rows if "text" in row)[::54]
    assert invoke("bootstrap", root, "--name", "v").exit_code == 0
    return QuestionedVault(invoke, root, questions)


def test_every_cited_place_contains_what_is_shown(vault: QuestionedVault) -> None:
    """By words alone and with meaning, for notes and for lines."""
    invoke, root, questions = vault
    cited = [
        place
        for question in questions
        for verb in VERBS
        for unit in UNITS
        for place in from_json(ask_json(invoke, verb, question, "--unit", unit, "-n", 5)["results"])
    ]

    assert len(cited) > 2 * len(questions)
    assert [place for place in cited if not place.is_right(root)] == []


@pytest.mark.parametrize(
    ("note", "word", "line"),
    [
        (
            "---\nparticipants: Ann, Zanzibar Travel\n---\n# Trip\n\nWe go in June.\n\nThe hotel is booked.\n",
            "Zanzibar",
            2,
        ),
        ("---\ntags:\n  - sea\n  - zanzibar\n---\n# Trip\n", "zanzibar", 4),
        ("# Trip\n\nZanzibar in June.\n\nThe hotel is booked.\n", "Zanzibar", 3),
        ("# Trip\n\nWe fly in June,\nto Zanzibar of course,\nand the hotel is booked.\n", "Zanzibar", 4),
        ("---\ntitle: Zanzibar\n---\n# Trip\n\nIn June.\n\nZanzibar is hot and far off.\n", "Zanzibar", 8),
        ("# Trip\n\n- tickets\n- a map of Zanzibar\n- sun cream\n", "Zanzibar", 4),
    ],
)
def test_the_place_begins_with_the_line_that_holds_the_word(
    invoke: Invoke, tmp_path: Path, note: str, word: str, line: int
) -> None:
    """In the text, in a list, in the middle of a paragraph, and in the front matter with the line's true number."""
    write_notes(tmp_path / "v", {"trip.md": note})
    assert invoke("bootstrap", tmp_path / "v").exit_code == 0

    (found,) = ask_json(invoke, "search", word)["results"]

    assert found["start_line"] == line
    assert word in found["snippet"].split("\n")[0]
    assert re.search(rf"^v/trip\.md:{line}(?:-\d+)?  #", invoke("search", word).stdout, re.MULTILINE)
