"""Blocks of a briefing within a token budget: selection of notes, lines that name a file, the profile of the user."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple
from unicodedata import normalize

from rapidfuzz.distance import Levenshtein

from clawmem.domain.capture.cues import LIST_MARK, Kind, kind_of, sentences, spoken_text
from clawmem.domain.documents.times import DAY_MS, parse_iso
from clawmem.domain.retrieval.versions import CHANGE
from clawmem.domain.security.quoting import safe
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import CHARACTERS_A_TOKEN, token_count, words, written_words
from clawmem.ports.sessions import Speaker

ELLIPSIS = "…"

TITLE_CHARS = 80  # of a title made of a text
WORTH_CUTTING = 20  # tokens; in less remaining room a cut line is not useful


def packed(lines: Iterable[str], budget: int) -> list[str]:
    """Return the first *lines* that fit into *budget* tokens, the last of them cut after a word if necessary."""
    fitting: list[str] = []
    for line in lines:
        if token_count("\n".join([*fitting, line])) > budget:
            room = budget - token_count("\n".join([*fitting, ""]))
            return (
                [*fitting, shortened(line, room * CHARACTERS_A_TOKEN)] if room >= WORTH_CUTTING else fitting
            )
        fitting.append(line)
    return fitting


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, and how many more there are, such as ``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def shortened(line: str, most: int) -> str:
    """
    Return *line* with at most *most* characters: a longer one is cut after a word and ends with an ellipsis.

    A line without blanks is cut at any character.
    """
    if len(line) <= most:
        return line
    room = most - len(ELLIPSIS)
    whole_words = line[: room + 1].rpartition(" ")[0]
    return (whole_words or line[:room]) + ELLIPSIS


def section(heading: str, lines: Iterable[str], budget: int) -> str:
    """Return *lines* under *heading* within *budget* tokens, heading included; empty if no line fits."""
    whole = packed([heading, *lines], budget)
    return "\n".join(whole) if len(whole) > 1 else ""


def block(tag: str, introduction: str, sections: Iterable[str], budget: int) -> str:
    """
    Return *sections* as one XML element, separated by blank lines; empty if there are none or none fits.

    The introduction is never cut. Sections that exceed the budget are cut from the end.
    """
    parts = [part for part in sections if part]
    if not parts:
        return ""
    shell = f"<{tag}>\n{introduction}\n\n\n</{tag}>"
    lines = packed("\n\n".join(parts).split("\n"), budget - token_count(shell))
    return "\n".join([f"<{tag}>", introduction, "", *lines, f"</{tag}>"]) if lines else ""


# -- selection ------------------------------------------------------------------------------------------

RECENT_DAYS = 7  # age up to which a decision counts as current
STALE_DAYS = 30  # idle time after which a note is due for review


def is_stale(*, review_by: str | None, today: str, idle_days: float) -> bool:
    """
    Whether a note is due for review: its review day has passed or, without one, it was idle for over 30 days.

    Args:
        idle_days: As by `clawmem.domain.lifecycle.policy.idle_days`.
        review_by: An ISO 8601 day or time. The note is not yet due on that day.
        today: The current day, ``YYYY-MM-DD``.
    """
    if review_by:
        return review_by[: len(today)] < today
    return idle_days > STALE_DAYS


# Base names that occur in every project and therefore identify no file on their own.
EVERYWHERE = frozenset(
    "__init__ __main__ app base changelog common config conftest constants dockerfile errors index license main "
    "makefile mod models package readme routes schema settings setup styles tests types util utils views".split()
)
MOST_FILES = 3
_SUFFIX = re.compile(r"\w\.[A-Za-z]\w{0,9}$")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w.@+~-]*(?:[/\\]+[\w.@+~-]+)*")


def file_name(path: str) -> str:
    """Return the base name of *path* in its own spelling, for any operating system; empty for a folder path."""
    return path.replace("\\", "/").rpartition("/")[2]


def names_file(line: str, path: str) -> bool:
    """
    Whether *line* names the file at *path*, an absolute or relative path of any operating system.

    A path in the line matches if it is a suffix of *path*, folder by folder, or the reverse, ignoring case. A bare
    name matches unless it is common to all projects (``index.ts``, ``README.md``). A line with more than three
    file names is a listing and matches none of them.
    """
    touched = _parts(path)
    paths = [match[0] for match in _PATH.finditer(line) if match[0]]
    if not touched or sum(map(bool, map(_SUFFIX.search, paths))) > MOST_FILES:
        return False
    is_common = len(touched) > 1 and touched[-1].partition(".")[0] in EVERYWHERE
    for named in map(_parts, paths):
        shared = min(len(named), len(touched))
        if shared > is_common and named[-shared:] == touched[-shared:]:
            return True
    return False


def _parts(path: str) -> list[str]:
    plain = path.lower().replace("\\", "/").rstrip(".")
    return [part for part in plain.split("/") if part not in ("", ".", "..") and not part.endswith(":")]


DECISIONS = 20  # documents that the profile is built from; as many preferences
MOST_ITEMS = 10  # with the facts, within the 800 tokens that a session gets
LONGEST = 200  # characters of a fact
NEAR = 5  # edit distance below which two facts are duplicates; less for those below 40 characters
LEAST_BESIDE_LINK = 3  # words of a sentence with a link that states something itself
_STOPS = (".", "!", "。")
_LINK = re.compile(r"!?\[\[[^\[\]\n]*\]\]|!?\[[^\[\]\n]*\]\([^()\n]*\)")


class ProfileLine(NamedTuple):
    """A statement of the profile with the path and the day of its note."""

    text: str
    path: str
    day: str

    def __str__(self) -> str:
        """Return the printed line; the day is left out where the path names it."""
        origin = self.path if self.day in self.path else f"{self.path}, {self.day}"
        return f"- {self.text} ({origin})"


def fact_of(title: str, body: str) -> str:
    """
    Return the title of a note and what it states, at most 200 characters; what begins the other of them is left out.

    The statement is the last sentence of the first paragraph that the cues of capture mark, else its first two sentences,
    because a sentence may take back the one before; then the last later sentence that says that something changed, with the
    one after it. Sentences have a full stop and more than a reference to another note ("This replaces [...]."); of an item
    of a list that ends without one, only those count that a cue or a change marks. Headings, quotations, code and tables
    are none.
    """
    paragraphs = re.sub(r"(?m)^#{1,6}\s.*$", "", spoken_text(body)).split("\n\n")
    stated, *later = [*filter(None, map(_statements, paragraphs))] or [[]]
    marked = [*filter(_is_marked, stated)]
    shown = marked[-1:] or stated[:2]
    after = stated[stated.index(shown[-1]) + 1 :] if shown else []
    title_words, shown_words = words(title), words(" ".join(shown))
    if title_words == shown_words[: len(title_words)]:
        title = ""
    elif shown_words == title_words[: len(shown_words)]:
        shown = []
    changes = [
        text[n : n + 2] for text in (after, *later) for n, sentence in enumerate(text) if _is_change(sentence)
    ]
    change = changes[-1] if changes else []
    whole = " ".join([*shown, *change])
    statement = whole if len(title) + len(whole) < LONGEST - 1 else " ".join(change or shown)
    return shortened(": ".join(filter(None, (title.strip(), statement))), LONGEST)


def _statements(paragraph: str) -> list[str]:
    """Return the sentences of *paragraph* that state something, see `fact_of`."""
    statements = list[str]()
    for number, part in enumerate(LIST_MARK.split(paragraph)):  # the text above a list, and its items
        is_fragment = number > 0 and not part.rstrip().endswith(_STOPS)
        for sentence in sentences(part):
            rest = _LINK.sub("", sentence)
            is_whole = (
                _is_marked(sentence) or _is_change(sentence) if is_fragment else sentence.endswith(_STOPS)
            )
            if is_whole and (rest == sentence or len(words(rest)) >= LEAST_BESIDE_LINK):
                statements.append(sentence)
    return statements


def _is_marked(sentence: str) -> bool:
    return kind_of(sentence, Speaker.USER) in (Kind.DECISION, Kind.PREFERENCE)


def _is_change(sentence: str) -> bool:
    is_addition = words(sentence)[:1] in (["update"], ["edit"], ["nachtrag"])
    return is_addition or CHANGE.search(sentence) is not None


def listing(heading: str, lines: Sequence[ProfileLine], most: int, budget: int) -> str:
    """Return up to *most* different lines under *heading* within *budget* tokens; empty without any."""
    texts: list[str] = []  # in lower case
    printed: list[str] = []
    for line in lines:
        text = line.text.lower()
        near = min(NEAR, 1 + len(text) // 10)
        if len(texts) < most and all(Levenshtein.distance(text, other) >= near for other in texts):
            texts.append(text)
            if token_count("\n".join([heading, *printed, str(line)])) <= budget:
                printed.append(str(line))
    return "\n\n".join([heading, "\n".join(printed)]) if printed else ""


SHORTEST = 4  # letters of a significant word
LEAST, MOST = 3, 20  # texts with a phrase; phrases returned
# The lines of captured and imported notes that state who said it, where and in answer to what.
_PROVENANCE = re.compile(r"^In answer to: .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sequence of words and the number of texts that contain it."""

    text: str
    times: int


