"""Forgotten conversations stay away; their later messages are imported."""

from __future__ import annotations

import json
from pathlib import Path

from chat_exports import chatgpt
from command_line import Invoke, ask_json
from mined_talks import BOAT, BREAD, GROWN, changes, documents, mined, text_of, write_export


def test_a_forgotten_source_stays_forgotten(invoke: Invoke, tmp_path: Path) -> None:
    """Forgetting asks first, proves that nothing is left, touches no other source, and a new import brings nothing back."""
    boat = write_export(tmp_path / "export", "chatgpt", BOAT)
    mined(invoke, boat, write_export(tmp_path / "other", "claude.ai", BREAD))

    asked = invoke("mine", "--forget", "chatgpt")
    assert asked.exit_code != 0
    assert "1 document from chatgpt" in asked.stderr
    assert len(documents(invoke)) == 2
    done = ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")

    assert (done["documents"], {found for probe in done["probes"].values() for found in probe}) == (1, set())
    [left] = ask_json(invoke, "mine", "--sources")["sources"]
    assert left["source"] == "claude.ai"
    again = mined(invoke, boat)
    assert (again["skipped"], again["remarks"]) == (
        1,
        ["Documents forgotten on request, which no import brings back: 1."],
    )
    (tmp_path / "export" / "conversations.json").write_text(json.dumps(chatgpt([BOAT]), indent=1), "utf-8")
    again = mined(invoke, boat)
    assert (again["skipped"], again["sources"]["chatgpt"]["forgotten"]) == (0, 1)
    assert len(documents(invoke)) == 1
    unknown = invoke("mine", "--forget", "chatgbt", "--yes")
    assert unknown.exit_code != 0
    assert "claude.ai" in unknown.stderr


def test_a_forgotten_conversation_stays_forgotten_under_another_source(
    invoke: Invoke, tmp_path: Path
) -> None:
    """Its text is recognised."""
    boat = write_export(tmp_path / "export", "chatgpt", BOAT)
    mined(invoke, boat)
    ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")

    report = ask_json(invoke, "mine", boat, "--source", "elsewhere")

    assert report["sources"]["elsewhere"]["forgotten"] == 1
    assert not documents(invoke)


def test_new_messages_of_a_forgotten_conversation_are_imported(invoke: Invoke, tmp_path: Path) -> None:
    """Messages of another day become a document of their own; those of a forgotten document do not return."""
    mined(invoke, write_export(tmp_path / "export", "chatgpt", BOAT))
    ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")
    later = [turn._replace(at=turn.at + 86_400) for turn in GROWN.turns[len(BOAT.turns) :]]

    report = mined(
        invoke, write_export(tmp_path / "export", "chatgpt", BOAT._replace(turns=[*BOAT.turns, *later]))
    )

    assert (changes(report, "chatgpt"), report["sources"]["chatgpt"]["forgotten"]) == ((1, 0, 0, 0), 1)
    [left] = documents(invoke).values()
    text = text_of(invoke, left["file"])
    assert "forms a skin" in text
    assert "UV filters" not in text
    assert not mined(invoke, write_export(tmp_path / "export", "chatgpt", GROWN))["sources"]["chatgpt"][
        "added"
    ]
