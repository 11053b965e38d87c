"""Addresses of notes: what names a note exactly, and what changes nothing."""

from __future__ import annotations

import re
import unicodedata
from itertools import cycle
from pathlib import Path

from addressed_notes import (
    ACME,
    AMBIGUOUS,
    CAFE,
    NOTES,
    PRICING,
    QUEUE,
    VERBS,
    by_tool,
    change,
    docid_of,
    rows,
)
from command_line import Invoke, ask_json
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from clawmem.app.bootstrap.services import Services

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


ADDRESSES = (
    (PRICING, PRICING),
    ("2026-04-18-pricing.md", PRICING),
    (PRICING.removesuffix(".md"), PRICING),
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
    ("clawmem:////work//queue.md", QUEUE),
    ("./work/./queue.md:7", QUEUE),
    ("work\\queue.md", QUEUE),
)


def test_every_way_to_name_a_note(services: Services, tmp_path: Path) -> None:
    """Paths, titles, aliases, links, places and quotations, in any case and in either form of accents."""
    for address, path in (*ADDRESSES, (str(tmp_path / QUEUE), QUEUE)):
        assert services.lookup.find(address).display_path == path, address


def test_what_is_no_address_changes_nothing(addressed: Invoke) -> None:
    """Words, near paths, names of two notes and careless input are refused, and no row is changed."""
    before = rows()
    for text, other in zip((*NO_ADDRESS, *AMBIGUOUS, *REFUSED), cycle(VERBS[:-1]), strict=False):
        for verb in ("forget", other):
            heard = change(addressed, verb, text)
            assert heard.code == ("2" if text in REFUSED else "3"), (text, heard.text)
        assert rows() == before, text


_PIECES = st.sampled_from(
    ["work", "/", "queue", "Queue", "depth", "pricing", ".md", "-", "2026", "#", ":", "7", "[[", "]]", "|", "..", " ",
     '"', "the", "clients", "Kick-off", "leaks", "é", "%", "*", "\\", "\n", "Ω", "handoff"]
)  # fmt: skip

_TEXTS = st.one_of(st.text(max_size=40), st.lists(_PIECES, min_size=1, max_size=7).map("".join))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TEXTS, verb=st.sampled_from(VERBS))
def test_no_text_but_an_address_changes_a_row(addressed: Invoke, text: str, verb: str) -> None:
    """Whatever is typed that is neither a path nor a name of one note, no verb changes any row."""
    assume(not _may_be_exact(text))
    before = rows()

    done = addressed(verb, *(["--yes"] if verb == "forget" else []), "--", text)

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


def test_a_tool_takes_no_text_for_true(addressed: Invoke) -> None:
    """Only ``true`` confirms; a text or a number is refused, and no row is changed."""
    docid, before = docid_of(addressed, QUEUE), rows()

    for confirm in ("true", "yes", "on", 1, "1"):
        refused = by_tool("memory_forget", query=docid, confirm=confirm)
        also = by_tool("memory_pin", query=docid, unpin=confirm)
        assert (refused.code, also.code) == ("INVALID_INPUT", "INVALID_INPUT"), confirm
        assert "confirm: must be true or false" in refused.text
    assert rows() == before
    assert not by_tool("memory_pin", query=docid, unpin=False).refused
    assert not by_tool("memory_forget", query=docid, confirm=True).refused


def test_a_docid_stays_when_a_note_is_edited_and_moved(addressed: Invoke, tmp_path: Path) -> None:
    """It names the same note afterwards, and is the one that lists print."""
    (queue,) = [one for one in ask_json(addressed, "list", "-n", 99)["documents"] if one["file"] == QUEUE]
    file = tmp_path / QUEUE
    file.write_text(file.read_text("utf-8") + "\nOne more line.\n", "utf-8")
    addressed("update")
    file.rename(file.with_name("renamed.md"))
    addressed("update")

    assert "One more line." in addressed("get", queue["docid"]).stdout
    (renamed,) = [
        one for one in ask_json(addressed, "list", "-n", 99)["documents"] if "renamed" in one["file"]
    ]
    assert renamed["docid"] == queue["docid"]
