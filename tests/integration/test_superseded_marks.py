"""A superseded note says so, and names what holds instead, wherever it is shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from interface_world import InterfaceWorld

TODAY = datetime.now(UTC).date()
OLD, NEW = TODAY - timedelta(days=5), TODAY - timedelta(days=3)
NEWEST = TODAY - timedelta(days=1)
REDIS, LAST = f"notes/decisions/{OLD}-redis.md", f"notes/decisions/{NEWEST}-<b>lite.md"
MARK = f"superseded by {LAST} ({NEWEST})"
ESCAPED = MARK.replace("<b>", "&lt;b&gt;")
FIELD = {"file": LAST, "authored_at": f"{NEWEST}T00:00:00.000Z"}
NOTES = {
    f"decisions/{OLD}-redis.md": "---\ncontent_type: decision\n---\n# Sessions in Redis\n\n"
    "Login sessions live in Redis for 14 days because `auth.py` is fast there.\n",
    f"decisions/{NEW}-postgres.md": f"---\ncontent_type: note\nsupersedes: decisions/{OLD}-redis.md\n---\n"
    "# One database\n\nWe keep everything in Postgres now.\n",
    f"decisions/{NEWEST}-<b>lite.md": f"---\ncontent_type: note\nsupersedes: decisions/{NEW}-postgres.md\n---\n"
    "# A file\n\nSQLite is enough for everybody.\n",
    "old/review.md": "---\ndate: 2024-01-02\nreview_by: 2024-02-02\nsuperseded_by: old/reviewed.md\n---\n# Rota\n\nLin on call.\n",
    "old/reviewed.md": "---\ndate: 2024-01-03\nreview_by: 2999-01-01\n---\n# Rota of three\n\nPriya takes calls as well.\n",
    "bees.md": "# Bees\n\nBees fly at ten degrees.\n",
    "stack/go.md": "---\ndate: 2025-03-02\n---\n# Language for services\n\nWe write all new services in Go.\n",
    "stack/platform.md": "---\ndate: 2026-06-10\n---\n# Platform\n\nAs of June it is Rust for new services.\n",
    "stack/copied.md": "# Services\n\nNo longer Go: new services use a language of their own, instead.\n",
    "ferry/house.md": "---\ndate: 2024-01-02\n---\n# Ferry house\n\n## Counter\n\nOpening hours of the counter: 9:30 until noon.\n\n"
    "## Summer break\n\nThe workshop closes in July, and nobody answers letters.\n",
    "ferry/summer.md": "---\ndate: 2024-03-04\nsupersedes: house.md\n---\n# Summer break\n\n"
    "The workshop closes in August; Jana answers letters.\n",
}

PRINTED: dict[str, Callable[[InterfaceWorld], str]] = {
    "search": lambda one: one.cli("search", "--all", "login sessions Redis"),
    "similar": lambda one: one.cli("links", "--similar", "notes/bees.md"),
    "timeline": lambda one: one.cli("timeline", REDIS),
    "list": lambda one: one.cli("list"),
    "multi-get": lambda one: one.cli("get", "notes/decisions/*redis.md"),
    "mcp get": lambda one: one.mcp("get", file=REDIS)[0],
}


@pytest.mark.parametrize("way", PRINTED)
def test_texts_name_the_successor(world: InterfaceWorld, way: str) -> None:
    """The mark names the end of the chain, not its middle; notes that hold have none."""
    said = PRINTED[way](world)

    assert MARK in said
    assert said.count(MARK) <= 2  # Redis and Postgres, not what superseded them


def test_get_marks_beside_the_text(world: InterfaceWorld) -> None:
    """The text on standard output stays as it is; the mark is said on standard error."""
    said = world.process("get", REDIS)

    assert "superseded" not in said.stdout
    assert MARK in said.stderr


FIELDS: dict[str, Callable[[InterfaceWorld], Any]] = {
    "search": lambda one: one.json("search", "--all", "login sessions Redis")["results"],
    "similar": lambda one: one.json("links", "--similar", "-n", "9", "notes/bees.md")["results"],
    "timeline": lambda one: [one.json("timeline", REDIS)["focus"]],
    "list": lambda one: one.json("list")["documents"],
    "get": lambda one: [one.json("get", REDIS)],
    "multi-get": lambda one: one.json("get", "notes/**/*.md")["documents"],
    "mcp search, whole": lambda one: one.mcp("search", query="login sessions", compact=False, show_all=True)[1]["results"],
}  # fmt: skip


@pytest.mark.parametrize("way", FIELDS)
def test_records_have_the_successor(world: InterfaceWorld, way: str) -> None:
    """``superseded_by`` holds path and time of what holds instead; null, or left out by MCP, where nothing does."""
    found = {one["file"]: one.get("superseded_by") for one in FIELDS[way](world)}

    assert found[REDIS] == FIELD
    assert all(successor is None for file, successor in found.items() if file in (LAST, "notes/bees.md"))


def test_a_prompt_reads_what_holds_first(world: InterfaceWorld) -> None:
    """In the block of a prompt the superseded note stands below its successor, marked, its path escaped."""
    block = world.hook(
        "context-surfacing", "UserPromptSubmit", prompt="Where do login sessions live in Redis?"
    )
    assert next(line for line in block.splitlines() if "Sessions in Redis" in line).endswith(ESCAPED)
    assert "<b>" not in block
    assert block.index("**A file**") < block.index("**Sessions in Redis**")


def test_a_newer_note_that_says_what_changed(world: InterfaceWorld) -> None:
    """
    It stands above the older note, which is marked and not likely any more, unless the past is asked for.

    A note without a date of its own changes none, because its file may be a copy; nor does a page of others.
    """
    clipping = "---\ndate: 2026-08-01\n---\n# Survey\n\nThe language of most for new services is now Zig.\n"
    (world.home / "notes" / "clippings").mkdir()
    (world.home / "notes" / "clippings" / "survey.md").write_text(clipping)
    world.cli("update")
    question = "which language do we use for new services"
    found = [note for note in world.json("query", question)["results"] if note["path"] != "stack/copied.md"]
    assert [result["path"] for result in found[:2]] == ["stack/platform.md", "stack/go.md"]
    assert found[1]["changed_by"] == {
        "file": "notes/stack/platform.md",
        "authored_at": "2026-06-10T00:00:00.000Z",
    }
    assert found[1]["likelihood"] != "likely"
    assert "perhaps no longer so: see notes/stack/platform.md (2026-06-10)" in world.cli("query", question)
    past = world.json("query", "which language did we formerly use for new services")["results"]
    assert "stack/go.md" in [note["path"] for note in past[:2]]


def test_a_newer_note_that_matches_nearly_as_well(world: InterfaceWorld) -> None:
    """It keeps an older note from being likely, and the answer names it; not an older one, nor for a note that has no date."""
    pool, question = world.home / "notes" / "pool", "which day is the swimming lesson of Wies"
    pool.mkdir()
    lessons = "---\ndate: 2026-01-29\n---\n# Swimming lessons\n\nWies: swimming lesson on Tuesday at four, pool Zuid.\n"
    (pool / "swimming.md").write_text(lessons)
    (pool / "garden.md").write_text("---\ndate: 2026-09-20\n---\n# Garden\n\nWies planted beans.\n")
    world.cli("update")
    answer = world.json("query", question)
    assert answer["results"][0]["likelihood"] == "likely" and "notice" not in answer
    diary = "---\ndate: 2026-09-21\n---\n# Monday\n\nWies at the swimming lesson with the big ones, Thursday half past five.\n"
    (pool / "monday.md").write_text(diary)
    world.cli("update")
    answer = world.json("query", question)
    assert {result["likelihood"] for result in answer["results"]}.isdisjoint({"likely"})
    assert (
        answer["results"][0]["file"] == "notes/pool/swimming.md"
    )  # no number of the answer is in the newer note
    assert answer["notice"] == "Two notes may differ; the newer one is notes/pool/monday.md (2026-09-21)."
    assert answer["notice"] in world.cli("query", question)
    likely = "---\ndate: 2026-09-21\n---\n# Monday\n\nThe swimming lesson of Wies on Thursday.\n"
    (pool / "monday.md").write_text(likely)  # less so than the older note
    world.cli("update")
    assert world.json("query", question)["results"][0]["file"] == "notes/pool/monday.md"
    (pool / "monday.md").write_text(diary.replace("2026-09-21", "2025-09-22"))
    world.cli("update")
    assert world.json("query", question)["results"][0]["likelihood"] == "likely"
    (pool / "monday.md").write_text(diary)
    undated = lessons.replace("date: 2026-01-29", "place: Zuid")  # of today, or a copy
    (pool / "swimming.md").write_text(undated)
    world.cli("update")
    answer = world.json("query", question)
    assert answer["results"][0]["likelihood"] == "likely" and "notice" not in answer


def test_a_plan_changes_nothing_yet(world: InterfaceWorld) -> None:
    """A newer note that says what changed stands above the older one, until it is the note of a day to come."""
    family = world.home / "notes" / "family"
    family.mkdir()
    (family / "teeth.md").write_text(
        "---\ndate: 2026-01-29\n---\n# Orthodontist\n\nJoris has his braces. Mrs Pell, Unthank Road, every six weeks.\n"
    )
    (family / "2026-10-05.md").write_text(
        "Mrs Pell is retiring! From now on the orthodontist of Joris is Dr Vasquez, only every eight weeks.\n"
    )
    world.cli("update")
    first, second = world.json("query", "where is the orthodontist of Joris")["results"][:2]
    assert (first["path"], second["path"]) == ("family/2026-10-05.md", "family/teeth.md")
    assert second["changed_by"]["file"] == "notes/family/2026-10-05.md"
    assert second["likelihood"] != "likely"
    (family / "2026-10-05.md").rename(family / "2099-10-05.md")
    world.cli("update")
    first = world.json("query", "where is the orthodontist of Joris")["results"][0]
    assert first["path"] == "family/teeth.md" and not first.get("changed_by")


def test_a_correction_of_the_answering_sentence(world: InterfaceWorld) -> None:
    """A remembered correction comes first where it is about the sentence that answers, in whatever words one asks."""
    (world.home / "notes" / "flat.md").write_text(
        "---\ndate: 2026-01-05\n---\n# Flat\n\nThe rent is 780 a month. Landlord: Frau Dreyer.\n\nQuiet from 22 on.\n"
    )
    world.cli("update")
    world.cli("remember", "Correction: the rent is 820, not 780.")
    first, second = world.json("query", "what does the flat cost per month")["results"][:2]
    assert "820" in first["file"] and first["likelihood"] == "likely"
    assert second["file"] == "notes/flat.md" and second["changed_by"]["file"] == first["file"]
    assert world.json("query", "who is the landlord of the flat")["results"][0]["file"] == "notes/flat.md"
    (world.home / "notes" / "halle.md").write_text(
        "---\ndate: 2025-06-09\n---\n# Miete Werkstatt\n\nWerkstatt in Rengers, Halle beim Sägewerk Dietz, 64 qm, Drehstrom 32 A,"
        " Wasser nur kalt.\n\nMietvertrag seit 1.4.2021, Vermieter Alois. Miete 310 warm, zum Dritten des Monats.\n\n"
        "Das Tor klemmt bei Frost, der Schlüssel liegt beim Alten im Haus. Feuerlöscher zuletzt im Mai geprüft.\n"
    )
    world.cli("update")
    world.cli("remember", "Die Miete beträgt jetzt 345, nicht mehr 310")
    answer = world.json("query", "wie viel Miete zahle ich für die Werkstatt")["results"]
    assert "345" in answer[0]["file"] and answer[1]["changed_by"]["file"] == answer[0]["file"]
    world.cli("remember", "Miete Werkstatt: 350 im Monat", "--supersedes", "notes/halle.md")
    assert world.json("query", "Vermieter der Halle")["results"][0]["file"] == "notes/halle.md"
    (world.home / "notes" / "iris.md").write_text(
        "---\ndate: 2025-12-27\n---\n# December\n\nIris plays the bassoon at the conservatoire, third floor. Dad's room is warm.\n"
    )
    world.cli("update")
    world.cli("remember", "Actually Dad is in room 31 now, second floor.")
    first = world.json("query", "on which floor of the conservatoire is the bassoon")["results"][0]
    assert first["file"] == "notes/iris.md" and not first.get("changed_by")


def test_a_correction_changes_the_nearest_note(world: InterfaceWorld) -> None:
    """Of several older notes with its words a prompt marks the one that the correction is most about, once."""
    notes = world.home / "notes"
    (notes / "mum.md").write_text(
        "---\ndate: 2025-06-01\n---\n# Mum\n\nWharfedale Lodge, Otley. Room 12, bird table.\n"
    )
    (notes / "ferry.md").write_text(
        "---\ndate: 2026-02-15\n---\n# Hull in May\n\nSleep: at Gus's first, then a room near mum.\n"
    )
    world.cli("update")
    world.cli("remember", "Actually mum is in room 7 at Moorview, not in room 12 any more")
    block = world.hook("context-surfacing", "UserPromptSubmit", prompt="which room is mum in?")
    marked = [line for line in block.splitlines() if "perhaps no longer so" in line]
    assert [line.count("perhaps no longer so") for line in marked] == [1] and "mum.md" in marked[0], block


def test_one_sentence_replaces_no_page(world: InterfaceWorld) -> None:
    """
    A memory that supersedes a page comes first where a question is about it, or where it shares a word with the line that
    answers, and below where another line answers.

    A shorter copy of the page does not come above it, a prompt reads the memory with the page, and a new name of the
    page changes nothing.
    """
    (world.home / "notes" / "van.md").write_text(
        "---\ndate: 2026-01-02\n---\n# Delivery van\n\n- Driver of the van: Bernd\n- Exceptional permit: number 4711, until June\n"
        "- Tyres of the second axle: new in 2025\n- Insurance: with Nordkust, 310 a year, paid by the office in March\n"
        "- Parked behind the mill, the key hangs in the kitchen\n",
        "utf-8",
    )
    copy = world.home / "notes" / "van (copy).md"
    copy.write_text((world.home / "notes" / "van.md").read_text("utf-8").partition("- Insur")[0], "utf-8")
    world.cli("update")
    world.cli("remember", "The driver of the van is Pjotr.", "--supersedes", "notes/van.md")
    first = {
        question: world.cli("query", question, "-n", "1").partition(":")[0]
        for question in (
            "number of the exceptional permit of the van",
            "where is the key",
            "who is the driver of the van",
        )
    }
    assert [file.endswith("van.md") for file in first.values()] == [True, True, False], first
    (world.home / "notes" / "pressure.md").write_text(
        "# Blood pressure\n\nThe cuff gave 151 over 94 on average, at night barely any dip. So now tablets: ramipril 5 mg, one in"
        " the morning.\n\nDoctor says: less salt, less liquorice, walk. Own readings go into the blue book by the phone.\n"
    )
    world.cli("update")
    world.cli("remember", "I take candesartan, not ramipril any more.", "--supersedes", "notes/pressure.md")
    answer = world.json("query", "which blood pressure tablet am I on")["results"]
    assert "candesartan" in answer[0]["file"] and answer[0]["confidence"] >= answer[1]["confidence"]
    block = world.hook(
        "context-surfacing", "UserPromptSubmit", prompt="number of the exceptional permit of the van"
    )
    assert "4711" in block and "The driver of the van is Pjotr." in block
    (world.home / "notes" / "van.md").rename(world.home / "notes" / "lorry.md")
    world.cli("update")
    marks = {note["file"]: note["superseded_by"] for note in world.json("list", "-n", "99")["documents"]}
    assert marks["notes/lorry.md"]  # which moved after the memory had named its path