def repeated_phrases(texts: Iterable[str]) -> list[Phrase]:
    """
    Return up to twenty phrases of two or three words that three *texts* or more contain, most frequent first.

    A text counts once, because the note of a sentence has it as title, heading and quotation. Words of up to three
    letters, stop words and the origin of a sentence are skipped. Phrases of equal frequency are sorted by number of
    words descending, then alphabetically.
    """
    counts = Counter[tuple[str, ...]]()
    for text in texts:
        phrases = set[tuple[str, ...]]()
        for paragraph in _PROVENANCE.sub("", text).split("\n\n"):
            every = written_words(normalize("NFC", paragraph.lower()))
            row = [word for word in every if len(word) >= SHORTEST and word not in STOP_WORDS]
            for length in (2, 3):
                phrases.update(tuple(row[at : at + length]) for at in range(len(row) - length + 1))
        counts.update(phrases)
    often = [(phrase, count) for phrase, count in counts.items() if count >= LEAST]
    often.sort(key=lambda entry: (-entry[1], -len(entry[0]), entry[0]))
    return [Phrase(" ".join(phrase), count) for phrase, count in islice(often, MOST)]


def curation_note(report: str, now_ms: int, *, pending: int, documents: int) -> str:
    """
    Return the block ``<vault-curator>`` within 200 tokens; empty when there is nothing to say.

    Args:
        report: The curator's report as JSON.
        pending: Number of texts without a vector.
        documents: Number of served documents.
    """
    try:
        made_at, actions = map(json.loads(report).get, ("timestamp", "actions"))
    except (ValueError, AttributeError):
        return ""
    lines: list[str] = []
    if pending > 0.2 * documents:
        lines.append(
            f"{pending} texts have no vector yet, so only words find them: clawmem embed makes them."
        )
    made_ms = parse_iso(str(made_at))
    if made_ms is None or now_ms - made_ms > 7 * DAY_MS:
        lines.append("The last report on the memory is more than a week old; its advice may be outdated.")
    elif isinstance(actions, list):
        lines += [" ".join(str(action).split()) for action in actions]
    text = "\n".join(f"- {safe(line)}" for line in lines)
    return block("vault-curator", "State of the memory itself:", [text], 200)
