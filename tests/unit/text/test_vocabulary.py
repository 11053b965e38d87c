"""Function words by the language of a question, and the lists that exist once."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from pathlib import Path

import pytest

from clawmem.domain.text.vocabulary import (
    FUNCTION_WORDS,
    MONTHS,
    NUMBERS,
    STOP_WORDS,
    WEEKDAYS,
    function_words,
)
from clawmem.domain.text.words import words


@pytest.mark.parametrize("language", FUNCTION_WORDS)
def test_one_word_is_no_language(language: str) -> None:
    for word in FUNCTION_WORDS[language]:
        assert function_words(words(f"{word} budget")) == STOP_WORDS


DOMAIN = Path(__file__).parents[3] / "domain"
LISTS: dict[str, Collection[str]] = {
    "months": [name for name in MONTHS if len(name) > len("sept")],
    "weekdays": [name for name in WEEKDAYS if len(name) > len("thurs")],
    "stop words": [word for word in STOP_WORDS if len(word) > len("the")],
    "numbers": NUMBERS,
}
MOST = {"stop words": 60}  # elsewhere few words can be named for another purpose


def words_of_strings(path: Path) -> set[str]:
    """The words of the string constants of a module that are no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)
    }
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {
        word
        for text in constants
        if isinstance(text, str) and text not in docstrings
        for word in re.findall(r"[^\W\d_]+", text.lower())
    }


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_exists_once(kind: str) -> None:
    """No module of the domain has its own list of months, weekdays, numbers or stop words."""
    modules = (path for path in DOMAIN.rglob("*.py") if path.parent.name != "text")
    counts = {path.name: len(words_of_strings(path).intersection(LISTS[kind])) for path in modules}
    assert not {name: count for name, count in counts.items() if count > MOST.get(kind, 6)}
