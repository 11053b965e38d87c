"""What holds of every prompt, whatever it says."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.surfacing.block import FACTS_FRAME, Entry, block
from clawmem.domain.surfacing.facts import MOST_NAMES, seeds_of
from clawmem.domain.surfacing.gate import MOST_CHARS, Skip, looking_back, needs_earlier, why_skip
from clawmem.domain.surfacing.packing import pack, pack_lines
from clawmem.domain.surfacing.passages import Passage, longer_passages
from clawmem.domain.surfacing.profiles import PROFILES, least_kept
from clawmem.domain.text.words import token_count
from clawmem.ports.records import FragmentKey, FragmentKind, Span

HERBS = "# Herbs\n\nThyme grows here.\n\nSage grows there.\n\n"
PLAIN = st.text("abc de\n", max_size=60)


@given(st.text(max_size=300))
def test_the_gate_reads_any_text(prompt: str) -> None:
    """It never fails, and what it gives is a reason or nothing."""
    assert why_skip(prompt) in (None, *Skip)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("why was it changed?", True),
        ("and for payments?", True),
        ("und warum?", True),
        ("where do we keep login sessions these days?", False),
        ("wer hat die Dusche repariert?", False),
    ],
)
def test_a_prompt_of_few_content_words_needs_those_before_it(prompt: str, expected: bool) -> None:
    """Two content words say what a prompt is about."""
    assert needs_earlier(prompt) is expected


@given(PLAIN, st.lists(st.text("abc de\n", max_size=1500), max_size=5))
def test_looking_back_keeps_to_its_length(current: str, before: list[str]) -> None:
    """The prompt comes first and whole; no more than 2 000 characters are asked."""
    asked = looking_back(current, before)

    assert len(asked) <= MOST_CHARS and asked.startswith(current)


@given(st.lists(st.text("ab", max_size=12), max_size=12), st.integers(0, 40))
def test_what_is_packed_fits(lines: list[str], budget: int) -> None:
    """The lines kept are the first ones, and together with their frame within the budget."""
    kept = pack_lines(lines, budget, FACTS_FRAME)

    assert kept == lines[: len(kept)]
    assert not kept or token_count("\n".join([FACTS_FRAME, *kept])) <= budget


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 60))
def test_a_block_holds_the_longest_beginning_that_fits(sizes: list[int], budget: int) -> None:
    """One more would be too much; the first is there whatever it takes."""

    def text_of(count: int) -> str:
        return "x" * 4 * sum(sizes[:count])

    fitting = pack(len(sizes), text_of, budget)

    assert fitting >= min(1, len(sizes))
    assert fitting <= 1 or sum(sizes[:fitting]) <= budget
    assert fitting == len(sizes) or sum(sizes[: fitting + 1]) > budget


@given(st.lists(PLAIN, min_size=1, max_size=4), st.lists(PLAIN, max_size=3), PLAIN, PLAIN)
def test_a_block_is_well_formed(entries: list[str], lines: list[str], hint: str, nudge: str) -> None:
    """Whatever is said, the elements nest, and stand in their order."""
    text = block(entries, lines, lines, hint=hint, nudge=nudge)

    root = ElementTree.fromstring(f"<all>{text}</all>")

    expected = ["vault-routing"] * bool(hint) + ["vault-context"] + ["vault-nudge"] * bool(nudge)
    assert [child.tag for child in root] == expected
    inside = [child.tag for child in next(child for child in root if child.tag == "vault-context")]
    assert inside == ["instruction", "facts", *(["relationships", "vault-facts"] if lines else [])]


@given(st.text(max_size=400))
def test_seeds_are_few_and_each_once(prompt: str) -> None:
    """However long a prompt is, no more than 500 names are looked up, longer ones first."""
    found = seeds_of(prompt)

    for stage in found:
        assert len(stage) == len(set(stage)) <= MOST_NAMES
    lengths = [gram.count(" ") for gram in found.names]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@given(best=st.floats(0, 1))
def test_what_is_best_is_kept_or_nothing_is(profile, best: float) -> None:  # type: ignore[no-untyped-def]
    """The threshold is never above the best answer, so that silence is decided by activation alone."""
    least = least_kept(best, profile)

    assert (least is None) == (best < profile.activation)
    assert least is None or least <= best


@pytest.mark.parametrize("others", ["", "# Beds\n\nfallow\n\n" * 9_000])
def test_a_section_of_a_long_note_is_shown_like_a_short_note(others: str) -> None:
    """The lines far from it change nothing."""
    body = others + HERBS + others
    start, line = body.index("Thyme"), body[: body.index("Thyme")].count("\n") + 1
    span = Span(FragmentKey(1, 0), FragmentKind.LINE, line, line, start, start + 17)
    passage = Passage(span.key, Entry("Beds", "note", "beds.md"), body, span, body[start : start + 17])

    named = passage._replace(span=span._replace(start=start + 17, end=start + 400), text="")  # and not quoted
    wide = next(longer_passages([passage, named]))[0].span

    assert wide and body[wide.start : wide.end] == HERBS[9:].rstrip()
    assert wide.start_line == line
