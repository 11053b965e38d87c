"""The page about who works here: what it is made of, when it is made anew, and what it does not outlive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from capture_world import LEDGER, World
from wired import publisher, session_cases, wired

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.briefing.profile import PATH, Profile
from clawmem.contracts import samples
from clawmem.contracts.samples import id_of, sha
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.words import token_count
from clawmem.ports.documents import Claims
from clawmem.ports.records import InactiveReason, Origin
from clawmem.ports.sessions import Session, session_key
from clawmem.ports.vault import Vault


def save(vault: Vault, path: str, body: str, **fields: Any) -> int:
    """A note that was indexed before anything else happened."""
    return samples.save(vault, path, body, **{"indexed_at": "2023-11-01T00:00:00.000Z", **fields})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A vault in which a session decided something, beside a hub of the owner's."""
    vault = open_vault(str(tmp_path / "vault.sqlite"))
    world = World(vault, ManualClock(), tmp_path)
    session = world.session("s1", *LEDGER)
    world.extract(session)
    session_cases(vault, world.clock).handoffs().write(session)
    save(vault, "hub.md", "# People\n\n- Ann keeps the key of the safe\n- short", content_type="hub")
    yield world
    vault.close()


def page(world: World) -> str:
    return world.vault.documents.body(id_of(world.vault.documents.at(COLLECTION, PATH))) or ""


def begun(world: World) -> str:
    text: str = wired(world.vault, world.clock).session_briefing().at_start()
    return text


def profile(world: World) -> Profile:
    page: Profile = wired(world.vault, world.clock).profile()
    return page


def test_decisions_hubs_and_sessions(world: World) -> None:
    """One page, of type hub: the decisions' sentences, the hubs' list items, what sessions came to; told at a start."""
    assert profile(world).refresh()

    key = session_key("s1")
    assert page(world) == (
        "# Profile\n\n## What holds\n\n"
        f"- We'll use Postgres for the ledger (_clawmem/agent/observations/2023-11-14-{key}-decision-28344cd4.md)\n"
        "- Ann keeps the key of the safe (notes/hub.md, 2024-03-01)\n\n"
        f"## Lately\n\n- We'll use Postgres for the ledger. (_clawmem/agent/handoffs/2023-11-14-{key}.md)\n"
    )
    kept = world.vault.documents.at(COLLECTION, PATH)
    assert (kept.content_type, kept.display_path) == ("hub", "_clawmem/profile.md")
    assert "- Ann keeps the key of the safe" in begun(world)


def test_secrets_stay_out(world: World) -> None:
    """No line has a secret, and no path of a note is taken for one."""
    said = "Set password" + "=hunter2Xk93Lmq for the ledger"
    save(world.vault, "done.md", "Done.", title=said, content_type="progress")
    save(world.vault, "bao.md", "- OpenBao hands out credentials", content_type="hub")

    assert profile(world).rebuild()

    assert "hunter2" not in page(world)
    assert "for the ledger (notes/done.md, 2024-03-01)" in page(world)
    assert "- OpenBao hands out credentials (notes/bao.md, 2024-03-01)" in page(world)


def test_a_long_session_ends_with_an_ellipsis(world: World) -> None:
    """What does not fit into the line of a session is cut after a word, and the line says so."""
    goods = "oars sails ropes anchors lamps flags pumps nets masts buoys".split()
    session = world.session(
        "s2", *LEDGER, *(("user", f"We'll use {one} from the yard in Larvik.") for one in goods)
    )
    world.extract(session)
    session_cases(world.vault, world.clock).handoffs().write(session)

    assert profile(world).rebuild()

    [line] = [
        one for one in page(world).partition("## Lately")[2].splitlines() if f"-{session_key('s2')}.md" in one
    ]
    assert line.endswith(f"… (_clawmem/agent/handoffs/2023-11-14-{session_key('s2')}.md)")


def test_it_is_made_anew_after_five_sessions(world: World) -> None:
    """Four more sessions leave it as it is, the fifth makes it due; asking again changes nothing."""
    profile(world).refresh()
    save(world.vault, "new.md", "- Backups go to Helsinki", content_type="decision")

    refreshed = []
    for number in range(5):
        world.clock.advance(60_000)
        world.vault.sessions.save(Session(f"later-{number}", iso_utc(world.clock.now_ms())))
        refreshed.append(profile(world).refresh())

    assert refreshed == [False, False, False, False, True]
    assert "- Backups go to Helsinki" in page(world)
    assert not profile(world).refresh()


