"""The activity of Gemini as the HTML page that Google Takeout writes unless JSON is chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from clawmem.adapters.conversations.format import Format, nothing
from clawmem.adapters.conversations.gemini import MAX_RESUMED, SOURCE, HtmlText, prompt_in
from clawmem.adapters.conversations.members import Member, Tree, Utf8Stream
from clawmem.adapters.conversations.shapes import READ_AT_ONCE, Kind, Shape
from clawmem.ports.conversations import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.transcripts import Speaker

_PRODUCTS = ("Gemini", "Bard")  # part of the title of an activity, in every language
_ADDRESS = re.compile(r"gemini\.google\.com/app/(?:c_)?(\w+)")
_ATTACHED = re.compile(r"Attached \d+ files?\.")  # before their names
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = re.compile(
    r"(?:(?P<month>[A-Z][a-z]{2,8})\.? (?P<day>\d{1,2})|(?P<day_first>\d{1,2}) (?P<month_second>[A-Z][a-z]{2,8})\.?),? "
    r"(?P<year>20\d\d),? (?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?: ?(?P<half>[AaPp])\.?[Mm]\.?)? "
    r"(?P<zone>[A-Z]{2,5})?(?:(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d\d)?)?"
)
# Hours from UTC. Of names with several meanings, those of the United States and of India are taken.
_HOURS = {
    "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "SAST": 2, "EET": 2,
    "EEST": 3, "MSK": 3, "IST": 5.5, "HKT": 8, "SGT": 8, "AWST": 8, "JST": 9, "KST": 9, "ACST": 9.5, "AEST": 10,
    "ACDT": 10.5, "AEDT": 11, "NZST": 12, "NZDT": 13, "BRT": -3, "ART": -3, "ADT": -3, "AST": -4, "EDT": -4, "EST": -5,
    "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8, "AKDT": -8, "AKST": -9, "HST": -10,
}  # fmt: skip


class _Exchange(NamedTuple):
    """A prompt and its answer; ``conversation`` is empty where the page does not name it."""

    at: str
    asked: str
    answered: str
    conversation: str


class _Page(HtmlText):
    """Reader of the page; ``exchanges`` are those of the finished activities."""

    def __init__(self) -> None:
        super().__init__()
        self.exchanges: list[_Exchange] = []
        self.without_time = 0
        self.is_whole = False
        self._section, self._texts, self._address = "", dict[str, str](), ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes = (values.get("class") or "").split()
        if tag == "div" and not {"outer-cell", "header-cell", "content-cell"}.isdisjoint(classes):
            self._begin(classes)
            return
        if tag == "a" and (address := _ADDRESS.search(values.get("href") or "")):
            self._address = address[1]
        super().handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "body":
            self._begin(["outer-cell"])
            self.is_whole = True

    def _begin(self, classes: Sequence[str]) -> None:
        self._texts[self._section] = self.taken()
        if "outer-cell" in classes:
            self._finish()
        is_said = "mdl-typography--body-1" in classes and "mdl-typography--text-right" not in classes
        self._section = "header" if "header-cell" in classes else "said" if is_said else ""

    def _finish(self) -> None:
        header, said = self._texts.get("header", ""), self._texts.get("said", "")
        address, self._address, self._texts = self._address, "", {}
        if not said or not any(name in header for name in _PRODUCTS):
            return
        lines = said.split("\n")
        times = ((number, _time_in(line)) for number, line in enumerate(lines))
        place, at = next(((number, at) for number, at in times if number and at), (0, ""))
        if not at:
            self.without_time += 1
            return
        asked = next((at for at, line in enumerate(lines[:place]) if _ATTACHED.fullmatch(line)), place)
        answer = _spaced("\n".join(lines[place + 1 :]))
        if prompt := prompt_in("\n".join(lines[:asked]), is_answered=bool(answer)):
            self.exchanges.append(_Exchange(at, _spaced(prompt), answer, address))

    def gone(self) -> list[_Exchange]:
        """Return the exchanges since the last call."""
        found, self.exchanges = self.exchanges, []
        return found


def _time_in(line: str) -> str:
    """Return the time that *line* is, in UTC; empty for other text. An unknown zone is taken for UTC."""
    found = _TIME.fullmatch(_spaced(line))
    name = (found["month"] or found["month_second"])[:3].lower() if found else ""
    if not found or name not in _MONTHS:
        return ""
    hour = int(found["hour"])
    if half := found["half"]:
        hour = hour % 12 + 12 * (half in "Pp")
    shift = timedelta(hours=_HOURS.get(found["zone"] or "", 0))
    if sign := found["sign"]:
        shift += timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0)) * (
            -1 if sign == "-" else 1
        )
    try:
        day, month = int(found["day"] or found["day_first"]), _MONTHS.index(name) + 1
        local = datetime(
            int(found["year"]), month, day, hour, int(found["minute"]), int(found["second"]), tzinfo=UTC
        )
        return (local - shift).isoformat()
    except ValueError:
        return ""


def _spaced(text: str) -> str:
    return text.replace("\xa0", " ").replace("\u202f", " ").strip()


def _activity(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation | ReadFault]:
    """Yield an exchange without the address of its conversation alone, the others by conversation, oldest first."""
    for member in members:
        page, count = _Page(), 0
        gathered: dict[str, list[_Exchange]] = {}
        with member.open() as file:
            stream = Utf8Stream(file)
            while data := stream.read(READ_AT_ONCE):
                page.feed(data.decode("utf-8", "replace"))
                for one in page.gone():
                    count += 1
                    if one.conversation and count < MAX_RESUMED:
                        gathered.setdefault(one.conversation, []).append(one)
                    else:
                        yield _conversation(f"{one.at} {one.asked[:80]}", [one])
        for name, exchanges in gathered.items():
            yield _conversation(name, sorted(exchanges, key=lambda one: one.at))
        if page.without_time:
            reason = (
                f"{page.without_time} activities without a time in English; choose JSON in Takeout instead"
            )
            yield ReadFault(member.place, reason)
        if not page.is_whole:
            reason = "it ends in the middle of an activity; download it again"
            yield ReadFault(member.place, reason, is_partial=True)


def _conversation(name: str, exchanges: Sequence[_Exchange]) -> ImportedConversation:
    said = [
        message
        for one in exchanges
        for message in (
            ImportedMessage(f"{one.at}-0", one.asked, one.at, Speaker.USER),
            ImportedMessage(f"{one.at}-0-answer", one.answered, one.at, Speaker.ASSISTANT),
        )
    ]
    return ImportedConversation(SOURCE, name, "", said, exchanges[0].at)


def _is_activity(shape: Shape) -> bool:
    return shape.kind is Kind.PAGE and any(name in shape.values.get("page", "") for name in _PRODUCTS)


FORMATS = (
    Format(SOURCE, _is_activity, _activity),
    Format("", lambda shape: shape.kind is Kind.PAGE, nothing),  # pages around an export
)
