"""How likely a vault answers a prompt: what raises and what lowers it."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.query_forms import identifiers
from clawmem.domain.retrieval.relevance import Evidence
from clawmem.domain.surfacing.answerability import (
    BY_WORDS,
    COUNTED_ENTRIES,
    SMALL,
    PromptMatch,
    answerability,
)
from clawmem.domain.surfacing.prompt_form import PromptForm, prompt_form, proper_names

FOUND = Evidence(line=6.0, unknown=0.25, entries=3_000, cosine=0.3)
STATIC = "wordllama:l2_supercat:256"


@pytest.mark.parametrize("fingerprint", [STATIC, "minilm:384:int8", "unheard-of", None])
def test_signs_move_the_probability(fingerprint: str | None) -> None:
    """A better line and every match raise it; unknown words, a larger vault and a request for work lower it."""
    usual = answerability(FOUND, PromptForm(), PromptMatch(), fingerprint)

    higher = [
        answerability(FOUND._replace(line=12.0), PromptForm(), PromptMatch(), fingerprint),
        answerability(FOUND, PromptForm(ours=True), PromptMatch(), fingerprint),
        *(
            answerability(FOUND, PromptForm(), PromptMatch(**{name: True}), fingerprint)
            for name in PromptMatch._fields
        ),
    ]
    lower = [
        answerability(FOUND._replace(unknown=0.5), PromptForm(), PromptMatch(), fingerprint),
        answerability(FOUND._replace(entries=6_000), PromptForm(), PromptMatch(), fingerprint),
        *(
            answerability(FOUND, PromptForm(**{name: True}), PromptMatch(), fingerprint)
            for name in ("task", "general", "pointing")
        ),
    ]

    assert all(one >= usual for one in higher)
    assert sum(one > usual for one in higher) >= len(higher) - 1  # the fit may give a sign no weight
    assert all(one < usual for one in lower)


def test_without_a_cosine_words_decide() -> None:
    """The same as by an embedder that nothing was fitted for."""
    alone = FOUND._replace(cosine=None)

    assert answerability(alone, PromptForm(), PromptMatch(), STATIC) == answerability(
        FOUND, PromptForm(), PromptMatch()
    )
    assert BY_WORDS.cosine == 0.0


def test_size_counts_within_its_bounds() -> None:
    """Vaults between the small ones and the lower bound count alike; a smaller one is easier to answer from."""
    least, most = COUNTED_ENTRIES
    sizes = [SMALL, least, least + 1, most, most * 10]
    found = [
        answerability(FOUND._replace(entries=size), PromptForm(), PromptMatch(), STATIC) for size in sizes
    ]

    assert found[0] == found[1] > found[2] > found[3] == found[4]
    assert answerability(FOUND._replace(entries=SMALL - 1), PromptForm(), PromptMatch(), STATIC) > found[0]


def test_function_words_are_answered_by_nothing() -> None:
    """However much they find."""
    assert (
        answerability(FOUND._replace(line=99.0), prompt_form("who are you?"), PromptMatch(whole=True)) == 0.0
    )


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("add a docstring to this function", {"task", "pointing"}),
        ("please rename the file", {"task"}),
        ("can you convert this to Go", {"task", "pointing"}),
        ("summarize how I fixed the build", {"own"}),
        ("how do I squash two commits", {"general"}),
        ("how many days are there in a month", {"general"}),
        ("remind me who Nuray is", set()),
        ("tell me how to center a div", {"general"}),
        ("where do we keep login sessions these days?", {"ours"}),
        ("why did my boiler stop", {"ours", "own"}),
        ("jobs above 500", set()),
        ("what does the mill owe me?", {"own"}),
        ("what does it take to explain a join to me", {"general"}),
        ("explain the trace above", {"task", "pointing"}),
        ("Harbour Freewheel", set()),
        ("", set()),
    ],
)
def test_the_form_of_a_prompt(prompt: str, expected: set[str]) -> None:
    """The signs of a prompt, without whether it tells anything."""
    form = prompt_form(prompt)._asdict()

    assert {name for name, value in form.items() if value and name != "telling"} == expected


def test_names() -> None:
    """Proper names are not the first words of sentences; identifiers are no hyphenated words."""
    assert proper_names("Who is Ann? Ask Joost's neighbour in Low Bridge about HTTP.") == [
        "ann",
        "joost",
        "low",
        "bridge",
    ]
    assert identifiers("a well-known bug of auth_session in src/a.py, ERR_X1 and getName") == [
        "auth_session", "src/a.py", "ERR_X1", "getName",
    ]  # fmt: skip
