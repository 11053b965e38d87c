"""
Next steps named in a conversation, in English and German.

Three forms are recognised: a label with a text or list ("Next step: …", "## TODO"), an open check box, and a sentence
such as "The next step is to …". Code, quoted lines and tables are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from clawmem.domain.capture.preferences import ASKED, is_like
from clawmem.domain.capture.sentences import sentences, spoken_text
from clawmem.ports.sessions import Speaker, TranscriptMessage

MESSAGES = 20  # latest messages with a text; older next steps are assumed done or dropped
MOST_STEPS = 10
STEP_CHARS = 500
WRAPPED = 60  # characters; the line break after a longer line is assumed to be a soft wrap

_NAMES = (
    r"next (?:steps?|actions?|tasks?|up|session|time)|next|to[- ]?dos?(?: list)?|still (?:open|to do|missing|pending)|"
    r"(?:remaining|pending|outstanding|open|unfinished)(?: (?:work|steps?|tasks?|items?|points?|todos?|issues?|questions?))?|"
    r"left(?: to do)?|what(?:'s| is) (?:left|next|missing|still open)|follow[- ]?ups?|action items?|not (?:yet )?done(?: yet)?|"
    r"nächste[rsn]? (?:schritte?|aufgaben?|mal)|als nächstes|(?:noch )?(?:offen|ausstehend)|noch zu (?:tun|erledigen|klären)|"
    r"zu (?:tun|erledigen)|offene (?:punkte|aufgaben|fragen)|was (?:noch )?(?:fehlt|offen ist)|(?:es )?fehlt noch|bleibt(?: noch)? zu tun"
)
_DETAIL = r"(?: (?:for|in|on|after|before|from|für|im|am|nach|vor|today|tomorrow|now|heute|morgen)\b[^:.?!\n]{0,40})?(?: ?\([^)\n]{0,40}\))?"
_NAME = rf"[^\w\s(\[]*\s*(?:(?:the|my|our|your|mein|unser|die|der|das)e?s? )?(?:{_NAMES}){_DETAIL}"
_LABEL = re.compile(rf"\A{_NAME}\s*(?::|(?<=\s)[–—-](?=\s))\s*", re.IGNORECASE)
_HEADING = re.compile(rf"\A{_NAME}\s*:?", re.IGNORECASE)
_SEVERAL = re.compile(r"^\W*(?:the |my |our |die |unsere )?(?:next (?:steps|actions|tasks)|to[- ]?dos|remaining|open|outstanding|pending|still|left|"
                      r"what|noch|offen|nächste schritte|action|follow[- ]?ups)", re.IGNORECASE)  # fmt: skip
_NONE = re.compile(
    r"\W*+(?:none|nothing(?: (?:left|more|else|open))?|n/?a|nil|no(?: more)?|all (?:is )?done|done|keine[rs]?|nichts(?: mehr)?|tbd)?\W*",
    re.IGNORECASE,
)
_SAID = (
    r"^(?:the |our |my )?(?:next|remaining|last|only) (?:step|task|thing|point)s?\b.{0,40}? (?:is|are|will be|remains?)\b",
    r"^(?:so |then |and )?next,? (?:we|i|you)(?:'ll| will)? (?:need to|have to|must|should)\b",
    r"^(?:der|unser|mein) nächster schritt (?:ist|wäre|wird)\b|^als nächstes (?:muss|müssen|sollte|sollten|kommt|kommen|steht)\b",
    r"\b(?:is|are|remains?|was) (?:still )?(?:left )?to be (?:done|written|tested|migrated|implemented|deployed|wired)\b",
    r"\bstill (?:needs?|has|have) to be \w+|\b(?:muss|müssen) noch \w+.* werden\b",
)
_LIST_MARK = re.compile(r"\A[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_BOX = re.compile(r"\A[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]*)?\[(?P<tick>[ xX✓✔])\][ \t]+")
_HASHES = re.compile(r"\A[ \t]*#{1,6}[ \t]+")
_BOLD = re.compile(r"\*\*|__")
_BLANKS = re.compile(r"\s+")


class _Form(Enum):
    TEXT = "text"
    HEADING = "heading"
    ITEM = "item"
    OPEN_BOX = "open box"
    TICKED_BOX = "ticked box"
    BLANK = "blank"


class _Block(NamedTuple):
    form: _Form
    text: str


def remaining_steps(messages: Sequence[TranscriptMessage]) -> list[str]:
    """
    Return the next steps that are left at the end of a conversation, in order of mention.

    Only the last message of the assistant that names next steps counts: each list replaces the previous one. A step
    named by the user remains until a later message ticks its box. A sentence without a label only counts in the last
    message of its speaker.
    """
    recent = [message for message in messages if message.text][-MESSAGES:]
    last = {message.speaker: message.line for message in recent}
    found: dict[str, tuple[Speaker, str]] = {}
    for message in recent:
        named = list(next_steps(message.text, with_sentences=message.line == last[message.speaker]))
        if named and message.speaker is Speaker.ASSISTANT:
            found = {name: one for name, one in found.items() if one[0] is not Speaker.ASSISTANT}
        for ticked in map(flat, ticked_steps(message.text)):
            found.pop(ticked, None)
        found |= {flat(step): (message.speaker, step) for step in named if flat(step) not in found}
    return [step for _, step in found.values()][-MOST_STEPS:]


def next_steps(text: str, *, with_sentences: bool = True) -> Iterator[str]:
    """Yield the next steps in *text*, without their labels and cut to 500 characters each."""
    is_listed = is_awaited = False
    for form, said in _blocks(text):
        label = _LABEL.match(said)
        if form is _Form.HEADING or is_label(said):
            is_listed = is_awaited = bool(label or _HEADING.fullmatch(said))
        elif form is _Form.OPEN_BOX or (form is _Form.ITEM and is_listed and not label):
            is_awaited = False
            yield from _worth(said)
        elif form in (_Form.TEXT, _Form.ITEM):
            if is_awaited and not label:
                yield from _worth(*sentences(said))
                is_listed = False
            else:
                steps, is_listed = _within(said, with_sentences=with_sentences)
                yield from _worth(*steps)
            is_awaited = is_listed


def ticked_steps(text: str) -> list[str]:
    """Return the texts of the ticked check boxes in *text*."""
    return [said for form, said in _blocks(text) if form is _Form.TICKED_BOX]


def is_label(sentence: str) -> bool:
    """Whether *sentence* only announces next steps, such as "Still open:"."""
    label = _LABEL.match(sentence)
    return label is not None and label.end() == len(sentence)


def flat(text: str) -> str:
    """Return *text* in a form for comparing steps: lower case, no end marks or extra blanks."""
    return _BLANKS.sub(" ", text.lower()).strip(" .!;,")


def _within(said: str, *, with_sentences: bool) -> tuple[list[str], bool]:
    """Return the steps in the sentences of a paragraph, and whether a label at its end announces a list."""
    steps: list[str] = []
    is_open = False  # whether the last label announced several steps
    ends_with_label = False
    for sentence in sentences(said):
        label = _LABEL.match(sentence)
        ends_with_label = is_label(sentence)
        if label:
            steps.append(sentence[label.end() :])
            is_open = bool(_SEVERAL.match(label[0]))
        elif is_open or (with_sentences and is_like(_SAID, sentence) and not is_like(ASKED, sentence)):
            steps.append(sentence)
    return steps, ends_with_label


def _worth(*steps: str) -> Iterator[str]:
    for step in steps:
        if not _NONE.fullmatch(step):
            yield step[:STEP_CHARS].strip()


def _blocks(text: str) -> Iterator[_Block]:
    """Yield paragraphs, headings and list items, each on one line and without marks."""
    form, lines = _Form.BLANK, [""]
    for line in spoken_text(text).splitlines():
        after, said = _form_of(line)
        if after is _Form.TEXT and _goes_on(form, lines[-1], said):
            lines.append(said)
            continue
        if form is not _Form.BLANK:
            yield _Block(form, " ".join(lines))
        form, lines = after, [said]
    if form is not _Form.BLANK:
        yield _Block(form, " ".join(lines))


def _goes_on(form: _Form, before: str, said: str) -> bool:
    return form not in (_Form.BLANK, _Form.HEADING) and len(before) >= WRAPPED and not _LABEL.match(said)


def _form_of(line: str) -> tuple[_Form, str]:
    if not line.strip():
        return _Form.BLANK, ""
    for pattern, form in ((_BOX, _Form.OPEN_BOX), (_HASHES, _Form.HEADING), (_LIST_MARK, _Form.ITEM)):
        if mark := pattern.match(line):
            is_ticked = form is _Form.OPEN_BOX and mark["tick"] != " "
            return _Form.TICKED_BOX if is_ticked else form, _plain(line[mark.end() :])
    return _Form.TEXT, _plain(line)


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", _BOLD.sub("", text)).strip()
