"""Addresses of notes in every interface: what names a note exactly, and what changes nothing."""

from __future__ import annotations

import asyncio
import json
import os
import re
import unicodedata
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import apsw
import httpx2
import pytest
from command_line import Invoke
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.client.tool_sets import ToolSet
from clawmem.app.interfaces.cli import addresses
from clawmem.app.interfaces.mcp.calling import CODE, DETAILS
from clawmem.app.interfaces.mcp.server import make_server
from clawmem.app.interfaces.rest.application import rest_application
from clawmem.app.serve.dispatcher import Dispatcher
from clawmem.app.serve.runtime import ServerRuntime
from clawmem.app.services.indexing.publish import withdraw
from clawmem.app.settings import load_settings
from clawmem.contracts.samples import fetch, id_of
from clawmem.ports.journal import Replacement
from clawmem.ports.records import InactiveReason

PRICING, QUEUE, PUMP = "work/2026-04-18-pricing.md", "work/queue.md", "work/observations/pump.md"
ACME, BETA, CAFE = "work/clients/Acme Rocketworks.md", "work/clients/Beta.md", "work/Café.md"
NOTES = {
    PRICING: "---\naliases: [Price list, PL]\n---\n# Pricing\n\nOne seat costs twelve euro.\n\nSeats are billed monthly.\n",
    QUEUE: "# Queue depth\n\nJobs wait for an hour at most.\n",
    "work/handoff.md": "# Handoff of Tuesday\n\nThe queue was repaired. Next: billing.\n",
    ACME: "# Kick-off\n\nThey want four engines.\n",
    BETA: "# Kick-off\n\nThey want two boats.\n",
    CAFE: "# Café\n\nOpen from eight.\n",
    PUMP: "# The pump leaks\n\nThe pump of hall two leaks at night.\n",
    "work/observations/pumps.md": "# Pumps leak\n\nBoth pumps of hall two leak at night.\n",
    "work/titled.md": f"# {QUEUE}\n\nIts title is the path of another note.\n",
}
# Texts that name no note exactly: the reproduced cases first, then careless ones.
NO_ADDRESS = (
    "work/2026-04-28-pricing.md", "queue of jobs", "zzzz", "nope.md", "quantum banana", "engines", "repaired queue",
    "e.md", "PRICING.MD", "abcde", "#ffffff", "clients/", "work/clients", "work", "clawmem://work", "/work/queue.md",
    "~/work/queue.md", "[[nobody]]", "[[queue.md.md]]", "queue.md work/handoff.md", "% _ *", "**/*.md", "2026-04-18",
)  # fmt: skip
REFUSED = (
    "",
    "   ",
    "..",
    "work/../queue.md",
    "[[]]",
    "[[#Heading]]",
    "[[ |shown]]",
    "#abcde",
    "a" * 1001,
    "a\0.md",
)
AMBIGUOUS = ("Kick-off", "kick-OFF", "[[Kick-off]]", "[[kick-off#Plan|the meeting]]")


class Heard(NamedTuple):
    """The answer of an interface: whether it was refused, its code where it has one, and its details for programs."""

    refused: bool
    code: str
    details: dict[str, Any]
    text: str


