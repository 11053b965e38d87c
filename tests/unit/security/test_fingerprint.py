from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.security.escaping import escape
from clawmem.domain.security.fingerprint import echo_share, fingerprint, from_bytes, is_echo, to_bytes

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


@given(TEXT)
def test_a_text_is_its_own_echo(text: str) -> None:
    """Whole, as soon as it has words."""
    assert echo_share(text, fingerprint(text)) == (1 if text else 0)


@given(TEXT, TEXT, TEXT)
def test_the_share_never_falls_when_more_was_injected(text: str, one: str, other: str) -> None:
    """What is known stays known."""
    share = echo_share(text, fingerprint(one))

    assert 0 <= share <= echo_share(text, fingerprint(one) | fingerprint(other)) <= 1


@given(st.frozensets(st.integers(0, 2**64 - 1), max_size=20))
def test_packed_hashes_come_back(hashes: frozenset[int]) -> None:
    """Eight bytes each, in an order that depends on nothing but the hashes."""
    packed = to_bytes(hashes)

    assert from_bytes(packed) == hashes
    assert len(packed) == 8 * len(hashes)
    assert to_bytes(sorted(hashes, reverse=True)) == packed


def test_half_a_hash_is_refused() -> None:
    """Bytes that were cut off are not read as something else."""
    with pytest.raises(ValueError, match="multiple of 8 bytes, not 9"):
        from_bytes(b"123456789")
