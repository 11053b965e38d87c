"""The activity of Gemini from Google Takeout, and prompts saved by Google AI Studio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import Any

from clawmem.adapters.conversations.format import Format
from clawmem.adapters.conversations.members import Member, Tree
from clawmem.adapters.conversations.shapes import Shape, dicts_in, object_in, objects_in, text_in, time_in
from clawmem.ports.conversations import ImportedConversation, ImportedMessage
from clawmem.ports.transcripts import Speaker

SOURCE = "gemini"
_HEADERS = frozenset({"Gemini", "Gemini Apps", "Bard"})
_VERBS = ("Prompted", "Asked", "Said")  # before the prompt in the title of an activity
LONGEST_VERB = 40  # characters before the prompt in another language
_BLOCKS = frozenset({"br", "div", "h1", "h2", "h3", "h4", "li", "ol", "p", "pre", "table", "tr", "ul"})
_ASKED, _ANSWERED = frozenset({"Request", "Prompt"}), frozenset({"Response"})
MAX_RESUMED = 200_000  # activities whose conversation is gathered in memory


def _activity(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield an activity without the address of its conversation alone, the others by conversation, oldest first."""
    for member in members:
        gathered: dict[str, list[dict[str, Any]]] = {}
        for count, one in enumerate(objects_in(member)):
            address = text_in(one.get("titleUrl"))
            if "/c/" in address and count < MAX_RESUMED:
                gathered.setdefault(address.partition("/c/")[2], []).append(one)
            else:
                yield _conversation(text_in(one.get("time")) or f"{member.place}#{count}", [one])
        for name, activities in gathered.items():
            yield _conversation(name, sorted(activities, key=lambda one: text_in(one.get("time"))))


def _conversation(name: str, activities: list[dict[str, Any]]) -> ImportedConversation:
    said = [message for one in activities for message in _exchange(one)]
    return ImportedConversation(SOURCE, name, "", said, time_in(activities[0].get("time")))


def _exchange(one: dict[str, Any]) -> Iterator[ImportedMessage]:
    at, key = time_in(one.get("time")), text_in(one.get("time"))
    pairs = list(_pairs(one)) or [(prompt_in(text_in(one.get("title"))), _shown(one))]
    for number, (asked, answered) in enumerate(pairs):
        yield ImportedMessage(f"{key}-{number}", asked, at, Speaker.USER)
        yield ImportedMessage(f"{key}-{number}-answer", answered, at, Speaker.ASSISTANT)


def _pairs(one: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for item in dicts_in(one.get("userInteractions")):
        said = object_in(item.get("userInteraction"))
        yield text_in(said.get("request")), text_in(said.get("response"))
    details = {text_in(item.get("name")): text_in(item.get("value")) for item in dicts_in(one.get("details"))}
    asked = next((details[name] for name in details if name in _ASKED), "")
    answered = next((details[name] for name in details if name in _ANSWERED), "")
    if asked or answered:
        yield asked, answered


def prompt_in(title: str, *, is_answered: bool = False) -> str:
    """
    Return the prompt in the *title* of an activity; empty for an activity of another kind.

    In other languages the verb ends with a no-break space, and what was answered is a prompt.
    """
    for verb in _VERBS:
        if title.startswith((f"{verb} ", f"{verb}\xa0")):
            return title[len(verb) + 1 :]
    verb, _, prompt = title.partition("\xa0")
    return prompt if is_answered and len(verb) <= LONGEST_VERB else ""


def _shown(one: dict[str, Any]) -> str:
    return "\n\n".join(_plain(text_in(item.get("html"))) for item in dicts_in(one.get("safeHtmlItem")))


class HtmlText(HTMLParser):
    """Reader of the text in HTML."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self._parts.append("\n- " if tag == "li" else "\n")

    def handle_data(self, data: str) -> None:
        self._parts.append(data)

    def taken(self) -> str:
        """Return the text since the last call, without empty lines."""
        lines = (line.strip() for line in "".join(self._parts).split("\n"))
        self._parts = []
        return "\n".join(line for line in lines if line)


def _plain(html: str) -> str:
    reader = HtmlText()
    reader.feed(html)
    reader.close()
    return reader.taken()


def _studio(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    for member in members:
        for number, one in enumerate(objects_in(member)):
            chunks = dicts_in(object_in(one.get("chunkedPrompt")).get("chunks"))
            name = text_in(one.get("id")) or f"{member.place}#{number}"
            said = [_chunk(chunk, at) for at, chunk in enumerate(chunks)]
            started = time_in(one.get("create_time"))
            yield ImportedConversation(SOURCE, name, text_in(one.get("title")), said, started)


def _chunk(chunk: dict[str, Any], number: int) -> ImportedMessage:
    parts = [part for part in dicts_in(chunk.get("parts")) if not part.get("thought")]
    text = "".join(text_in(part.get("text")) for part in parts) or text_in(chunk.get("text"))
    role = Speaker.USER if chunk.get("role") == "user" else Speaker.ASSISTANT
    return ImportedMessage(
        str(number), "" if chunk.get("isThought") else text, time_in(chunk.get("createTime")), role
    )


def _is_activity(shape: Shape) -> bool:
    return shape.values.get("header") in _HEADERS


def _is_studio(shape: Shape) -> bool:
    return shape.has("chunkedPrompt")


FORMATS = (Format(SOURCE, _is_activity, _activity), Format(SOURCE, _is_studio, _studio))