@pytest.fixture
def world(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """``invoke`` over a vault that holds the notes."""
    for name, text in NOTES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    assert invoke("bootstrap", tmp_path / "work", "--skip-embed").exit_code == 0
    return invoke


@pytest.fixture
def services(world: Invoke) -> Iterator[Services]:
    """The services over that vault."""
    with open_services(load_settings()) as opened:
        yield opened


def rows() -> dict[str, list[Any]]:
    """Every row of every table of the vault, telemetry of reading apart."""
    reader = apsw.Connection(str(load_settings().vault), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [
        name
        for (name, sql) in reader.execute("select name, sql from sqlite_master where type = 'table'")
        if not sql.lower().startswith("create virtual")
    ]
    found = {name: list(reader.execute(f'select * from "{name}"')) for name in tables}
    reader.close()
    return found


def document_id(path: str) -> int:
    collection, _, rest = path.partition("/")
    with open_services(load_settings(), read_only=True) as services:
        return id_of(services.vault.documents.at(collection, rest))


def docid_of(invoke: Invoke, path: str) -> str:
    return str(json.loads(invoke("get", path, "--json").stdout)["docid"])


def by_tool(name: str, **arguments: Any) -> Heard:
    """Call an MCP tool."""
    desk = Dispatcher(load_settings)
    try:
        found: Any = asyncio.run(make_server(desk, ToolSet.CLAWMEM).call_tool(name, arguments))
    finally:
        desk.close()
    text = " ".join(getattr(one, "text", "") for one in found.content)
    meta = found.meta or {}
    details = meta.get(DETAILS, {}) if found.is_error else found.structured_content
    return Heard(bool(found.is_error), str(meta.get(CODE, "")), details, text)


def by_route(method: str, path: str, **body: Any) -> Heard:
    """Send a request to the REST interface."""

    async def send() -> httpx2.Response:
        inside = ServerRuntime(load_settings().vault, os.environ)
        with inside.at_work():
            app: Any = rest_application(inside)
            transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, json=body if method == "POST" else None)

    response = asyncio.run(send())
    told = response.json()
    return Heard(response.status_code != 200, told.get("code", ""), told, told.get("error", ""))


VERBS = ("pin", "unpin", "snooze", "unsnooze", "forget")


def change(door: str, invoke: Invoke, verb: str, text: str) -> Heard:
    """Ask an interface for a change, confirmed as far as it can be."""
    if door == "cli":
        done = invoke(verb, *(["--yes"] if verb == "forget" else []), "--", text)
        assert done.exit_code in (0, 2, 3), done.output
        return Heard(done.exit_code != 0, str(done.exit_code), {}, done.output)
    if door == "mcp":
        if verb == "forget":
            return by_tool("memory_forget", query=text, confirm=True)
        if verb in ("pin", "unpin"):
            return by_tool("memory_pin", query=text, unpin=verb == "unpin")
        return by_tool("memory_snooze", query=text, until="2999-01-01" if verb == "snooze" else None)
    path = f"/documents/{quote(text, safe='')}/{verb.removeprefix('un')}"
    body = {"forget": {"confirm": True}, "unpin": {"unpin": True}}
    return by_route("POST", path, **body.get(verb, {}))


# -- what names a note -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "path"),
    [
        (PRICING, PRICING),
        ("2026-04-18-pricing.md", PRICING),
        (f"clawmem://{PRICING}", PRICING),
        ("pricing", PRICING),
        ("  Price LIST ", PRICING),
        ("pl", PRICING),
        ("2026-04-18-pricing", PRICING),
        ("[[2026-04-18-pricing|what it costs]]", PRICING),
        ("[[pl#Seats]]", PRICING),
        ("![[Price list^b1]]", PRICING),
        ("[[clients/acme rocketworks]]", ACME),
        ("[[clients/Acme Rocketworks.md\\|Acme]]", ACME),
        ("acme rocketworks", ACME),
        (f"{PRICING}:6", PRICING),
        (f"{PRICING}:6-8 ", PRICING),
        (f'"{ACME}:1-3"', ACME),
        (f"'{ACME}'", ACME),
        (QUEUE, QUEUE),  # also the title of another note: the complete path wins
        (unicodedata.normalize("NFD", "café"), CAFE),
        (unicodedata.normalize("NFD", CAFE), CAFE),
        (f"{QUEUE}/", QUEUE),
    ],
)
def test_every_way_to_name_a_note(services: Services, address: str, path: str) -> None:
    """Reading and changing take the same addresses."""
    assert services.lookup.find(address).display_path == path
    assert services.lookup.target(address).display_path == path


