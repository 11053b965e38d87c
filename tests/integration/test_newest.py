"""The newest of a kind or about a topic: asked on the command line, over notes with dates of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, found_paths, write_notes

NOTES = {
    "handoffs/queue.md": "---\ndate: 2026-04-19\n---\n# Handoff after the queue incident\n\nThis handoff is for Lin.\n",
    "handoffs/sessions.md": "---\ndate: 2026-06-12\n---\n# Session migration\n\nStop on Friday evening.\n",
    "handoffs/billing.md": "---\ndate: 2026-08-27\n---\n# Billing retry\n\nDouble charges, take over now.\n",
    "house/2026-09-14 bath handover.md": "# Bath\n\nThe taps are tight.\n",  # of that name, in no folder of hand-offs
    "handoffs/rota.md": "# On call\n\nOne person from Friday to Friday. It has no date.\n",
    "house/roof-spring.md": "---\ndate: 2025-03-02\n---\n# Roof\n\nAn offer from the roofer: 9 200 for slate.\n",
    "house/roof-autumn.md": "---\ndate: 2025-10-11\n---\n# Roof again\n\nA second offer from the roofer: 8 400.\n",
    "house/pipes.md": "---\ndate: 2026-02-20\n---\n# Pipes\n\nAn offer from the plumber: 1 150 for the bath.\n",
    "house/gutter.md": "---\ndate: 2026-05-05\n---\n# Gutter\n\nThe gutter leaks above the kitchen door.\n",
    "decisions/keys.md": "---\ndate: 2026-01-10\n---\n# Keys\n\nWe keep the door keys with Ada.\n",
    "decisions/keys-2.md": "---\ndate: 2026-03-01\n---\n# Keys, again\n\nThe door keys lie in the safe.\n",
    "decisions/keys-3.md": (
        "---\ndate: 2026-02-01\nsupersedes: decisions/keys-2.md\n---\n# Keys, at last\n\nThe door keys hang at Bo's.\n"
    ),
    "decisions/heating.md": "---\ndate: 2026-07-01\n---\n# Heating\n\nThe heating stays off until October.\n",
}


@pytest.mark.parametrize("verb", ["search", "query", "query --mode=auto", "query --mode=vectors"])
def test_the_latest_of_a_kind_comes_first(indexed: Invoke, verb: str) -> None:
    """By their own dates; a note that has only the time of its file comes after those that have one."""
    found = found_paths(indexed, verb, "What is the latest handoff?")

    assert found[:4] == [f"handoffs/{name}.md" for name in ("billing", "sessions", "queue", "rota")]


@pytest.mark.parametrize(
    "question",
    (
        "newest handover, our last handoff, most recent handoff, letzte Übergabe, "
        "dernière passation, el traspaso más reciente"
    ).split(", "),
)
def test_the_newest_is_asked_for_in_other_words(indexed: Invoke, question: str) -> None:
    """English, German, French and Spanish."""
    assert found_paths(indexed, "query", question)[0] == "handoffs/billing.md"


def test_the_topic_is_a_folder_or_tag(invoke: Invoke, tmp_path: Path) -> None:
    """The newest meeting with the tag that took place, not the one whose text repeats it."""
    head = "---\ndate: {}\ntype: meeting\ntags: [{}]\n---\n# Meeting {}\n\n{}\n"
    notes = {
        "a.md": head.format(
            "2026-02-01", "commission", 1, "The commission meeting: the commission elects Ada."
        ),
        "b.md": head.format("2026-06-01", "town/commission", 2, "We bought sand."),
        "c.md": head.format("2026-07-01", "school", 3, "Parents of the second form."),
        "d.md": head.format("2099-02-01", "commission", 4, "To do: ask for sand."),
    }
    write_notes(tmp_path / "town", notes)
    invoke("bootstrap", tmp_path / "town")

    for question in ("latest commission meeting", "the last meeting of the commission"):
        assert found_paths(invoke, "query", question, "--all")[:2] == ["b.md", "a.md"]


@pytest.mark.parametrize("verb", ["search", "query", "query --mode=auto"])
def test_another_topic_does_not_win_by_being_newer(indexed: Invoke, verb: str) -> None:
    """The newest roofer's offer, not the plumber's, which is younger and an offer too."""
    assert found_paths(indexed, verb, "newest offer from the roofer")[:2] == [
        "house/roof-autumn.md",
        "house/roof-spring.md",
    ]


def test_drafts_and_overviews_are_not_the_newest(invoke: Invoke, tmp_path: Path) -> None:
    """A newer draft and a newer overview come after the notes themselves, and "last" may end the question."""
    offer = "An offer for the roof.\n"
    heads = {"offers/may.md": "date: 2026-05-01", "offers/june.md": "date: 2026-06-01"}
    aside = {"drafts/roof.md": "date: 2026-07-01", "all.md": "date: 2026-07-02\ncontent_type: hub"}
    notes = {path: f"---\n{head}\n---\n# Roof\n\n{offer}" for path, head in {**heads, **aside}.items()}
    write_notes(tmp_path / "roof", notes)
    invoke("bootstrap", tmp_path / "roof")

    for question in ("latest offer for the roof", "which offer for the roof did we get last?"):
        assert found_paths(invoke, "query", question, "--all")[:2] == ["offers/june.md", "offers/may.md"]


def test_a_clipping_that_alone_covers_the_topic(invoke: Invoke, tmp_path: Path) -> None:
    """It keeps its place: nothing says that it is newer than the notes that match in part."""
    clip = [
        f"Item {n} of the newsletter is about {what}."
        for n, what in enumerate(("paint", "a cellar", "shelves"))
    ]
    notes = {
        "inbox/clip.md": "---\ndate: 2026-02-01\n---\n# Newsletter\n\n"
        + "\n\nThe weather is dry.\n\n".join(clip),
        "cellar.md": "---\ndate: 2026-01-01\n---\n# Cellar shelves\n\nThe cellar shelves are of oak.\n",
        "shed.md": "---\ndate: 2025-01-01\n---\n# Shed\n\nThe shed is dry.\n",
    }
    write_notes(tmp_path / "cellar", notes)
    invoke("bootstrap", tmp_path / "cellar")

    found = found_paths(invoke, "query", "latest on the paint of the cellar shelves", "--all")

    assert found[0] == "cellar.md"
