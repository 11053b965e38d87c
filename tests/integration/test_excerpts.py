"""Lines that a result shows, through the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json, write_notes

from clawmem.domain.retrieval.relevance import DEFAULT_FLOOR

NOTES = {
    "log/2025-03.md": "# March 2025\n\n## 2025-03-04\nBaked rye bread.\nThe kiln cracked.\n\n## 2025-03-05\n"
    "Sold two vases.\n\n## 2025-03-18\nOsric fixed the kiln.\nGlazed the bowls.\n",
    "kiln.md": "# Firing\n#kiln #clay\n\nStoneware needs ten hours.\nNext kiln inspection: 9 August.\n",
    "fair.md": "---\ntags: [winter]\n---\n# Fair\n\nNo snow yet.\n",
    "bare.md": "---\ntags: [autumn]\n---\n",
    "insurance.md": "---\npolicy_number: CM-77120\nexcess: 90\nend_of_cover:\n  - 2027-05-01\n---\n# Insurance\n\nThe building insurance is renewed in May.\n",
    "heading.md": "---\ntags: [spring]\n---\n# To write\n",
    "trip.md": "# Trip\n\n## Walrus\n\n## Lynx\n\nSeen at the gate. Two otters came.\n\n## Otters\n",
    "rates 2024.md": "# Rates 2024\n\nWhat I charge this year, before tax.\n\n## Prices\nLesson: £34 an hour\n"
    "Glazing: £90\nRepair: £19 an hour\n",
    "olives.md": "# Olives\n\n## March\nSalting the olives takes 12 hours.\n\n"
    + "We rinsed the jars in the yard.\n" * 12
    + "\n## April\nJars are closed now.\n\nShorter salting of olives next time: 8 hours instead of 12.\n",
    "linker.md": "# Build\n\n## Symptom\nThe linker of the loom failed.\n\n## What happened\n"
    + "We read a great many pages about it. " * 20
    + "\n\n## Solution\nReinstall the shuttle.\n",
    "journal.md": "- DONE Glue the violet caps\n  id:: 65f0a1b2-1111-4222-8333-444455556666\n- TODO Call the glazier\n"
    "  SCHEDULED: <2025-04-07 Mon>\n- {{query (and [[Violet]] (task TODO))}}\n",
    "daily/2025-05-02.md": "<< [[2025-05-01]] | [[2025-05-03]] >>\n\nhumidity:: 44\n\n## Life\n- Tomatoes exploded\n",
    "daily/2025-05-03.md": "[[2025-05-02|←]] · [[2025-05-04|→]]\nThe saw sang.\n\n[[2025-05-09]] – [[2025-05-12]]\n",
    "daily/2025-05-04.md": "# ← [prev](2025-05-03.md) [[2025-W18]]\n[[2025-05-09]] – [[2025-05-12]]\n",
    "Unit 7.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu"
    " of this document. ⚠==\n\n\n# Excalidraw Data\n## Text Elements\nBandsaw goes here ^aa1\n",
    "course.md": "type:: course\ntags:: marbling\nfee:: 145\n\n- Marbling for beginners, ten weeks\n",
    "bible.md": "# Bible\n\nThe spine is red powder.\n\n"
    + "The boards are off. " * 12
    + "\n\n> [!warning] Whoever opens "
    "this\n> No moisture on the register.\n\nSewn on tapes.\n\n^sewing\n",
    "apprentice.md": "# Nele\n\nNele, my second apprentice. Since August.\n\n"
    + "Lives with her aunt and comes by bus; the first one is at seven. " * 8
    + "\n\nFirst year 880 a month.\nAllergic to wasps! The pen is in the van.\n\nBoots 41.\n",
    "benches.md": "# Benches\n\nAlder, not aspen: it does not splinter.\n\nScrews from below. See [[Sauna bench wood|the plan]] and "
    "[a page](sauna-bench-wood.html).\n",
    "supplies.md": "# Supplies\n\n| Material | per bag |\n|---|---|\n| White grog 2 mm | £62 |\n| Feldspar | £88 |\n\n"
    "Closed on Mondays.\n\nUpdate 20 September: white grog now £68.\n\nFeldspar is mined in 3 countries.\n",
}


@pytest.fixture
def first(indexed: Invoke) -> Callable[[str], dict[str, Any]]:
    return lambda question: ask_json(indexed, "query", question, "--all")["results"][0]


def test_a_property_that_the_question_names(first: Callable[[str], dict[str, Any]]) -> None:
    """It follows the lines that are found; other properties do not."""
    shown = first("policy number of the building insurance")["snippet"]
    assert shown == "The building insurance is renewed in May.\n…\npolicy_number: CM-77120"
    shown = first("end of the cover of the building insurance")["snippet"]
    assert shown.endswith("\n…\nend_of_cover:\n  - 2027-05-01")


def test_a_day_shows_its_entry(first: Callable[[str], dict[str, Any]]) -> None:
    """Lines and heading are those of the day, whose note is dated by its month; a month begins with its last entry."""
    for question, day, lines, text in (
        ("what happened on 4 March 2025", "2025-03-04", (4, 5), "Baked rye bread.\nThe kiln cracked."),
        ("what happened on 2025-03-05", "2025-03-05", (8, 8), "Sold two vases."),
        (
            "what did I do on 18 March 2025",
            "2025-03-18",
            (11, 12),
            "Osric fixed the kiln.\nGlazed the bowls.",
        ),
        ("what did I do in March 2025", "2025-03-18", (11, 12), "Osric fixed the kiln.\nGlazed the bowls."),
    ):
        found = first(question)
        assert found["file"] == "notes/log/2025-03.md"
        assert found["heading"] == f"March 2025 › {day}"
        assert (found["start_line"], found["end_line"]) == lines
        assert found["snippet"] == text
        assert found["likelihood"] == "likely"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("violet caps", "- DONE Glue the violet caps"),
        ("violet query task", "- DONE Glue the violet caps"),
        ("call the glazier", "- TODO Call the glazier\n  SCHEDULED: <2025-04-07 Mon>"),
        ("what do I have to do on April 7th 2025", "- TODO Call the glazier\n  SCHEDULED: <2025-04-07 Mon>"),
        ("what happened on 2 May 2025", "- Tomatoes exploded"),
        ("what happened on 3 May 2025", "The saw sang."),
        ("what happened on 4 May 2025", "[[2025-05-09]] – [[2025-05-12]]"),
        ("excalidraw view menu for the bandsaw", "Bandsaw goes here ^aa1"),
        ("beginners marbling", "- Marbling for beginners, ten weeks"),
        (
            "spine powder boards",
            "The spine is red powder.\n\n" + "The boards are off. " * 11 + "The boards are off.",
        ),
        ("sewn sewing tapes", "Sewn on tapes."),
        ("moisture on the register", "> [!warning] Whoever opens this\n> No moisture on the register."),
        ("which alder for the sauna bench", "Alder, not aspen: it does not splinter."),
    ],
)
def test_lines_of_programs_are_not_shown(
    first: Callable[[str], dict[str, Any]], question: str, text: str
) -> None:
    """Nor properties and queries of Logseq, nor links that lead to other days; a task has its days. The target of a link that shows another text is no word."""
    shown = first(question)["snippet"]
    assert (shown.removeprefix(text)[:1].strip(), "::" in shown) == ("", False)


def test_a_field_is_shown_where_it_matches(first: Callable[[str], dict[str, Any]]) -> None:
    """Not the fields around it."""
    assert first("marbling course fee for beginners")["snippet"].startswith(("type::", "fee:: 145\n"))


def test_a_day_without_entry_is_not_answered(first: Callable[[str], dict[str, Any]]) -> None:
    """An entry of the next day is no answer."""
    assert first("what happened on 6 March 2025")["confidence"] < DEFAULT_FLOOR


def test_a_heading_without_text_is_shown(first: Callable[[str], dict[str, Any]]) -> None:
    """With its own line, unless another line has as many words of the question."""
    for question, line in (("walrus", 3), ("otters", 7)):
        found = first(question)
        assert (found["file"], found["start_line"]) == ("notes/trip.md", line)


def test_lines_with_the_answer_are_shown(first: Callable[[str], dict[str, Any]]) -> None:
    """Neither tags nor a heading are shown for it, unless the note has nothing else."""
    for question, text in (
        ("winter", "No snow yet."),
        ("autumn", "tags: [autumn]"),
        ("spring", "tags: [spring]"),
    ):
        assert first(question)["snippet"] == text
    assert first("when is the next kiln inspection")["snippet"].startswith("Next kiln inspection: 9 August.")


def test_lines_with_missing_words_and_lines_above_are_added(first: Callable[[str], dict[str, Any]]) -> None:
    """After the passage, with an ellipsis: its place remains that of the best line."""
    shown = first("what is the apprentice allergic to")
    assert (shown["start_line"], shown["end_line"]) == (3, 5)
    assert shown["snippet"].startswith("Nele, my second apprentice.")
    assert shown["snippet"].partition("\n…\n")[2].endswith("Allergic to wasps! The pen is in the van.")
    assert first("when is the next kiln inspection")["snippet"].endswith("\n…\nStoneware needs ten hours.")


def test_a_word_in_a_heading_brings_the_line_below(first: Callable[[str], dict[str, Any]]) -> None:
    shown = first("solution when the linker of the loom failed")["snippet"]
    assert shown == "The linker of the loom failed.\n…\n## Solution\nReinstall the shuttle."


def test_a_row_of_a_table_file_is_shown_below_its_header(invoke: Invoke, tmp_path: Path) -> None:
    """The row with the number of the question, not one with a longer number, and no rows that only follow the header."""
    rows = [f"S{number},Screws no. {number},{number * 13}" for number in range(1000, 2000)]
    write_notes(tmp_path / "stock", {"stock.csv": "\n".join(["sku,product,count", *rows])})
    invoke("collection", "add", tmp_path / "stock", "--pattern", "*.csv")
    invoke("update")

    for question in ("screws no. 1777", "S1777 count"):  # 1367 * 13 = 17771
        shown = ask_json(invoke, "query", question)["results"][0]["snippet"]
        assert shown.startswith("sku,product,count\nS1777,Screws no. 1777,23101\n"), shown


def test_a_later_line_that_says_what_changed_is_added(first: Callable[[str], dict[str, Any]]) -> None:
    shown = first("how many hours does salting the olives take")["snippet"]
    assert shown.startswith("Salting the olives takes 12 hours.")
    assert shown.endswith("\n…\nShorter salting of olives next time: 8 hours instead of 12.")


def test_a_block_has_no_header_of_a_wide_table(invoke: Invoke, tmp_path: Path) -> None:
    """The name of a column is no help among thousands; the row is shown around the words of the prompt."""
    rows = ["|".join(f"{name}{number}" for number in range(5_000)) for name in ("column", "valve")]
    write_notes(tmp_path / "notes", {"valves.md": f"# Valves\n\n|{rows[0]}|\n|{'-|' * 5_000}\n|{rows[1]}|\n"})
    invoke("bootstrap", str(tmp_path / "notes"))

    block = invoke("surface", "what is to the right of valve777 in the table?").stdout

    assert "|valve777|valve778|" in block and len(block) < 3_000
