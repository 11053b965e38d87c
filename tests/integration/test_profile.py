"""The profile of the user: what it is computed from, its budgets, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from capture_world import LEDGER, World
from wired import session_cases, wired

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.samples import save, sha
from clawmem.domain.text.words import token_count
from clawmem.ports.documents import Property
from clawmem.ports.records import Origin
from clawmem.ports.sessions import session_key


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A vault in which a session decided something, beside a preference of the owner's."""
    vault = open_vault(str(tmp_path / "vault.sqlite"))
    world = World(vault, ManualClock(), tmp_path)
    session = world.session("s1", *LEDGER)
    world.extract(session)
    session_cases(vault, world.clock).session_capture().hand_over(session)
    save(
        vault,
        "key.md",
        "# Key\n\nAnn keeps the key of the safe. It is red.",
        title="Key",
        content_type="preference",
    )
    yield world
    vault.close()


def profile(world: World) -> str:
    text: str = wired(world.vault, world.clock).briefings().profile()
    return text


def begun(world: World) -> str:
    text: str = wired(world.vault, world.clock).briefings().at_start()
    return text


def test_decisions_preferences_and_sessions(world: World) -> None:
    """The sentences of captured notes, titles and first sentences of others, what sessions came to; told at a start."""
    key = session_key("s1")
    assert profile(world) == (
        "# Profile\n\n## What holds\n\n"
        f"- We'll use Postgres for the ledger (_clawmem/agent/observations/2023-11-14-{key}-decision-28344cd4.md)\n"
        "- Key: Ann keeps the key of the safe. It is red. (notes/key.md, 2024-03-01)\n\n"
        f"## Lately\n\n- We'll use Postgres for the ledger. (_clawmem/agent/handoffs/2023-11-14-{key}.md)\n"
    )
    assert "- Key: Ann keeps the key of the safe." in begun(world)


def test_its_budgets(world: World) -> None:
    """At most 500 tokens of facts and 10 items in 280, whole lines, however many there are; a session reads the first ones."""
    for number in range(40):
        save(world.vault, f"d{number}.md", "Text.", content_type="decision", title=sha(str(number))[:40])
        save(world.vault, f"p{number}.md", "Text.", content_type="progress", title=2 * sha(str(number)))

    held, lately = profile(world).partition("## Lately")[::2]
    assert 10 < held.count("\n- ") <= 30
    assert 5 < lately.count("\n- ") <= 10
    assert token_count(held.partition("# Profile")[2].strip()) <= 500
    assert token_count(lately.strip()) <= 280
    lines = [line for line in profile(world).splitlines() if line.startswith("- ")]
    assert all(line.endswith(")") for line in lines)
    assert 5 < sum(line in lines for line in begun(world).splitlines()) < 30


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("x.md", {"confidence": 0.3}),
        ("_PRIVATE/x.md", {}),
        ("x.md", {"origin": Origin.TOOL_OUTSIDE}),
        ("x.md", {"content_type": "hub"}),
        ("status.md", {}),
    ],
    ids=["unsure", "private", "outside", "other type", "status"],
)
def test_what_is_left_out(world: World, path: str, rest: dict[str, Any]) -> None:
    """Proposals, contradicted decisions, and what may not be told unasked."""
    number = save(world.vault, path, "Backups go to Helsinki.", **{"content_type": "decision", **rest})
    if path == "status.md":
        with world.vault.transactions.writing():
            world.vault.properties.put(number, [Property("status", "Proposed", "proposed")])

    assert "Helsinki" not in profile(world)


def test_a_sentence_does_not_end_after_an_ordinal_number(world: World) -> None:
    """The first two sentences of a note are whole."""
    text = "Die Miete wird zum 1. des Monats und am 15. Mai gezahlt. So bleibt es. Der Rest nicht."
    save(world.vault, "rent.md", text, title="Miete", content_type="preference")

    for title in ("Mast", "Deck"):  # different short titles
        save(world.vault, f"{title}.md", "Text", title=title, content_type="preference")

    assert all(f"\n- {title} (notes/" in profile(world) for title in ("Mast", "Deck"))
    assert "- Miete: Die Miete wird zum 1. des Monats und am 15. Mai gezahlt. So bleibt es. (" in profile(
        world
    )


def test_a_reference_to_a_former_note_is_no_fact(world: World) -> None:
    """The sentence after "This replaces [...]" is shown."""
    save(
        world.vault,
        "shop.md",
        "This replaces [the database](old.md).\n\nThe shop runs on Postgres.",
        title="Database",
        content_type="decision",
    )

    assert "- Database: The shop runs on Postgres. (" in profile(world)


def test_a_fact_that_a_later_one_replaces_leaves_it(world: World) -> None:
    """Nobody declared the succession, but the later note names what it gives up."""
    at = "2025-01-01T00:00:00.000Z"
    save(
        world.vault, "a.md", "We store orders of the shop in MySQL.", title="Orders", content_type="decision"
    )
    save(
        world.vault,
        "b.md",
        "We store orders of the shop in SQLite instead of MySQL.",
        title="Store",
        content_type="decision",
        authored_at=at,
    )

    assert "instead of MySQL" in profile(world)
    assert "- Orders:" not in profile(world)


def test_secrets_stay_out(world: World) -> None:
    """No line has a secret."""
    said = "Set password" + "=hunter2Xk93Lmq for the ledger"
    save(world.vault, "done.md", "Done.", title=said, content_type="progress")

    assert "hunter2" not in profile(world)
    assert "for the ledger (notes/done.md, 2024-03-01)" in profile(world)
