"""Who a memory comes from and how old it is, as a block tells it; and that nobody from outside gives orders in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from surfacing_home import Home
from vault_stores import retrieval_stores

from clawmem.app.services.retrieval.request import read_request
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, Trace, Work
from clawmem.app.services.surfacing.composing import compose
from clawmem.app.services.surfacing.steps import guarded
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.origin import LEADS, SOURCES, as_tag
from clawmem.ports.records import FragmentKey, FragmentKind, Origin

DATA = Path(__file__).parent.parent / "data" / "injections.tsv"
ATTACKS = [
    text.replace("\\n", "\n")
    for kind, _, text in (line.split("\t", 2) for line in DATA.read_text("utf-8").splitlines())
    if not kind.endswith("ordinary")
]
PROMPT = "When was the lamp of the lighthouse on Gotska replaced, and by what?"
FACT = "The lamp of the lighthouse on Gotska was replaced by a diode."
UNVERIFIED = (Origin.TOOL_INSIDE, Origin.SHARED, Origin.IMPORTED, Origin.TOOL_OUTSIDE)
BOUNDLESS = 1_000_000  # tokens


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.vault.close()


def note(body: str, title: str, *tags: str, written: str = "") -> str:
    dated = f"date: {written}\n" if written else ""
    return f"---\ntags: [{', '.join(tags)}]\n{dated}---\n# {title}\n\n{body}\n"


@pytest.mark.parametrize("origin", Origin)
def test_an_entry_says_who_it_comes_from(home: Home, tmp_path: Path, origin: Origin) -> None:
    """What is the user's own says nothing; what nobody here stands behind is introduced and quoted."""
    home.take_in(tmp_path / "more", {"lamp.md": note(FACT, "Lamp", as_tag(origin))})

    block = home.ask(PROMPT, confidence=about_lamps).block
    head, *text = block.partition("<facts>\n")[2].partition("\n</facts>")[0].splitlines()

    assert ("from the memory of the person" in block) == (origin not in UNVERIFIED)

    assert head.endswith(SOURCES[origin])
    assert text == ([LEADS[origin], f"> {FACT}"] if origin in UNVERIFIED else [FACT])


@pytest.mark.parametrize(
    ("written", "label"),
    [("2019-05-04", "2019-05-04, over "), ("2023-10-14", "2023-10-14\n")],
    ids=["old", "young"],
)
def test_an_old_one_says_so(home: Home, tmp_path: Path, written: str, label: str) -> None:
    """Of a note of years ago the age stands beside the day, of one of last month it does not."""
    home.take_in(tmp_path / "more", {"lamp.md": note(FACT, "Lamp", "sea", written=written)})

    assert label in home.ask(PROMPT).block


@pytest.mark.parametrize("origin", UNVERIFIED)
def test_attacks_are_reported_or_left_out(home: Home, tmp_path: Path, origin: Origin) -> None:
    """
    Every line of a text that is neither the user's nor an assistant's is quoted below its lead, whatever it says.

    What is recognised as an order to an assistant is not shown at all.
    """
    notes = {f"n{n}.md": note(text, f"Note {n}", as_tag(origin)) for n, text in enumerate(ATTACKS)}
    home.take_in(tmp_path / "more", notes)
    asked = read_request(PROMPT, now_ms=home.clock.now_ms(), limit=100)

    work = guarded(asked, lines_of(home, "more"), Trace())
    shown = compose(retrieval_stores(home.vault), work, asked, BOUNDLESS)

    assert 0 < len(shown.entries) < len(ATTACKS)  # some are a matter of opinion, few are
    for entry in shown.entries:
        head, lead, *lines = entry.splitlines()
        assert head.startswith("**“Note ") and head.endswith(SOURCES[origin])
        assert lead == LEADS[origin]
        assert lines and all(line.startswith("> ") for line in lines)
        assert not has_injection("\n".join(line[2:] for line in lines))


def about_lamps(candidate: Candidate) -> float:
    """As if the note about the lamp answered, and no other one."""
    return 0.9 if candidate.document and candidate.document.path == "lamp.md" else 0.0


def lines_of(home: Home, collection: str) -> Work:
    """Every line of a collection, as if it had been found."""
    documents = {one.id: one for one in home.vault.documents.latest() if one.collection == collection}
    keys = [
        FragmentKey(number, part.seq)
        for number in documents
        for part in home.vault.documents.fragments(number)
    ]
    spans = [one for one in home.vault.documents.spans(keys).values() if one.kind is FragmentKind.LINE]
    found = [
        Candidate(s.key.document_id, s.key, 1.0, 1.0, span=s, document=documents[s.key.document_id])
        for s in spans
    ]
    return Work(LoadedTexts(home.vault.documents)).with_candidates(found)
