"""Function words by the language of a question, and the lists that exist once."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.text.vocabulary import (
    FUNCTION_WORDS,
    STOP_WORDS,
    function_words,
)
from clawmem.domain.text.words import words


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("Wann ist die DELE Prüfung?", ("dele", "prüfung")),
        ("Wer ist der Bürgermeister?", ("bürgermeister",)),
        ("Quand est la réunion du groupe ?", ("réunion", "groupe")),
        ("¿Cuánto cuesta el puesto en la feria?", ("cuesta", "puesto", "feria")),
        ("onde ficam as amostras de pigmentos", ("ficam", "amostras", "pigmentos")),
        ("quando scade il contratto di affitto", ("scade", "contratto", "affitto")),
        ("when did the plants die in the cold", ("plants", "die", "cold")),
        ("who won the race in Los Angeles", ("race", "los", "angeles")),
        ("Wann ist das?", ("wann", "ist", "das")),  # nothing else to search for
    ],
)
def test_searched_words(question: str, searched: tuple[str, ...]) -> None:
    """Function words of the language of the question are left out, those of another language are not."""
    assert query_forms(question).words == searched


def test_a_name_keeps_its_words() -> None:
    """A few bare words are a name, in which function words count."""
    assert "der" in query_forms("Bund der Imker").words


@pytest.mark.parametrize("language", FUNCTION_WORDS)
def test_one_word_is_no_language(language: str) -> None:
    for word in FUNCTION_WORDS[language]:
        assert function_words(words(f"{word} budget")) == STOP_WORDS
