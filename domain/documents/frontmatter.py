"""Front matter: its separation from the body, the facts a document declares in it, and its content type."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.text.words import MARKS, words
from clawmem.domain.text.written_dates import date_rank, written_time

# A ruler above a text opens no front matter.
_UNCLOSED = re.compile(rf"(?:---[ \t]*\r?\n[^\W\d][\w{MARKS} -]*:|\+\+\+[ \t]*\r?\n[\w-]+[ \t]*=)(?:\s|\Z)")
FENCE = "+++\n"
_RULER = re.compile(r"(?m)^(?:---(?:yaml|json)?|\.\.\.|(?P<toml>\+\+\+)|(?P<json>[{}]))[ \t]*\r?(?:\n|\Z)")
_LINKS = re.compile(r"!?\[\[[^\[\]]+\]\]")

# Capture writes observations; they are never inferred from a path.
TYPES = tuple(
    """
    decision deductive preference note handoff conversation progress research hub antipattern project milestone
    problem observation
    """.split()
)

# The first matching rule wins: a map of decisions is a hub. A handover or a chat in the name of a file is a subject; only a
# folder of them has notes of these types.
OF_FOLDERS = frozenset({"handoff", "conversation"})
RULES = {
    "hub": "hub hubs moc mocs",
    "decision": "decision decisions adr adrs",
    "research": "research investigation investigations analysis analyses",
    "project": "project projects epic epics initiative initiatives",
    "handoff": "handoff handoffs handover handovers",
    "conversation": "conversation conversations convo convos chat chats transcript transcripts",
    "progress": "progress status statuses standup standups changelog changelogs",
}

# With YAML aliases a few lines can expand to a billion values or refer to themselves; real lists are far shorter.
MAX_VALUES = 1000


class FrontMatter(NamedTuple):
    """
    A source split into raw YAML without its fences, JSON, or TOML below `FENCE`, the body, and its first line, from 1.

    ``is_unclosed`` is whether the body begins with front matter that has no end.
    """

    text: str
    body: str
    body_line: int
    is_unclosed: bool = False


class Facts(NamedTuple):
    """
    Facts that a document declares in its front matter; ``None`` and ``()`` mean absent or unusable.

    ``date`` is the ISO text as declared, always accepted by `times.parse_iso`. ``extra`` contains every key in
    order with a printable value, including keys that have a field. ``confidence`` is in [0, 1]. ``supersedes`` and
    ``superseded_by`` contain addresses of notes as written. ``faults`` tell which values of known keys were ignored.
    """

    title: str | None = None
    date: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    domain: str | None = None
    workstream: str | None = None
    content_type: str | None = None
    review_by: str | None = None
    pinned: bool = False
    confidence: float | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()


def split(source: str) -> FrontMatter:
    """
    Split the YAML block from the start of *source*, or the TOML or JSON of Hugo: between lines ``+++``, or ``{`` and ``}``.

    The block starts on line 1 with ``---`` and ends with the next line that is ``---`` or ``...``, without a blank before
    it. Without both, all of *source* is body. A byte order mark is dropped; all else is preserved, line ends too.
    """
    source = source.removeprefix("\ufeff")
    opening = _RULER.match(source)
    rulers = _RULER.finditer(source, opening.end()) if opening and source[0] not in ".}" else ()
    closing = next((ruler for ruler in rulers if opening and ruler.lastgroup == opening.lastgroup), None)
    # JSON with no text below is a file of data.
    if opening is None or closing is None or (opening["json"] and not source[closing.end() :].strip()):
        return FrontMatter("", source, 1, is_unclosed=bool(_UNCLOSED.match(source)))
    text = source[opening.end() : closing.start()]
    whole = {"toml": f"{FENCE}{text}", "json": f"{{{text}}}"}.get(opening.lastgroup or "", text)
    return FrontMatter(whole, source[closing.end() :], text.count("\n") + 3)


def facts(raw: Mapping[str, object]) -> Facts:
    """
    Read parsed YAML leniently: a value of the wrong type counts as absent, and nothing raises.

    Case does not count in keys, and ``reviewBy``, ``review by`` and ``review-by`` are ``review_by``. ``type`` is read as
    the content type where it names one of `TYPES` and there is no ``content_type``.

    A title and a content type must be strings. A date is what `written_dates.written_time` accepts, of the first key
    that `written_dates.date_rank` knows. Tags and aliases are a list or a comma-separated string, tags also a string with
    blanks; duplicates count once. Addresses of notes are a string or a list of strings. Only ``true`` pins. Scalars are
    printed the YAML way (``true``), lists joined by ``", "``, mappings as their values. At most 1000 values are read.
    """
    if not raw:
        return Facts()
    known: dict[str, object] = {}
    for key, value in raw.items():
        known.setdefault(re.sub(r"[ -]|(?<=[a-z])(?=[A-Z])", "_", key.strip(" :")).casefold(), value)
    known.pop("data", None)  # a date in texts alone
    dates: dict[str, str | None] = {}
    dated = (key for key, value in known.items() if date_rank(key) >= 0 and not isinstance(value, bool))
    for key in sorted(dated, key=date_rank):
        text = next(iter(values(known[key])), "")
        time = written_time(text)
        dates[key] = None if time is None else iso_utc(time) if parse_iso(text) is None else text
    confidence = None
    with suppress(ValueError):
        number = float(_scalar(known.get("confidence")) or "nan")
        confidence = number if 0 <= number <= 1 else None
    faults = {key: "is no date; write it as YYYY-MM-DD" for key, date in dates.items() if date is None}
    faults |= {"confidence": "is no number from 0 to 1"} if confidence is None else {}
    faults |= {} if isinstance(known.get("pinned"), bool) else {"pinned": "is neither true nor false"}
    texts = {key: _printable(known.get(key))[:60] for key in faults}
    type_name = (_string(known.get("type")) or "").lower()
    return Facts(
        title=_string(known.get("title")),
        date=next(filter(None, dates.values()), None),
        tags=tuple(dict.fromkeys((*_tags(known.get("tags")), *_tags(known.get("tag"))))),
        aliases=tuple(dict.fromkeys((*_words(known.get("aliases")), *_words(known.get("alias"))))),
        domain=_printable(known.get("domain")) or None,
        workstream=_printable(known.get("workstream")) or None,
        content_type=_string(known.get("content_type")) or (type_name if type_name in TYPES else None),
        review_by=_printable(known.get("review_by")) or None,
        pinned=known.get("pinned") is True,
        confidence=confidence,
        supersedes=_addresses(known.get("supersedes")),
        superseded_by=_addresses(known.get("superseded_by")),
        extra=tuple((_scalar(key), _printable(value)) for key, value in raw.items()),
        faults=tuple(f"{key}: {texts[key]} {fault}" for key, fault in faults.items() if texts[key]),
    )


def _string(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _words(value: object) -> tuple[str, ...]:
    names = (name.strip() for name in value.split(",")) if isinstance(value, str) else values(value)
    return tuple(dict.fromkeys(filter(None, names)))


def _tags(value: object) -> Iterator[str]:
    for word in value.split() if isinstance(value, str) and "," not in value else _words(value):
        yield from word.split() if word.startswith("#") else [word]


def _addresses(value: object) -> tuple[str, ...]:
    addresses = []
    for text in values(value):
        is_unquoted = text[:1] == "[" and text[-1:] == "]" and not set(text[1:-1]) & set("[]")
        addresses += _LINKS.findall(text) or [f"[{text}]" if is_unquoted else text]
    return tuple(dict.fromkeys(filter(None, addresses)))


def values(value: object) -> tuple[str, ...]:
    """Return the printable values of a key: of a list each one; at most 1000."""
    leaves, waiting = list[str](), [value]
    for _ in range(MAX_VALUES):
        if not waiting:
            break
        value = waiting.pop()
        if isinstance(value, Mapping):
            value = list(value.values())
        if isinstance(value, list | tuple):
            waiting.extend(reversed(value[:MAX_VALUES]))
        else:
            leaves.append(_scalar(value))
    return tuple(filter(None, leaves))


def _printable(value: object) -> str:
    return ", ".join(values(value))


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip() if isinstance(value, str | int | float) else ""


def content_type(declared: str | None, path: str) -> str:
    """
    Return the type of a document: *declared*, known or not, else one of `TYPES` by the words of *path*, or ``note``.

    A word is an unbroken run of letters and digits, compared without case: ``github`` does not contain ``hub``.
    The rules are tried in the order of `RULES`, those of `OF_FOLDERS` without the name of the file; a file called
    ``index.md``, or in a folder of that name, counts as a hub.
    """
    if declared and declared.strip():
        return declared.strip()
    *folders, file = path.lower().split("/")
    is_index = file == "index.md" or "index" in folders
    of_folders = set(words("/".join(folders)))
    of_path = {*of_folders, *words(file), *(["hub"] if is_index else [])}
    for name, listed in RULES.items():
        if {*listed.split()} & (of_folders if name in OF_FOLDERS else of_path):
            return name
    return "note"
