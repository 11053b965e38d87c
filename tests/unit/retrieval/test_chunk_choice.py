from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.text.parts import choose_chunk, text_pieces

bodies = st.text("ab kettle\n", max_size=400)
places = st.tuples(st.integers(0, 500), st.integers(0, 500)).map(lambda pair: (min(pair), max(pair)))


@given(bodies, st.none() | places, st.lists(st.sampled_from(["kettle", "a b"])))
def test_a_chunk_is_a_part_and_as_long_as_can_be(
    body: str, around: tuple[int, int] | None, intents: list[str]
) -> None:
    """What is read stands in the text, and without an intent is shorter than a window only if the text is."""
    chunk = choose_chunk(body, ["kettle"], intents, around=around, chars=50, overlap=10)

    assert chunk in body
    assert len(chunk) <= 50
    assert intents or len(chunk) == min(50, len(body))


@given(st.integers(0, 990), st.integers(1, 50))
def test_what_matched_is_read(start: int, length: int) -> None:
    """A fragment that fits into a window lies in it whole, wherever it stands."""
    body = "".join(f"{number:04d}" for number in range(250))
    end = min(start + length, len(body))

    assert body[start:end] in choose_chunk(body, [], around=(start, end), chars=100, overlap=0)


@given(st.integers(0, 994))
def test_every_place_lies_in_a_window(place: int) -> None:
    """With an intent a term is found wherever it stands: windows leave no gap that swallows it."""
    body = "x" * place + "kettle" + "x" * (994 - place)

    assert "kettle" in choose_chunk(body, ["kettle"], ["descale"], chars=100, overlap=5)


def test_a_short_title_ends_no_sentence() -> None:
    """A long line falls into its sentences; "Sr." is inside one."""
    body = "The key hangs in the hall. Sr. Costa has the blue one. He closes the gas."
    assert [body[start:end].strip() for start, end in text_pieces(body, 0, len(body), 40)] == [
        "The key hangs in the hall.",
        "Sr. Costa has the blue one.",
        "He closes the gas.",
    ]
