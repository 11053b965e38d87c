from __future__ import annotations

import pytest

from clawmem.contracts.samples import document
from clawmem.domain.documents.fragments import fragment, grain_of, lexical_entries
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.text.words import index_text, words
from clawmem.ports.records import Document, Fragment, FragmentKey, FragmentKind, Grain, LexicalEntry

BODY = (
    "# Plan\n\nWe move the sessions to one database before the end of the month, in one evening.\n\n"
    "## Cost\n\nNothing but the time of two people, and an evening without the service.\n\n"
    "- export the sessions to a file\n- import the file in the evening\n"
)


def entries(body: str = BODY, title: str = "Plan", tags: tuple[str, ...] = ()) -> list[LexicalEntry]:
    parts = fragment(Markdown(body), title=title, front_matter=[("participants", "Ann, Bob")])
    return list(lexical_entries(named(title, tags), parts))


def named(title: str, tags: tuple[str, ...] = ()) -> Document:
    return document("plan.md", BODY, title=title, tags=tags)._replace(id=7)


def part(kind: FragmentKind, text: str = "Text.", heading: str = "") -> Fragment:
    return Fragment(3, kind, 1, 1, 0, len(text), text, heading=heading)


def entry(made: Fragment, title: str = "Title", tags: tuple[str, ...] = ()) -> LexicalEntry:
    (only,) = lexical_entries(named(title, tags), [made])
    return only


def test_one_entry_for_every_fragment_that_has_a_grain() -> None:
    """Whole, passages and lines; sections, lists, code and front matter are the same words again."""
    parts = fragment(Markdown(BODY), title="Plan", front_matter=[("participants", "Ann, Bob")])
    wanted = [(FragmentKey(7, p.seq), grain) for p in parts if (grain := grain_of(p))]

    assert [(e.key, e.grain) for e in entries()] == wanted
    assert any(grain_of(p) is None for p in parts)
    assert grain_of(part(FragmentKind.FRONT_MATTER, "permalink: /plan")) is None
    assert {grain for _, grain in wanted} == set(Grain)


def test_the_whole_is_found_by_front_matter_and_tags() -> None:
    """They stand below its text; each property also is a line."""
    made = entries(tags=("billing", "team-a"))
    assert [e.grain for e in made if "ann" in words(e.text)] == [Grain.DOCUMENT, Grain.LINE]
    assert words(made[0].text)[-6:] == ["billing", "team", "a", "participants", "ann", "bob"]


def test_a_title_holds_the_headings_above() -> None:
    """A question that names the subject finds the line that does not repeat it."""
    assert words(entry(part(FragmentKind.LINE, heading="Plan › Cost")).title) == ["title", "plan", "cost"]


@pytest.mark.parametrize("kind", [FragmentKind(grain.value) for grain in Grain])
def test_a_title_holds_the_names_that_add_a_word_at_every_granularity(kind: FragmentKind) -> None:
    """File name, aliases and folders, each whole; a name whose words are all there counts once."""
    note = document("Clients/acme-rocketworks/Kick off.md", title="Kick-off", aliases=("AR", "the kick off"))
    (found,) = lexical_entries(note._replace(id=7), [part(kind, heading="Kick-off › Acme")])

    assert found.title == index_text("kick-off acme ar the kick off acme-rocketworks clients")


def test_both_texts_are_as_an_index_sees_them() -> None:
    """Unspaced scripts in pairs, in the title too."""
    found = entry(part(FragmentKind.LINE, "会议纪要"), title="东京都")

    assert found.title.split() == ["东京", "京都", "都", "plan"]
    assert found.text.split() == ["会议", "议纪", "纪要", "要"]


def test_every_word_of_the_body_is_found_at_every_grain() -> None:
    """The grains index the same words."""
    for grain in Grain:
        texts = " ".join(f"{e.title} {e.text}" for e in entries() if e.grain is grain)

        assert set(words(index_text(BODY))) <= set(words(texts)), grain
