"""The activity of Gemini as a page of Google Takeout becomes conversations with their times."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

import pytest
from chat_exports import write_zip
from command_line import Invoke, ask_json

SPRING = "May 19, 2026, 7:07:02\u202fPM GMT-03:00"


def activity(said: str, *, header: str = "Gemini Apps", address: str = "") -> str:
    """Return an activity, as Takeout writes it."""
    cell = "content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1"
    link = f'<b>Details:</b><br>&emsp;<a href="{address}">{address}</a><br>' if address else ""
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell mdl-cell"><p class="mdl-typography--title">{header}<br></p></div>'
        f'<div class="{cell}">{said}</div><div class="{cell} mdl-typography--text-right">a picture</div>'
        f'<div class="content-cell mdl-typography--caption"><b>Products:</b><br>&emsp;{header}<br>{link}'
        "<b>Why is this here?</b><br>&emsp;This activity was saved.</div></div></div>"
    )


def page(*activities: str) -> str:
    """Return a page of activities, the newest first."""
    style = "<style>.mdl-grid{display:flex}</style>"
    return f"<html><head><title>My Activity History</title>{style}</head><body>{''.join(activities)}</body></html>"


def exchange(asked: str, answered: str, at: str = SPRING, verb: str = "Prompted", **more: str) -> str:
    """Return the activity of a prompt and its answer."""
    return activity(f"{verb}&nbsp;{escape(asked)}<br>{at}<br><p>{escape(answered)}</p>", **more)


def mined(invoke: Invoke, path: Path, code: int = 0) -> Any:
    """Return the result of an import without vectors, whose exit code is *code*."""
    done = invoke("mine", "--no-embed", "--json", path)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def saved(folder: Path, *activities: str) -> Path:
    """Write a page, and return its file."""
    file = folder / "MyActivity.html"
    file.write_text(page(*activities), "utf-8")
    return file


def documents(invoke: Invoke) -> list[dict[str, Any]]:
    """Return the documents with their texts, the oldest first."""
    listed = ask_json(invoke, "list")["documents"]
    found = [{**one, "text": ask_json(invoke, "get", one["file"])["text"]} for one in listed]
    return sorted(found, key=lambda one: str(one["authored_at"]))


def test_prompts_and_answers_of_a_takeout(invoke: Invoke, tmp_path: Path) -> None:
    """The ZIP file is read in place; a conversation is told by its address, and pages around it are passed over."""
    harbour = "https://gemini.google.com/app/a1b2c3"
    answer = "<p>Two <b>steps</b>:</p><ul><li>Sand &amp; wash</li><li>Varnish</li></ul><pre><code>if a &lt; b:\n  pass</code></pre>"
    told = page(
        exchange("And the second coat?", "After a day.", "May 20, 2026, 8:00:00 AM GMT-03:00", address=harbour),
        exchange("How do I varnish the deck?", "Slowly.", address=harbour),
        activity("Created Gemini Canvas titled&nbsp;A thing<br>May 18, 2026, 1:00:00 PM UTC<br>"),
        activity(f"Prompted What comes first?<br>on the boat<br>Attached 1 file.<br>-&nbsp;<a href='x'>x.png</a><br>"
                 f"May 1, 2026, 12:00:00 AM UTC<br>{answer}"),
        exchange("Where is the harbour?", "On a map.", header="Search"),
    )  # fmt: skip
    files = {
        "Takeout/archive_browser.html": "<p>Browse</p>",
        "Takeout/My Activity/Gemini Apps/MyActivity.html": told,
    }

    report = mined(invoke, write_zip(tmp_path / "takeout.zip", files))

    counts = report["sources"]["gemini"]
    assert (counts["conversations"], counts["messages"], report["faults"], report["foreign"]) == (
        2,
        6,
        [],
        [],
    )
    first, second, third = documents(invoke)  # what was said on the next day is a document of its own
    assert [one["authored_at"] for one in (first, second, third)] == [
        "2026-05-01T00:00:00.000Z",
        "2026-05-19T22:07:02.000Z",
        "2026-05-20T11:00:00.000Z",
    ]
    assert first["text"] == (
        "**User:** What comes first?\non the boat\n\n"
        "**Agent:** Two steps:\n- Sand & wash\n- Varnish\nif a < b:\npass\n"
    )
    assert second["text"] == "**User:** How do I varnish the deck?\n\n**Agent:** Slowly.\n"
    assert third["text"].endswith("**User:** And the second coat?\n\n**Agent:** After a day.\n")
    assert mined(invoke, tmp_path / "takeout.zip")["skipped"] == 1


TIMES = {
    SPRING: "2026-05-19T22:07:02.000Z",
    "Jul 11, 2026, 12:00:47 PM MDT": "2026-07-11T18:00:47.000Z",
    "Jul 11, 2026, 12:00:47\u202fAM PDT": "2026-07-11T07:00:47.000Z",
    "18 Sept 2025, 12:02:52 CET": "2025-09-18T11:02:52.000Z",
    "1 March 2025, 00:02:52 GMT+5:30": "2025-02-28T18:32:52.000Z",
    "Nov 2, 2025, 9:02:52 PM GMT+10": "2025-11-02T11:02:52.000Z",
    "Nov 2, 2025, 9:02:52 PM UTC": "2025-11-02T21:02:52.000Z",
}


@pytest.mark.parametrize("written", TIMES)
def test_times_have_a_zone(invoke: Invoke, tmp_path: Path, written: str) -> None:
    """Twelve and twenty-four hours, both orders of day and month, names of zones and offsets."""
    mined(invoke, saved(tmp_path, exchange("Which varnish is it?", "The one for boats.", written)))

    [one] = documents(invoke)
    assert one["authored_at"] == TIMES[written]


def test_a_time_that_is_not_in_english(invoke: Invoke, tmp_path: Path) -> None:
    """Activities in other languages are imported where the time is read, and counted where it is not."""
    file = saved(
        tmp_path,
        exchange("Vilken lack är det?", "Den för båtar.", verb="Gav instruktionen", header="Gemini-appar"),
        exchange("Qual verniz?", "O de barcos.", "10 de mai. de 2026, 03:46:09 BRT"),
        exchange("Which varnish?", "The one for boats.", "Feb 30, 2026, 7:07:02 PM UTC"),
    )

    report = mined(invoke, file, 1)

    assert report["faults"] == [
        f"{file}: 2 activities without a time in English; choose JSON in Takeout instead."
    ]
    assert [one["text"] for one in documents(invoke)] == [
        "**User:** Vilken lack är det?\n\n**Agent:** Den för båtar.\n"
    ]


def test_a_page_that_is_cut_off(invoke: Invoke, tmp_path: Path) -> None:
    """Its finished activities are imported, and the report says what to do; the whole page adds the rest."""
    talks = [
        exchange("Which varnish is it?", "The one for boats."),
        exchange("Which oil?", "Tung oil, of course."),
    ]
    whole = page(*talks)
    file = tmp_path / "MyActivity.html"
    file.write_text(whole[: whole.index("Tung oil")], "utf-8")

    report = mined(invoke, file, 1)

    assert report["faults"] == [f"{file}: it ends in the middle of an activity; download it again."]
    assert len(documents(invoke)) == 1
    file.write_text(whole, "utf-8")
    assert mined(invoke, file)["sources"]["gemini"]["added"] == 1


def test_other_pages_hold_no_conversation(invoke: Invoke, tmp_path: Path) -> None:
    """The activity of another product and a page of the web are passed over."""
    (tmp_path / "page.html").write_text("<!DOCTYPE html><p>User: hello</p>", "utf-8")
    saved(tmp_path, exchange("Where is the harbour?", "On a map.", header="Search"))

    report = mined(invoke, tmp_path)

    assert (report["sources"], report["foreign"], report["faults"]) == ({}, [], [])