def test_every_interface_takes_them(world: Invoke) -> None:
    """The same address reads and pins the same note on the command line, by a tool and by a route."""
    docid = docid_of(world, PRICING)
    for address in ("price list", f"{PRICING}:6-8", "[[PL|prices]]", docid, docid[1:]):
        assert world("pin", address).exit_code == 0
        assert by_tool("memory_pin", query=address, unpin=True).details["file"] == PRICING
        assert by_route("POST", f"/documents/{quote(address, safe='')}/pin").details["pinned"] is True
        assert json.loads(world("get", address, "--json").stdout)["file"] == PRICING
        assert by_tool("get", file=address).details["file"] == PRICING
        assert by_route("GET", f"/documents/{quote(address, safe='')}").details["file"] == PRICING
        assert json.loads(world("timeline", address, "--json").stdout)["focus"]["file"] == PRICING
        assert json.loads(world("graph", "causes", address, "--json").stdout)["source"]["file"] == PRICING
        assert by_tool("find_causal_links", docid=address).details["source"]["file"] == PRICING


def test_a_place_as_it_is_printed(world: Invoke) -> None:
    """`get` of a printed range prints these lines of the file, of a printed line what begins there."""
    seats, billed = "One seat costs twelve euro.\n", "Seats are billed monthly.\n"
    for place, *more, text in (
        (f"{PRICING}:6-8", f"{seats}\n{billed}"),
        (f"{PRICING}:8", billed),
        (f"{PRICING}:6-8", "--lines", "1", seats),
        (f"{PRICING}:1-4", "# Pricing\n"),
    ):
        assert world("get", place, *more).stdout.rstrip() == text.rstrip()
        assert json.loads(world("get", place, *more, "--json").stdout)["text"] == text
    assert by_tool("get", file=f"{PRICING}:8-8").details["text"] == "Seats are billed monthly.\n"
    found = world("search", "billed monthly").stdout.split()[0]
    assert "billed monthly" in world("get", found).stdout
    backwards = world("get", f"{PRICING}:8-6")
    assert (backwards.exit_code, "6-8" in backwards.output) == (2, True)


def test_multi_get_takes_addresses(world: Invoke) -> None:
    """A list may mix titles, links, docids and printed places."""
    told = world(
        "multi-get", f"price list, [[Beta]], {docid_of(world, QUEUE)}, work/handoff.md:3-3, zzzz", "--json"
    )
    found = json.loads(told.stdout)
    assert {one["file"] for one in found["documents"]} == {PRICING, BETA, QUEUE, "work/handoff.md"}
    assert [one["code"] for one in found["errors"]] == ["NOT_FOUND"]


# -- what changes nothing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("door", ["cli", "mcp", "rest"])
def test_what_is_no_address_changes_nothing(world: Invoke, door: str) -> None:
    """Words, near paths, names of two notes and careless input are refused, and no row is changed."""
    before = rows()
    for text, other in zip((*NO_ADDRESS, *AMBIGUOUS, *REFUSED), cycle(VERBS[:-1]), strict=False):
        if door == "rest" and not re.fullmatch(r"[^/\0]+(/[^/.]+)*[^/]", text):
            continue  # no such route
        for verb in ("forget", other):
            heard = change(door, world, verb, text)
            assert heard.refused, (text, heard)
            if door == "cli":
                assert heard.code == ("2" if text in REFUSED else "3"), (text, heard.text)
        assert rows() == before, text


