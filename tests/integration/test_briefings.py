"""What a session is told unasked at its beginning and after a compaction: how much, what first, and what never."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from wired import publisher, wired

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.samples import document, fragments
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.words import token_count
from clawmem.ports.records import Origin
from clawmem.ports.sessions import session_key

DAY_MS = 86_400_000
OWN = "_clawmem"
LONG = "of the ledger and everything else that somebody may want to know of it " * 40
STATE = (
    "# State\n\n## Last User Request\n\nWhere does the ledger live?\n\n## Key Decisions This Session\n\n"
    + "".join(f"- We keep ledger {n} {LONG[:90]}\n" for n in range(60))
)


class Briefed:
    """A vault, and what a session is told over it."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.vault = open_vault(":memory:")

    def keep(self, path: str, body: str, content_type: str, *, days: float = 0, **rest: Any) -> int:
        """A document that was changed so many days ago."""
        at = iso_utc(self.clock.now_ms() - round(days * DAY_MS))
        fields = {"content_type": content_type, "indexed_at": at, "authored_at": at, "title": path, **rest}
        with self.vault.transactions.writing():
            return publisher(self.vault).publish(document(path, body, **fields), body, fragments(body))

    def after_compaction(self, state: str = STATE) -> str:
        text: str = wired(self.vault, self.clock).briefings().after_compaction(state)
        return text

    def at_start(self, project: str = "", session_id: str = "") -> str:
        text: str = wired(self.vault, self.clock).briefings().at_start(project, session_id)
        return text


@pytest.fixture
def briefed() -> Iterator[Briefed]:
    made = Briefed()
    yield made
    made.vault.close()


def section_of(block: str, heading: str) -> str:
    return heading + block.partition(heading)[2].partition("\n\n## ")[0].removesuffix(
        "\n</vault-postcompact>"
    )


def test_after_compaction_every_part_keeps_to_its_budget(briefed: Briefed) -> None:
    """1200 tokens: the state 600, five decisions of a week 400, three lessons 150, three notes of 150 characters 200."""
    for n in range(8):
        briefed.keep(f"d{n}.md", f"Decided {n}: {LONG}", "decision", days=n)
        briefed.keep(f"a{n}.md", f"Never {n}: short.", "antipattern", days=n)
        briefed.keep(f"n{n}.md", f"The ledger lives in room {n}. {LONG}", "note", days=n)

    told = briefed.after_compaction()

    assert told.startswith("<vault-postcompact>\n") and token_count(told) <= 1200
    for heading, most in (
        ("## Saved before", 600),
        ("## Decisions of", 400),
        ("## What went", 150),
        ("## From", 200),
    ):
        assert heading in told
        assert token_count(section_of(told, heading)) <= most, heading
    lessons = section_of(told, "## What went")
    assert [n for n in range(8) if f"Never {n}" in lessons] == [0, 1, 2]
    assert section_of(told, "## From").count("\n- ") <= 3


def test_a_session_begins_with_what_it_needs_first(briefed: Briefed) -> None:
    """600 tokens: what holds, the outcome of the last handoff before its request, and the tasks of the project."""
    for n in range(40):
        briefed.keep(f"d{n}.md", f"Decided {n} of {LONG[n:120]}.", "decision", title=f"{n} {LONG[n:60]}")
    handoff = f"# S\n\n## Request\n\n{LONG}\n\n## Next Session Should\n\n- Wire the exporter.\n"
    briefed.keep("agent/handoffs/1.md", handoff, "handoff", collection=OWN)
    briefed.keep("slow.md", "It is slow.", "problem", title="The sweep is slow")
    for name in ("shop/todo.md", "bishop/todo.md", "shop/todo (conflicted copy).md"):
        briefed.keep(name, f"- [ ] Open in {name}\n- [x] Done in {name}\n", "note", title=name)

    brief = briefed.at_start("/work/shop")

    assert brief.startswith("<vault-session>\n") and token_count(brief) <= 600
    assert brief.index("## What holds") < brief.index("Wire the exporter") < brief.index("## Request")
    tasks = brief.partition("## Open tasks\n")[2].splitlines()
    assert tasks[:2] == ["- The sweep is slow (2023-11-14)", "- Open in shop/todo.md (notes/shop/todo.md)"]
    assert not any(text in brief for text in ("bishop", "Done in", "conflicted"))


def test_a_brief_is_the_same_to_the_byte(briefed: Briefed) -> None:
    """Whatever day it is, however often a note was used, and whatever other notes and the session itself have added."""
    used = briefed.keep("lib.md", "We use msgspec.", "decision")
    before = briefed.at_start("/work/shop", "s1")

    briefed.clock.advance(40 * DAY_MS)
    for name, kind in (("b.md", "note"), ("c.md", "progress"), ("d.md", "research")):
        briefed.keep(name, f"Text of {name}. - [ ] no task", kind)
    own = f"agent/handoffs/2023-12-24-{session_key('s1')}.md"
    briefed.keep(own, "# S\n\n## Next Session Should\n\n- Own step.\n", "handoff", collection=OWN)
    with briefed.vault.transactions.writing():
        briefed.vault.usage.note([used], iso_utc(briefed.clock.now_ms()))

    assert "msgspec" in before
    assert briefed.at_start("/work/shop", "s1") == before
    assert "Own step" in briefed.at_start("/work/shop", "s2")


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("experiments/x.md", {}),
        ("x.md", {"snoozed_until": "2999-01-01T00:00:00.000Z"}),
        ("x.md", {"origin": Origin.TOOL_OUTSIDE}),
    ],
    ids=["experiment", "snoozed", "outside"],
)
def test_what_nobody_is_told_unasked(briefed: Briefed, path: str, rest: dict[str, Any]) -> None:
    """Neither at the start, nor after a compaction, nor before an edit; without the reason it would be."""
    for name, more in (("plain.md", {}), (path, rest)):
        snoozed = more.pop("snoozed_until", None)
        number = briefed.keep(
            name, f"The ledger of {name} lives in pay.sql.", "decision", title=f"T-{name}", **more
        )
        if snoozed:
            with briefed.vault.transactions.writing():
                briefed.vault.documents.snooze(number, snoozed)
    lessons = wired(briefed.vault, briefed.clock).briefings().file_lessons("/src/pay.sql").text

    for told in (briefed.at_start(), briefed.after_compaction(), lessons):
        assert "plain.md" in told
        assert path not in told.replace("T-plain.md", "").replace("plain.md", "")


def test_after_compaction_machines_are_heard_of_what_was_settled(briefed: Briefed) -> None:
    """Of what machines keep, not the handoff that repeats the request."""
    briefed.keep(
        "agent/handoffs/1.md", "Where does the ledger live? It was asked.", "handoff", collection=OWN
    )
    briefed.keep("agent/observations/1.md", "The ledger lives in Oslo.", "decision", days=30, collection=OWN)

    told = briefed.after_compaction()

    assert "handoffs" not in told
    assert "lives in Oslo" in section_of(told, "## From the vault")
