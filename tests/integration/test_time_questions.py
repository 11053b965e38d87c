"""Questions about a time, about what is next and about where work stopped, through the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from command_line import Invoke, ask_json, found_paths

TODAY = datetime.now(UTC).date()
LAST_MONTH = [TODAY.replace(day=1) - timedelta(days=days) for days in (16, 22)]
DIARY = {
    "2025-03-04": "Planted beans by the south wall. The kettle broke.",
    "2025-03-19": "Walked to the quarry with Ines and found a fossil.",
    "2025-05-02": "Painted the shed green.",
    "2025-08-11": "Tomas came to the harbour; he mends nets.",
    f"{LAST_MONTH[0]}": "Bought a second-hand oven from Greta.",
    f"{LAST_MONTH[1]}": "Frost on the lemon tree.",
}
NOTES = {
    "daily/2025-10-09.md": "# Thursday\n\nSlept badly at the hostel by the ferry.\n",
    "daily/2025-10-12.md": "# Sunday\n\nWhere did I sleep: 9 hours in my own bed.\n",
    **{f"diary/{day}.md": f"# {day}\n\n{text}\n" for day, text in DIARY.items()},
    "log/2024-11.md": "# Log\n\n## 11. November\n\nLantern walk.\n\n## Sat 16 November\n\nDentist.\n\n### Evening\n\nSoup.\n\n"
    "## November 22\n\nAunt Hilde came.\n\n## 24.11.\n\n- [ ] Light the stove\n",
    "log/December 2024.md": "## Fri 13\n\nLantern repaired.\n\n## 20th\n\nSnow.\n",
    "log/plan.md": "---\ndate: 2024-11-02\n---\nLantern bought.\n\n## 2024-11-30\n\nHang it.\n",
    "log/2024/11.md": "## 13 Nov\n\nLantern sold.\n",
    "log/Mai 2024.md": "- **Sat 4**: Dug the pond.\n- **Sun 5**: Fish.\n",
    "log/2024 Oktober.md": "## 3. Oktober\n\nChestnuts.\n\n## 20. Oktober\n\nNew tyres.\n",
    "log/2024-02.md": "---\ndate: 2024-02-29\n---\nSkated on the 5th.\n\nThen it thawed.\n",
    "log/2024-06 Juni.md": "**1.6.** Swam.\n**22.6.** Ferry to Mull.\nRain.\n\n- Sun 23 June: Slept.\n- 22:10 Bed.\n",
    "log/bees.md": "---\ndate: 2024-09\n---\n# Bees\n\n## 4 September\n\nMoved.\n\n## Sept 12\n\nHoney.\n",
    "torch.md": "---\ndate: 2025-05-09\ncontent_type: decision\n---\n# Torch batteries\n\n"
    "We buy lithium: the old batteries lasted four months. What happened before was a leak.\n",
    "barn.md": "---\ndate: 2025-06-01\n---\n# Barn move\n\nWe leave the office in spring and move into the barn.\n",
    **{
        f"handoffs/2025-{month}-15.md": f"---\ndate: 2025-{month}-15\ncontent_type: handoff\n---\n# Handoff {month}\n\n"
        f"The greenhouse heating works.\n\n## Next\n\n- Order valve {month}\n- Paint the pipes\n"
        for month in ("04", "09", "11")
    },
}


@pytest.mark.parametrize(
    ("question", "options", "expected"),
    [
        ("what happened last month", (), [f"diary/{day}.md" for day in LAST_MONTH]),
        ("what happened in the first week of March 2025", (), ["diary/2025-03-04.md"]),
        ("anything noteworthy", ("--since", "2025-03-01", "--until", "2025-03-31"), None),
        (
            "what happened",
            ("--since", "2025-03-01", "--until", "2025-03-31"),
            ["diary/2025-03-19.md", "diary/2025-03-04.md"],
        ),
        ("what did I do in May 2025", (), ["torch.md", "diary/2025-05-02.md"]),
    ],
)
def test_a_time_without_a_topic(
    indexed: Invoke, question: str, options: tuple[str, ...], expected: list[str] | None
) -> None:
    """All notes of the time come first, newest first, and count as answers; a topic leaves the order alone."""
    found = ask_json(indexed, "query", question, *options)["results"]

    if expected is None:
        assert all("2025-03" in one["file"] for one in found)
        return
    assert [one["path"] for one in found][: len(expected)] == expected
    assert all(one["confidence"] >= 0.5 for one in found[: len(expected)])
    assert all(one["confidence"] < 0.1 for one in found[len(expected) :])


@pytest.mark.parametrize(
    "time", ["last month", "letzten Monat", f"{LAST_MONTH[0]:%B %Y}", f"{LAST_MONTH[0]:%Y-%m}"]
)
def test_days_in_words(indexed: Invoke, time: str) -> None:
    """Options read the same times in words as questions do."""
    found = ask_json(indexed, "search", "lemon oven", "--since", time, "--until", time)["results"]

    assert {result["path"] for result in found} == {f"diary/{day}.md" for day in LAST_MONTH}
    end_of_month = str(TODAY.replace(day=1) - timedelta(days=1))
    assert ask_json(indexed, "search", "lemon oven", "--as-of", time)["as_of"] == end_of_month
    asked = [f"lemon oven as of {time}"], ["lemon oven", "--as-of", time]
    by_words, by_option = (ask_json(indexed, "query", *words)["results"] for words in asked)
    assert [one["path"] for one in by_words] == [one["path"] for one in by_option] != []
    assert "is no date" in indexed("list", "--since", "the other side").output


def test_a_time_without_notes(indexed: Invoke) -> None:
    """The answer says so first, and nothing is likely; the question is searched as it is."""
    of_week, of_month = (f"what happened {time}" for time in ("last week", "in June 2019"))
    notice = "No note is of that time (2019-06-01 to 2019-06-30)."

    assert indexed("query", of_week).output.startswith("No confident answer. No note is of that time (")
    assert notice in indexed("query", of_month).output
    assert ask_json(indexed, "query", of_month)["notice"] == notice
    assert "notice" not in ask_json(indexed, "query", "what happened in May 2025")


def test_a_time_with_a_topic(indexed: Invoke) -> None:
    """The note of the named time is possible at least, though it holds no word of the question."""
    first = ask_json(indexed, "query", "who did I meet in August 2025")["results"][0]

    assert first["file"] == "notes/diary/2025-08-11.md"
    assert first["confidence"] >= 0.1


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("what did I write about the kettle in March 2025", "diary/2025-03-04.md"),
        ("notes about the shed from May 2025", "diary/2025-05-02.md"),
    ],
)
def test_records_of_a_time(indexed: Invoke, question: str, path: str) -> None:
    """Notes of the time that are about the topic come first."""
    assert found_paths(indexed, "query", question)[0] == path


@pytest.mark.parametrize("question", ["where did we leave off", "what is next?", "catch me up"])
def test_where_work_stopped(indexed: Invoke, question: str) -> None:
    """The newest handoff that says something is first, and its next steps are quoted."""
    assert found_paths(indexed, "query", "--mode", "auto", question)[0] == "handoffs/2025-11-15.md"

    assert "- Order valve 11\n    - Paint the pipes" in indexed("query", "--mode", "auto", question).output


def test_a_named_day_decides(indexed: Invoke) -> None:
    """A note of the day comes before notes that share more words; an open time alone makes none likely."""
    (first, *_) = found_paths(indexed, "query", "where did I sleep on 9 October 2025")
    open_time = ask_json(indexed, "query", "what did I do until May 2025")["results"]

    assert first.endswith("daily/2025-10-09.md")
    assert open_time and all(one["confidence"] < 0.8 for one in open_time)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what happened on 11 November 2024", ["log/2024-11.md", (5, "Lantern walk.")]),
        ("22. November 2024", ["log/2024-11.md", (17, "Aunt Hilde came.")]),
        (
            "what did I do in the week of 20 November 2024",
            ["log/2024-11.md", (21, "- [ ] Light the stove"), (17, "Aunt Hilde came.")],
        ),
        ("what did I do in October 2024", ["log/2024 Oktober.md", (7, "New tyres."), (3, "Chestnuts.")]),
        (
            "what happened at the start of February 2024",
            ["log/2024-02.md", (4, "Skated on the 5th.\n\nThen it thawed.")],
        ),
        ("what happened on 4 May 2024", ["log/Mai 2024.md", (1, "- **Sat 4**: Dug the pond.")]),
        ("was war am 22. Juni 2024", ["log/2024-06 Juni.md", (2, "**22.6.** Ferry to Mull.\nRain.")]),
        ("was war am 23.6.2024", ["log/2024-06 Juni.md", (5, "- Sun 23 June: Slept.\n- 22:10 Bed.")]),
        ("what happened in September 2024", ["log/bees.md", (12, "Honey."), (8, "Moved.")]),
    ],
)
def test_sections_of_days(indexed: Invoke, question: str, expected: list[object]) -> None:
    """A section whose heading, or first line, names a day without its year is of that day in the year of its note."""
    found = ask_json(indexed, "query", question)["results"]

    likely = [one for one in found if one["confidence"] >= 0.5]
    assert [likely[0]["path"], *((one["start_line"], one["snippet"]) for one in likely)] == expected
    assert "2024-11-24" in indexed("list", "--tasks").output


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (("2024-11-10", "2024-11-12"), {"2024-11.md": (5, "Lantern walk.")}),
        (("2024-11-12", "2024-11-13"), {"2024/11.md": (3, "Lantern sold.")}),
        (("2024-11-01", "2024-11-05"), {"plan.md": (4, "Lantern bought.")}),
        (("2024-11-28", "2024-11-30"), {"plan.md": (8, "Hang it.")}),
        (("2024-12-13", "2024-12-14"), {"December 2024.md": (3, "Lantern repaired.")}),
        (("2024-12-20", "2024-12-21"), {"December 2024.md": (7, "Snow.")}),
    ],
)
@pytest.mark.parametrize("command", [("search", "lantern"), ("query", "what happened"), ("list",)])
def test_days_of_sections(
    indexed: Invoke, command: tuple[str, ...], days: tuple[str, str], expected: dict[str, tuple[int, str]]
) -> None:
    """A diary of a month is of the days of its sections, and shows those that are asked for."""
    answer = ask_json(indexed, *command, "--since", days[0], "--until", days[1])

    if command == ("list",):
        assert {record["file"] for record in answer["documents"]} == {
            f"notes/log/{name}" for name in expected
        }
        return
    found = {
        one["file"].removeprefix("notes/log/"): (one["start_line"], one["snippet"])
        for one in answer["results"]
    }
    assert found.items() <= expected.items()
    assert found or command[0] == "search"