def test_candidates_for_people_and_programs(world: Invoke) -> None:
    """An error names docid, path and title of what may be meant; programs get the same as records."""
    refused = world("pin", "work/2026-04-28-pricing.md")
    assert (refused.exit_code, f"{docid_of(world, PRICING)} {PRICING} (Pricing)" in refused.output) == (
        3,
        True,
    )

    told = json.loads(world("pin", "kick-off", "--json").stdout)
    assert [one["file"] for one in told["candidates"]] == [ACME, BETA]
    for heard in (
        by_tool("memory_pin", query="kick-off"),
        by_route("POST", "/documents/kick-off/pin"),
    ):
        assert heard.code == "AMBIGUOUS"
        assert [one["file"] for one in heard.details["candidates"]] == [ACME, BETA]
        assert world("pin", heard.details["candidates"][0]["docid"]).exit_code == 0
    near = by_tool("memory_pin", query="the queue of jobs").details["candidates"]
    assert near[0] == {
        "docid": docid_of(world, QUEUE),
        "file": QUEUE,
        "title": "Queue depth",
        "state": "",
        "origin": "user",
        "trusted": True,
    }
    below = by_route("GET", "/documents/clients")
    assert {one["file"] for one in below.details["candidates"]} == {ACME, BETA}


_PIECES = st.sampled_from(
    ["work", "/", "queue", "Queue", "depth", "pricing", ".md", "-", "2026", "#", ":", "7", "[[", "]]", "|", "..", " ",
     '"', "the", "clients", "Kick-off", "leaks", "é", "%", "*", "\\", "\n", "Ω", "handoff"]
)  # fmt: skip
_TEXTS = st.one_of(st.text(max_size=40), st.lists(_PIECES, min_size=1, max_size=7).map("".join))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TEXTS, verb=st.sampled_from(VERBS))
def test_no_text_but_an_address_changes_a_row(world: Invoke, text: str, verb: str) -> None:
    """Whatever is typed that is neither a path nor a name of one note, no verb changes any row."""
    assume(not _may_be_exact(text))
    before = rows()

    done = world(verb, *(["--yes"] if verb == "forget" else []), "--", text)

    assert done.exit_code in (2, 3), (text, done.output)
    assert rows() == before


def _may_be_exact(text: str) -> bool:
    """Whether *text*, without brackets, quotes, lines and case, is a path, the end of one, or a name."""
    bare = re.split(r"[|#^]", re.sub(r"[\[\]!\"'`]", "", text))[0]
    names = {
        unicodedata.normalize("NFC", part).casefold().strip(" /\n") for part in (bare, bare.split(":")[0])
    }
    exact = {"pricing", "price list", "pl", "queue depth", "kick-off", "café", "handoff of tuesday"}
    for path in NOTES:
        parts = path.casefold().split("/")
        ends = {"/".join(parts[at:]) for at in range(len(parts))}
        exact |= ends | {end.removesuffix(".md") for end in ends}
    return not names.isdisjoint(exact)


@pytest.mark.parametrize("confirm", ["true", "yes", "on", 1, "1"])
def test_a_tool_takes_no_text_for_true(world: Invoke, confirm: object) -> None:
    """Only ``true`` confirms; a text or a number is refused, and no row is changed."""
    docid, before = docid_of(world, QUEUE), rows()

    refused = by_tool("memory_forget", query=docid, confirm=confirm)
    also = by_tool("memory_pin", query=docid, unpin=confirm)

    assert (refused.code, also.code) == ("INVALID_INPUT", "INVALID_INPUT")
    assert "confirm: must be true or false" in refused.text
    assert rows() == before
    assert not by_tool("memory_pin", query=docid, unpin=False).refused
    assert not by_tool("memory_forget", query=docid, confirm=True).refused


# -- forgetting --------------------------------------------------------------------------------------------


