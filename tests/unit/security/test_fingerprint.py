from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.security.escaping import escape
from clawmem.domain.security.fingerprint import echo_share, fingerprint, is_echo

FACT = "We chose apsw over the sqlite3 module, because many interpreters cannot load extensions."
TOLD = escape(f"**Engines** (decision) engines.md\n{FACT}\n\n---\n\nUse WAL.")
BLOCK = f"<vault-context><facts>{TOLD}</facts></vault-context>"
TEXT = st.lists(st.sampled_from("a b c d e f g h i j".split()), max_size=30).map(" ".join)


@pytest.mark.parametrize(
    "echo",
    [
        FACT,
        FACT.upper(),
        f"> {FACT}",
        f"- {FACT}",
        f"3. {FACT}",
        f"  * > {FACT}",
        f"“{FACT}”",
        FACT.replace(" ", "\n"),
        FACT.replace(", because", ",\n> because"),
        "- [x] " + FACT.replace("apsw", "`apsw`").replace("many", "**many**"),
        "Use WAL.",
        "* use `WAL`",
    ],
)
def test_what_was_injected_is_known_again(echo: str) -> None:
    """Quoting, wrapping, list markers, emphasis and case do not hide where a sentence comes from."""
    assert echo_share(echo, fingerprint(BLOCK)) == 1
    assert is_echo(echo, fingerprint(BLOCK))


@pytest.mark.parametrize(
    "new",
    [
        "",
        "---",
        "We chose DuckDB for the reports.",
        "Extensions can be loaded by apsw, so the vector leg works on every interpreter now.",
        "Use it.",
    ],
)
def test_what_is_new_is_no_echo(new: str) -> None:
    """Words in common are not enough: it takes runs of them."""
    assert not is_echo(new, fingerprint(BLOCK))


def test_a_quotation_in_a_longer_answer_counts_by_its_share() -> None:
    """An answer that says as much again of its own is no echo any more."""
    own = "Today we found that the wheel is missing for the old machine in the cellar, so it gets rebuilt there."

    assert 0.3 < echo_share(f"{FACT} {own}", fingerprint(BLOCK)) < 0.5


@given(TEXT, TEXT, TEXT)
def test_the_share_never_falls_when_more_was_injected(text: str, one: str, other: str) -> None:
    """What is known stays known."""
    share = echo_share(text, fingerprint(one))

    assert 0 <= share <= echo_share(text, fingerprint(one) | fingerprint(other)) <= 1
