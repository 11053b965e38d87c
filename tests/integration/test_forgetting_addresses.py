"""Forgetting, merged and archived notes by their address."""

from __future__ import annotations

import json
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
from addressed_notes import BETA, PUMP, QUEUE, VERBS, by_tool, change, docid_of, rows
from command_line import Invoke
from wired import publisher

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.cli import operations
from clawmem.app.settings.model import load_settings
from clawmem.contracts.samples import fetch, id_of
from clawmem.ports.journal import Replacement
from clawmem.ports.records import InactiveReason


def document_id(path: str) -> int:
    collection, _, rest = path.partition("/")
    with open_services(load_settings(), read_only=True) as services:
        return id_of(services.vault.documents.at(collection, rest))


def test_forgetting_asks(addressed: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal it says what would be forgotten and how to; a no, an end of input and Ctrl-C change nothing."""
    before = rows()
    refused = addressed("forget", QUEUE)
    assert (refused.exit_code, rows() == before) == (2, True)
    for said in (QUEUE, "Queue depth", "characters", "--yes", "derived from it: none"):
        assert said in refused.output

    told = json.loads(addressed("forget", QUEUE, "--json").stdout)
    assert (told["code"], told["would_remove"]["file"]) == ("CONFIRMATION_REQUIRED", QUEUE)
    monkeypatch.setattr(operations, "may_ask", lambda ctx: True)
    assert answered(addressed, "n\n", "forget", QUEUE) == (1, True)
    assert answered(addressed, "", "forget", QUEUE) == (130, True)
    assert rows() == before
    assert answered(addressed, "y\n", "forget", QUEUE)[0] == 0
    assert rows() != before
    assert addressed("get", QUEUE).exit_code == 3


def answered(addressed: Invoke, said: str, *arguments: str) -> tuple[int, bool]:
    """The exit code of a command that hears *said*, and whether it refused."""
    from typer.testing import CliRunner

    from clawmem.app.interfaces.cli.command_line import cli

    done = CliRunner().invoke(cli, list(arguments), input=said)
    return done.exit_code, done.exit_code != 0


@pytest.mark.parametrize("first", [QUEUE, "queue.md", "queue", f"{QUEUE}:3"])
def test_forgetting_twice(addressed: Invoke, tmp_path: Path, first: str) -> None:
    """The second call reports that the note is forgotten, and never reaches a note that has the same name since."""
    assert addressed("forget", first, "--yes").exit_code == 0
    before = rows()
    again = addressed("forget", first, "--yes", "--prove", "--json")
    assert (again.exit_code, json.loads(again.stdout)["changed"], rows() == before) == (0, False, True)
    assert "is already forgotten" in addressed("forget", first).stdout
    pinned = addressed("pin", first)
    assert (pinned.exit_code, f"{QUEUE} is forgotten" in pinned.output) == (3, True)

    (tmp_path / "work/other").mkdir()
    (tmp_path / "work/other/queue.md").write_text("# Another\n\nA later note.\n", "utf-8")
    assert addressed("update").exit_code == 0
    assert addressed("forget", first, "--yes").exit_code == (0 if "/" in first else 3)
    assert addressed("get", "work/other/queue.md").exit_code == 0
    assert addressed("get", "queue.md").stdout.startswith("# Another")


def test_the_name_of_a_file_may_stay(addressed: Invoke, tmp_path: Path) -> None:
    """A title that its file is called by stays in the log of forgotten paths, and no proof misses it."""
    note = tmp_path / "work/Letter I did not send this winter.md"
    note.write_text(f"# {note.stem}\n\nThe wasps of the attic have a name.\n", "utf-8")
    addressed("update")
    forgotten = addressed("forget", note.stem, "--yes", "--prove")
    assert forgotten.exit_code == 0, forgotten.output


def test_programs_confirm_by_docid(addressed: Invoke) -> None:
    """A path, a title or no confirmation describes the note and changes nothing; docid and `confirm: true` forget it."""
    docid, before = docid_of(addressed, QUEUE), rows()

    forget = partial(by_tool, "memory_forget")
    for text, confirm in ((docid, None), (docid, False), (QUEUE, True), ("Queue depth", True)):
        heard = forget(query=text, confirm=confirm)
        assert (heard.refused, heard.code) == (True, "CONFIRMATION_REQUIRED")
        assert heard.details["would_remove"]["file"] == QUEUE
        assert heard.details["would_remove"]["docid"] == docid
        assert docid in heard.text and "confirm: true" in heard.text
        assert rows() == before
    done = forget(query=docid, confirm=True)
    assert (done.refused, done.details["changed"]) == (False, True)
    gone = rows()
    for text in (docid, QUEUE):
        again = forget(query=text, confirm=True)
        assert (again.refused, again.details["changed"], rows() == gone) == (False, False, True)


def test_a_merged_note_names_its_successor(addressed: Invoke, services: Services) -> None:
    """By path, title or docid: its state and what stands for it, and nothing is changed."""
    older, newer = document_id(PUMP), document_id("work/observations/pumps.md")
    docid = docid_of(addressed, PUMP)
    with services.vault.transactions.writing():
        publisher(services.vault).withdraw([older], InactiveReason.SUPERSEDED)
        services.vault.journal.replace(Replacement(newer, (older,), "the same", "2026-11-01T00:00:00.000Z"))
    before = rows()

    addresses = cycle((PUMP, "The pump leaks", docid, PUMP))
    for verb, address in zip(VERBS, addresses, strict=False):
        heard = change(addressed, verb, address)
        assert heard.refused
        assert "superseded" in heard.text and "work/observations/pumps.md (Pumps leak)" in heard.text
    told = by_tool("get", file=PUMP)
    assert (told.code, told.details["state"]) == ("NOT_SERVED", "superseded")
    assert [one["file"] for one in told.details["candidates"]] == ["work/observations/pumps.md"]
    assert rows() == before


def test_an_archived_note_is_restored_by_its_address(addressed: Invoke, services: Services) -> None:
    """Other verbs say that it is archived; words restore nothing, its path, title or docid restore it alone."""
    for address in ("work/clients/Beta.md", "[[Beta]]", docid_of(addressed, BETA)):
        notes = [fetch(services.vault, document_id(path)) for path in (BETA, QUEUE)]
        services.lifecycle.archive([(note, "old") for note in notes], "test")
        before = rows()
        again = addressed("archive", BETA)
        assert (again.exit_code, f"Archived already: {BETA}" in again.output) == (0, True)
        refused = addressed("forget", BETA, "--yes")
        assert (refused.exit_code, "is archived" in refused.output) == (3, True)
        for words in ("boats", "nothing of it", "queue of boats"):
            assert addressed("restore", words).exit_code in (2, 3)
            assert by_tool("lifecycle_restore", query=words).refused
        assert rows() == before
        [offered] = by_tool("lifecycle_restore", query="boats").details["candidates"]
        assert (offered["file"], offered["state"]) == (BETA, "archived")

        restored = json.loads(addressed("restore", address, "--json").stdout)
        assert [one["file"] for one in restored["documents"]] == [BETA]
        again = addressed("restore", address)
        assert (again.exit_code, "is served already" in again.output) == (0, True)
        assert addressed("get", QUEUE).exit_code == 3
        assert [one["file"] for one in by_tool("lifecycle_restore", all=True).details["documents"]] == [QUEUE]