def test_forgetting_asks(world: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal it says what would be forgotten and how to; a no, an end of input and Ctrl-C change nothing."""
    before = rows()
    refused = world("forget", QUEUE)
    assert (refused.exit_code, rows() == before) == (2, True)
    for said in (QUEUE, "Queue depth", "bytes", "today", "--yes", "No memories were derived"):
        assert said in refused.output

    told = json.loads(world("forget", QUEUE, "--json").stdout)
    assert (told["code"], told["would_remove"]["file"]) == ("CONFIRMATION_REQUIRED", QUEUE)
    monkeypatch.setattr(addresses, "may_ask", lambda ctx: True)
    assert answered(world, "n\n", "forget", QUEUE) == (1, True)
    assert answered(world, "", "forget", QUEUE) == (1, True)
    assert rows() == before
    assert answered(world, "y\n", "forget", QUEUE)[0] == 0
    assert rows() != before
    assert world("get", QUEUE).exit_code == 3


def test_choosing_on_a_terminal(world: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are numbered; a number takes one, anything else none."""
    monkeypatch.setattr(addresses, "may_ask", lambda ctx: True)
    before = rows()
    for said in ("\n", "0\n", "3\n", "x\n", ""):
        code, _ = answered(world, said, "pin", "Kick-off")
        assert (code in (3, 130), rows() == before) == (True, True)
    assert answered(world, "2\n", "pin", "Kick-off")[0] == 0
    with open_services(load_settings(), read_only=True) as services:
        assert fetch(services.vault, document_id(BETA)).pinned
        assert not fetch(services.vault, document_id(ACME)).pinned


def answered(world: Invoke, said: str, *arguments: str) -> tuple[int, bool]:
    """The exit code of a command that hears *said*, and whether it refused."""
    from typer.testing import CliRunner

    from clawmem.app.interfaces.cli.command_line import cli

    done = CliRunner().invoke(cli, list(arguments), input=said)
    return done.exit_code, done.exit_code != 0


@pytest.mark.parametrize("first", [QUEUE, "queue.md", "queue", f"{QUEUE}:3"])
def test_forgetting_twice(world: Invoke, tmp_path: Path, first: str) -> None:
    """The second call reports that the note is forgotten, and never reaches a note that has the same name since."""
    assert world("forget", first, "--yes").exit_code == 0
    before = rows()
    again = world("forget", first, "--yes", "--prove", "--json")
    assert (again.exit_code, json.loads(again.stdout)["changed"], rows() == before) == (0, False, True)
    assert "is already forgotten" in world("forget", first).stdout
    pinned = world("pin", first)
    assert (pinned.exit_code, f"{QUEUE} is forgotten" in pinned.output) == (3, True)

    (tmp_path / "work/other").mkdir()
    (tmp_path / "work/other/queue.md").write_text("# Another\n\nA later note.\n", "utf-8")
    assert world("update").exit_code == 0
    assert world("forget", first, "--yes").exit_code == (0 if "/" in first else 3)
    assert world("get", "work/other/queue.md").exit_code == 0
    assert world("get", "queue.md").stdout.startswith("# Another")


@pytest.mark.parametrize("door", ["mcp", "rest"])
def test_programs_confirm_by_docid(world: Invoke, door: str) -> None:
    """A path, a title or no confirmation describes the note and changes nothing; docid and `confirm: true` forget it."""
    docid, before = docid_of(world, QUEUE), rows()

    def forget(text: str, **said: Any) -> Heard:
        if door == "mcp":
            return by_tool("memory_forget", query=text, **said)
        return by_route("POST", f"/documents/{quote(text, safe='')}/forget", **said)

    for text, said in (
        (docid, {}),
        (docid, {"confirm": False}),
        (QUEUE, {"confirm": True}),
        ("Queue depth", {"confirm": True}),
    ):
        heard = forget(text, **said)
        assert (heard.refused, heard.code) == (True, "CONFIRMATION_REQUIRED")
        assert heard.details["would_remove"]["file"] == QUEUE
        assert heard.details["would_remove"]["docid"] == docid
        assert docid in heard.text and "confirm: true" in heard.text
        assert rows() == before
    done = forget(docid, confirm=True)
    assert (done.refused, done.details["changed"]) == (False, True)
    gone = rows()
    for text in (docid, QUEUE):
        again = forget(text, confirm=True)
        assert (again.refused, again.details["changed"], rows() == gone) == (False, False, True)


def test_a_docid_of_two_notes_needs_the_path_too(world: Invoke, tmp_path: Path) -> None:
    """Copies share a docid: alone it is ambiguous; with the path it forgets one, and again changes nothing."""
    (tmp_path / "work/copy.md").write_text(NOTES[QUEUE], "utf-8")
    world("update")
    docid = docid_of(world, QUEUE)
    assert by_tool("memory_forget", query=docid, confirm=True).code == "AMBIGUOUS"
    assert by_tool("memory_forget", query=f"{docid} {QUEUE}", confirm=True).details["changed"]
    assert not by_tool("memory_forget", query=f"{docid} {QUEUE}", confirm=True).details["changed"]
    assert world("get", "work/copy.md").exit_code == 0


# -- notes that are not served -----------------------------------------------------------------------------


def test_a_merged_note_names_its_successor(world: Invoke, services: Services) -> None:
    """By path, title or docid: its state and what stands for it, and nothing is changed."""
    older, newer = document_id(PUMP), document_id("work/observations/pumps.md")
    docid = docid_of(world, PUMP)
    with services.vault.writing():
        withdraw(services.vault, [older], InactiveReason.SUPERSEDED)
        services.vault.journal.replace(Replacement(newer, (older,), "the same", "2026-11-01T00:00:00.000Z"))
    before = rows()

    for verb, address in ((verb, address) for verb in VERBS for address in (PUMP, "The pump leaks", docid)):
        for door in ("cli", "mcp", "rest"):
            heard = change(door, world, verb, address)
            assert heard.refused
            assert "superseded" in heard.text and "work/observations/pumps.md (Pumps leak)" in heard.text
    told = by_tool("get", file=PUMP)
    assert (told.code, told.details["state"]) == ("NOT_SERVED", "superseded")
    assert [one["file"] for one in told.details["candidates"]] == ["work/observations/pumps.md"]
    assert rows() == before


def test_an_archived_note_is_restored_by_its_address(world: Invoke, services: Services) -> None:
    """Other verbs say that it is archived; words restore nothing, its path, title or docid restore it alone."""
    for address in ("work/clients/Beta.md", "[[Beta]]", docid_of(world, BETA)):
        notes = [fetch(services.vault, document_id(path)) for path in (BETA, QUEUE)]
        services.archiving.archive(notes, "test", lambda one: "old")
        before = rows()
        refused = world("forget", BETA, "--yes")
        assert (refused.exit_code, "is archived" in refused.output) == (3, True)
        for words in ("boats", "nothing of it", "Pricing", "queue of boats"):
            assert world("lifecycle", "restore", words).exit_code in (2, 3)
            assert by_tool("lifecycle_restore", query=words).refused
            assert by_route("POST", "/lifecycle/restore", query=words).refused
        assert rows() == before
        [offered] = by_tool("lifecycle_restore", query="boats").details["candidates"]
        assert (offered["file"], offered["state"]) == (BETA, "archived")

        restored = json.loads(world("lifecycle", "restore", address, "--json").stdout)
        assert [one["file"] for one in restored["documents"]] == [BETA]
        assert world("get", QUEUE).exit_code == 3
        assert [one["file"] for one in by_tool("lifecycle_restore", all=True).details["documents"]] == [QUEUE]


def test_a_note_whose_file_is_gone(world: Invoke, tmp_path: Path) -> None:
    """It is not pinned, and it can be forgotten: its text is still in the vault."""
    (tmp_path / QUEUE).unlink()
    world("update")
    pinned = world("pin", QUEUE)
    assert (pinned.exit_code, "is removed" in pinned.output) == (3, True)
    assert world("forget", QUEUE, "--yes").exit_code == 0
    assert "is already forgotten" in world("forget", QUEUE, "--yes").stdout


@pytest.mark.parametrize("words", [["collection", "remove"], ["lanes", "undo"]])
def test_other_commands_do_not_guess(world: Invoke, words: list[str]) -> None:
    """A name that nothing has exactly is refused."""
    before = rows()
    for text in ("wor", "Work", "queue of", "zzzz"):
        assert world(*words, text).exit_code == 3
    assert rows() == before
