"""Conversations for the tests of imports, and what an import did with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chat_exports import ASSISTANT, FORMATS, USER, Talk, Turn, talk
from command_line import Invoke, ask_json, write_notes

BOAT = talk(
    "boat-talk",
    "Painting the boat",
    "2025-04-02",
    "Which varnish should I use for the deck of the old wooden boat?",
    "Use a spar varnish with UV filters, in six thin coats.",
    "And how long does each coat have to dry before the next one?",
    "Sand after twelve hours, and wait a whole day below ten degrees.",
)

BREAD = talk(
    "bread-talk",
    "Sourdough",
    "2024-11-20",
    "My sourdough loaf collapses in the oven, what is going wrong?",
    "It is overproofed: shorten the second rise to three hours.",
    "Thanks!",
    "You are welcome.",
)

PLANS = talk(
    "plans",
    "Plans for the boat",
    "2025-06-01",
    "We decided to sell the old dinghy, because nobody rows any more.",
    "Then the shed has room for the sails.",
    "I prefer the sails in the attic. The shed is leaking since the storm.",
    "Dry them first.",
)


def write_export(folder: Path, source: str, *talks: Talk) -> Path:
    """Write the export of *source*, and return its folder."""
    write_notes(folder, FORMATS[source](talks))
    return folder


def mined(invoke: Invoke, *arguments: object) -> Any:
    """Return the result of an import without vectors."""
    return ask_json(invoke, "mine", "--no-embed", *arguments)


def documents(invoke: Invoke) -> dict[str, dict[str, Any]]:
    """Return the documents by title."""
    listed = ask_json(invoke, "list", "-n", 100)["documents"]
    return {one["title"]: one for one in listed}


def text_of(invoke: Invoke, file: str) -> str:
    return str(ask_json(invoke, "get", file)["text"])


def changes(report: Mapping[str, Any], source: str) -> tuple[int, int, int, int]:
    """Return how many documents of *source* were added, updated, removed and unchanged."""
    one = report["sources"][source]
    return one["added"], one["updated"], one["removed"], one["unchanged"]


def longer(one: Talk, *texts: str) -> Talk:
    """Return *one* with more messages, an hour later."""
    later = [
        Turn((USER, ASSISTANT)[at % 2], text, one.turns[-1].at + 3600 + at) for at, text in enumerate(texts)
    ]
    return one._replace(turns=[*one.turns, *later])


GROWN = longer(
    BOAT, "Does the varnish go bad in an opened tin?", "It forms a skin, which you can strain off."
)