def test_it_does_not_outlive_its_sources(world: World) -> None:
    """With a source forgotten it is told no more, and the next one does without it."""
    profile(world).refresh()
    with world.vault.transactions.writing():
        decision = world.kept()[0]
        publisher(world.vault).withdraw([decision.id], InactiveReason.FORGOTTEN)

    assert "## Profile" not in begun(world)
    assert profile(world).refresh()
    assert "What holds\n\n- Ann" in page(world)
    assert "## Profile" in begun(world)


def test_one_that_was_forgotten_stays_so(world: World) -> None:
    """Whoever does not want one does not get another."""
    profile(world).refresh()
    with world.vault.transactions.writing():
        publisher(world.vault).withdraw(
            [id_of(world.vault.documents.at(COLLECTION, PATH))], InactiveReason.FORGOTTEN
        )

    assert not profile(world).refresh()
    assert "## Profile" not in begun(world)


def test_its_budgets(world: World) -> None:
    """At most 500 tokens of facts and 10 items in 280, whole lines, however many there are; a session reads all of it."""
    for number in range(40):
        facts = "\n".join(f"- We keep {sha(f'{number}.{part}')[:40]}" for part in range(3))
        save(world.vault, f"d{number}.md", facts, content_type="decision", title=sha(str(number)))
        save(world.vault, f"p{number}.md", "Text.", content_type="progress", title=2 * sha(str(number)))

    assert profile(world).refresh()

    held, lately = page(world).partition("## Lately")[::2]
    assert 15 < held.count("\n- ") <= 30
    assert 5 < lately.count("\n- ") <= 10
    assert token_count(held.partition("# Profile")[2].strip()) <= 500
    assert token_count(lately.strip()) <= 280
    lines = [line for line in page(world).splitlines() if line.startswith("- ")]
    assert all(line.endswith(")") for line in lines)
    assert [line for line in begun(world).splitlines() if line in lines] == lines


def test_what_was_superseded_leaves_it(world: World) -> None:
    """A decision that another supersedes is not told any more, and the next page does without it."""
    old = save(world.vault, "old.md", "Backups go to Helsinki.", content_type="decision")
    profile(world).refresh()
    assert "Helsinki" in begun(world)
    new = save(world.vault, "new.md", "Backups go to Oslo.", content_type="decision")
    with world.vault.transactions.writing():
        world.vault.successions.claim(new, Claims(supersedes=("old.md",)))

    assert "Helsinki" not in begun(world)
    assert profile(world).refresh()
    assert "Oslo" in begun(world) and "Helsinki" not in begun(world)
    assert old != new


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("drafts/x.md", {}),
        ("x.md", {"tags": ("rejected",)}),
        ("x.md", {"title": "Proposal: backups in Helsinki"}),
        ("x.md", {"confidence": 0.3}),
        ("_PRIVATE/x.md", {}),
        ("x.md", {"origin": Origin.TOOL_OUTSIDE}),
    ],
    ids=["draft", "rejected", "proposal", "unsure", "private", "outside"],
)
def test_what_is_not_settled_is_left_out(world: World, path: str, rest: dict[str, Any]) -> None:
    """Neither drafts nor proposals, nor what may not be told unasked."""
    save(world.vault, path, "Backups go to Helsinki.", content_type="decision", **rest)

    profile(world).rebuild()

    assert "Helsinki" not in page(world)


def test_the_last_decision_on_a_subject(world: World) -> None:
    """Of two decisions with the same tags only the later is told, though it does not name the earlier one."""
    for year, place in (("2023", "Helsinki"), ("2024", "Oslo")):
        save(
            world.vault,
            f"{year}.md",
            f"Backups go to {place}.",
            content_type="decision",
            tags=("backup",),
            authored_at=f"{year}-01-02T00:00:00.000Z",
        )

    profile(world).rebuild()

    assert "Oslo" in page(world) and "Helsinki" not in page(world)


def test_a_changed_source_makes_it_due(world: World) -> None:
    """A note that was indexed again after the page was made is read again, and only then."""
    save(world.vault, "place.md", "Backups go to Helsinki.", content_type="decision")
    profile(world).refresh()
    assert not profile(world).refresh()
    world.clock.advance(60_000)
    now = iso_utc(world.clock.now_ms())
    save(world.vault, "place.md", "Backups go to Oslo.", content_type="decision", indexed_at=now)

    assert profile(world).refresh()

    assert "Oslo" in page(world) and "Helsinki" not in page(world)
