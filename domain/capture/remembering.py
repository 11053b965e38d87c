"""Form of a note that a person or an agent saves: its checks, its title, its file name and its front matter."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, count

from clawmem.domain.briefing.blocks import TITLE_CHARS, shortened
from clawmem.domain.capture.cues import Kind, kind_of, sentences
from clawmem.domain.documents.frontmatter import content_type
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.retrieval.versions import CHANGE, CORRECTION, SHARED_WITH_CHANGE, replaced_numbers
from clawmem.domain.text.likeness import has_words
from clawmem.domain.text.vocabulary import denies
from clawmem.domain.text.words import slug, words
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import one_line
from clawmem.ports.sessions import Speaker

FOLDER = "_clawmem"  # of a collection, without the setting `inbox`
MOST_CHARACTERS = 100_000  # of a text
_NAME_CHARS = 40  # of the words of a file name, at most four bytes each; file systems allow 255 bytes
_NUMBER = re.compile(r"[+(]{0,2}\d[\d\s()/.-]{4,}\d")  # of a telephone, an account or a card
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")  # not tabs, line ends, marks of direction


def corrected_topic(text: str) -> Sequence[str]:
    """Return the words that a correction is about; none if *text* neither begins as one nor says that something changed."""
    about = CORRECTION.sub("", text)
    changes = [words(match[0]) for match in CHANGE.finditer(about)]
    markers = {word for change in changes for word in (change[0], change[-1])}  # "kein Yoga mehr": Yoga
    return [word for word in content_words(about) if word not in markers] if changes or about != text else ()


def _denials(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield for each clause of *text* that denies something the words after its negation, and those before."""
    for clause in map(words, re.split(r"[^\w\s'’/-]", text)):
        for at in [n for n, word in enumerate(clause) if word in ("instead", "statt") or denies(word)][:1]:
            yield clause[at + 1 :], clause[:at]


def corrects(text: str, line: str) -> float:
    """
    Return how many words of what *text* corrects a *line* has, and more for a number or a name that does not hold.

    It is 0 if it has fewer than three, and than half of those; new numbers do not count. Of a clause that denies, the
    words next after the negation count most, and those before it least: "Knoll" of "not from Knoll" and of "Lenz instead
    of Knoll". A line that denies them too is none that holds.
    """
    replaced = replaced_numbers(text)
    topic = [word for word in corrected_topic(text) if word in replaced or not word.isdecimal()]
    shared, named = sum(has_words(topic, line)), len(topic) - len(replaced.intersection(topic))
    if shared < max(1, min(SHARED_WITH_CHANGE, (named + 1) // 2)):
        return 0
    holding = {*topic} - {word for near, _ in _denials(line) for word in near}
    denied = [word for near, far in _denials(text) for word in (*near, *far) if word in holding]
    weight = sum(has / place for place, has in enumerate(has_words(denied, line), 1))
    return shared + weight + (0 if replaced.isdisjoint(words(line)) else len(topic))


def checked_text(text: str) -> str:
    """Return *text* with line feeds, without blank lines around it; raise `InvalidInput` if blank, too long or binary."""
    text = text.replace("\r\n", "\n").strip("\n").rstrip()
    if not text.strip():
        raise InvalidInput("INVALID_INPUT", "The text is empty. Write what there is to remember.")
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(
            "INPUT_TOO_LONG",
            f"The text has {len(text)} characters; a note may have {MOST_CHARACTERS}. Save it as a file in a folder "
            "of yours and run: clawmem update",
        )
    if control := _CONTROL.search(text):
        message = f"The text has the control character U+{ord(control[0]):04X}. Remove it, and repeat."
        raise InvalidInput("INVALID_INPUT", message)
    return text


def checked_name(what: str, name: str) -> str:
    """Return *name*, such as a title or a tag, without blanks around it; raise `InvalidInput` if it is not one line of text."""
    name = name.strip()
    if not name or one_line(name) != name:
        message = f"The {what} is empty, or has a line break or a control character. Write it on one line."
        raise InvalidInput("INVALID_INPUT", message)
    return name


def title_of(text: str) -> str:
    """Return the first line of *text* with a word, without marks of Markdown, cut after a word at 80 characters."""
    line = next((line.strip() for line in text.splitlines() if re.search(r"\w", line)), text)
    line = re.sub(r"\A(?:#{1,6}|[-*+>]|\d+[.)]|title:)\s+", "", line)  # of a heading, a list, or front matter
    return shortened(" ".join(line.split()), TITLE_CHARS)


def file_names(title: str, day: str) -> Iterator[str]:
    """
    Yield file names for a note, ``<day>-<words of the title>.md`` and then numbered ones.

    The title becomes a `slug` without long numbers, which can name no other folder, hidden file or device.
    """
    words = slug(_NUMBER.sub(" ", title))
    if len(words) > _NAME_CHARS:
        words = words[:_NAME_CHARS].rpartition("-")[0] or words[:_NAME_CHARS]
    stem = f"{day}-{words.strip('-_') or 'note'}"
    return chain([f"{stem}.md"], (f"{stem}-{number}.md" for number in count(2)))


def note_text(
    text: str,
    title: str,
    tags: Sequence[str],
    created: datetime,
    supersedes: str | None,
    properties: Mapping[str, str],
) -> str:
    """
    Return the content of the file of a note: front matter with double-quoted values, and *text*.

    *properties* are added: the subject of prompts that bring a reminder back and its last day, or the type of the note.
    Without it, a word of the title, such as "status", would give the file a type; only a decision has its own.
    """
    is_decision = any(kind_of(sentence, Speaker.USER) is Kind.DECISION for sentence in sentences(text))
    inferred = content_type(None, title)
    declared = None if inferred == "note" or (inferred == "decision" and is_decision) else "note"
    heading = text.splitlines()[0].lstrip("#").strip() if text.startswith("#") else ""
    fields = {
        "title": "" if heading == title else title,
        "tags": list(dict.fromkeys(tags)),
        "content_type": declared,
        "supersedes": supersedes,
        **properties,
    }
    # JSON is YAML. Dates are not quoted, so that programs read them as dates.
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value]
    return "\n".join(["---", *lines, f"created: {created.isoformat('T', 'seconds')}", "---", "", text, ""])


def with_supersession(content: str, superseded: str) -> str | None:
    """Return the file of a note with *superseded* in its front matter; ``None`` if that is not as `note_text` writes it."""
    lines, key = content.split("\n"), "supersedes: "
    if lines[0] != "---" or "---" not in lines[1:]:
        return None
    end = lines.index("---", 1)
    place = next((n for n in range(1, end) if lines[n].startswith(key.rstrip())), end)
    try:
        value = json.loads(lines[place].removeprefix(key)) if place < end else []
    except ValueError:
        return None
    paths = dict.fromkeys([*(value if isinstance(value, list) else [value]), superseded])
    lines[place : min(place + 1, end)] = [key + json.dumps([*paths], ensure_ascii=False)]
    return "\n".join(lines)
