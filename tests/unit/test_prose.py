"""Prose of the project: plain sentences, and classes that are named by what they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("app", "adapters", "contracts", "domain", "packaging", "ports", "examples", "docs")
MOST_PER_THOUSAND = 2.0  # idioms per thousand lines; some are the right word

# Idioms that hide the subject or the object of a sentence, or that translate another language word by word.
IDIOMS = re.compile(
    r"\b(?:who|what)ever\b|\b(?:some|no)body\b|\banew\b|\bmeanwhile\b|\bin vain\b|\bby itself\b|\bat hand\b"
    r"|\bin place of\b|\bso much\b|\bof (?:it|them) all\b|\bput (?:right|away)\b|\blets? go\b"
    r"|\bwho (?:asks|comes|wants|reads|says|waits|counts)\b"
    r"|\bwhat (?:is|was|were|are|comes|came|lies|stands|holds|goes|went|has|had|belongs|can|may)\b"
    r"|\bas (?:it|they) (?:is|are|was|were)\b|\b(?:stands?|lies?|lay) (?:there|in|at|alone|beside|beyond|free)\b",
    re.IGNORECASE,
)
# Names that say nothing without their docstring: participles, question words and pronouns.
VAGUE = frozenset(
    "Thing Things Way Ways Said Told Given Asked Chosen Found Kept Done Gone Went Shown Spent Named Noted Known Listed "
    "Added Stopped Saved Served Missed Moment Means Desk Inside Outside Nothing Many Around Surroundings Place".split()
)
CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
COMMENT_OR_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|#([^\n]*)",
    re.DOTALL,
)
QUESTION = re.compile(r"^(?:What|Who|Which|How|Where|Whose)\b(?![^.]*\?)")


class Sentence(NamedTuple):
    """A line of prose, and whether it is the first of its docstring or comment."""

    place: str
    text: str
    is_first: bool


def files(*endings: str) -> list[Path]:
    """Return the product's files, without generated and recorded ones."""
    found = [path for folder in PRODUCT for path in (ROOT / folder).rglob("*") if path.suffix in endings]
    parts = {"notes", "data", "__pycache__", "node_modules"}
    return sorted(path for path in found if not parts & set(path.relative_to(ROOT).parts))


def sentences(path: Path) -> Iterator[Sentence]:
    """Yield the prose of a Python or Markdown file."""
    name, text = str(path.relative_to(ROOT)), path.read_text("utf-8")
    if path.suffix == ".md":
        outside = re.sub(r"```.*?```", lambda fence: "\n" * fence[0].count("\n"), text, flags=re.DOTALL)
        for number, line in enumerate(outside.splitlines(), 1):
            yield Sentence(f"{name}:{number}", line, is_first=False)
        return
    for found in COMMENT_OR_STRING.finditer(text):
        if found[1] and "noqa" not in found[1]:
            line = text.count("\n", 0, found.start()) + 1
            yield Sentence(f"{name}:{line}", found[1].lstrip("# "), is_first=False)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for number, line in enumerate((ast.get_docstring(node) or "").splitlines()):
                yield Sentence(f"{name}:{getattr(node, 'lineno', 1)}", line, is_first=number == 0)
        if (
            isinstance(node, ast.keyword)
            and node.arg in ("help", "description")
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield Sentence(f"{name}:{node.value.lineno}", node.value.value, is_first=True)


@pytest.fixture(scope="module")
def prose() -> list[Sentence]:
    """All prose of the product, without the words in backticks."""
    read = (one for path in files(".py", ".md") for one in sentences(path))
    return [one._replace(text=re.sub(r"`[^`]*`", "", one.text)) for one in read]


def test_idioms_are_rare(prose: list[Sentence]) -> None:
    """At most two idioms per thousand lines; the message lists them."""
    found = [f"{one.place}: {match[0]}" for one in prose for match in IDIOMS.finditer(one.text)]
    lines = sum(path.read_text("utf-8").count("\n") for path in files(".py", ".md"))

    assert len(found) / lines * 1000 <= MOST_PER_THOUSAND, "\n".join(found)


def test_descriptions_are_no_questions(prose: list[Sentence]) -> None:
    """A docstring, a help text or a description begins with a noun phrase or an imperative."""
    found = [f"{one.place}: {one.text}" for one in prose if one.is_first and QUESTION.match(one.text)]

    assert not found, "\n".join(found)


def test_classes_are_named_by_nouns() -> None:
    """No class is called by a participle, a question word or a pronoun alone, tests included."""
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in [*files(".py"), *(ROOT / "tests").rglob("*.py")]
        for name in CLASS.findall(path.read_text("utf-8"))
        if name.lstrip("_") in VAGUE
    ]

    assert not found, "\n".join(found)
