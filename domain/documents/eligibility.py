from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate

from clawmem.ports.errors import InvalidInput

EXCLUDED = frozenset(
    {
        "_PRIVATE",
        ".clawmem",
        ".git",
        ".obsidian",
        ".logseq",
        ".foam",
        ".dendron",
        ".trash",
        ".stversions",
        "node_modules",
        ".cache",
        "vendor",
        "dist",
        "build",
        "gits",
        "scraped",
    }
)

MAX_PATTERN_LENGTH = 1000  # characters, as for a path
MAX_ALTERNATIVES = 1000  # ten groups of two already make 1024; nobody writes that on purpose
UNNAMED = "notes"  # for a folder whose name has nothing a collection name may hold

COLLECTION_NAME = re.compile(r"[\w-]+")
INVALID_RUN = re.compile(r"[^\w-]+")

Matcher = Callable[[str], bool]
Segment = re.Pattern[str] | None  # None is `**`: any number of folders
NOTHING = re.compile(r"(?!)")  # what a pattern already used up still matches


def is_excluded(path: str) -> bool:
    """
    Whether a relative path with ``/`` lies in, or is, something never read.

    That is any segment of it that is listed in `EXCLUDED`, to the letter, or starts with a dot; the lone
    dot of ``./notes`` says nothing and is passed over.
    """
    return any(_is_excluded_name(name) for name in path.split("/"))


def expand_braces(pattern: str) -> tuple[str, ...]:
    """
    All patterns that ``{a,b}`` groups stand for, in the order written, each once.

    Groups may follow one another, nest, hold an empty alternative, or hold a single one: ``{md}`` is ``md``.
    A brace without its partner is an ordinary character, as is a comma outside of every group.

    Raises:
        InvalidInput: ``INPUT_TOO_LONG`` above 1000 characters, ``OUT_OF_BOUNDS`` above 1000 alternatives.
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise InvalidInput(
            "INPUT_TOO_LONG",
            f"The pattern has {len(pattern)} characters; at most {MAX_PATTERN_LENGTH} are read.",
        )
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise InvalidInput(
                "OUT_OF_BOUNDS",
                f"The pattern stands for more than {MAX_ALTERNATIVES} patterns. Use fewer {{a,b}} groups.",
            )
        current = waiting.pop()
        group = _first_group(current)
        if group is None:
            done.append(current)
        else:
            waiting.extend(reversed([*_without_group(current, *group)]))
    return tuple(dict.fromkeys(done))


def compile_pattern(pattern: str) -> Matcher:
    """
    A test of relative paths with ``/`` against a glob; a path matches when any alternative of it does.

    ``*`` is any run of characters within one segment and ``?`` exactly one; ``[ab]``, ``[a-z]`` and
    ``[!a]`` are one of a set, and a bracket never closed is an ordinary character. A whole segment ``**``
    is zero or more folders, at the end one or more segments: ``docs/**`` is all below ``docs``. Case
    counts, a leading dot is not special, a leading ``./`` of the pattern is dropped. No pattern
    takes exponential time.

    Raises:
        InvalidInput: As `expand_braces`.
    """
    globs = [_segments(one) for one in expand_braces(pattern)]

    def matches(path: str) -> bool:
        """Whether one of the alternatives names *path*."""
        names = path.split("/")
        return any(_matches(glob, names) for glob in globs)

    return matches


def is_collection_name(text: str) -> bool:
    """Whether *text* may name a collection: one or more letters and digits of any script, ``-`` and ``_``."""
    return COLLECTION_NAME.fullmatch(text) is not None


def collection_name(folder_name: str) -> str:
    """
    The name a collection gets from its folder: lower case, each run of other characters turned into ``-``.

    Composed to Unicode NFC first, so that one folder has one name on every system. Hyphens at either end
    are dropped. Always passes `is_collection_name`; ``notes`` when nothing is left.
    """
    composed = unicodedata.normalize("NFC", folder_name.lower())
    return INVALID_RUN.sub("-", composed).strip("-") or UNNAMED


def _is_excluded_name(name: str) -> bool:
    return name in EXCLUDED or (name.startswith(".") and name != ".")


def _first_group(pattern: str) -> tuple[int, int] | None:
    """Where the leftmost brace with a partner is, and the partner."""
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for at, char in enumerate(pattern):
        if char == "{":
            opened.append(at)
        elif char == "}" and opened:
            pairs.append((opened.pop(), at))
    return min(pairs, default=None)


def _without_group(pattern: str, start: int, end: int) -> Iterator[str]:
    for alternative in _alternatives(pattern[start + 1 : end]):
        yield pattern[:start] + alternative + pattern[end + 1 :]


def _alternatives(inside: str) -> Iterator[str]:
    """Split at the commas that no inner group holds; braces are balanced inside a group."""
    depth = begin = 0
    for at, char in enumerate(inside):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            yield inside[begin:at]
            begin = at + 1
    yield inside[begin:]


def _segments(glob: str) -> list[Segment]:
    parts = glob.removeprefix("./").split("/")
    if parts[-1] == "**":
        parts.append("*")
    return [None if part == "**" else re.compile(translate(part)) for part in parts]


def _matches(glob: Sequence[Segment], names: Sequence[str]) -> bool:
    """Wildcard matching that only ever goes back to the last ``**``, hence never exponential."""
    at = name_at = 0
    star, star_name = -1, 0
    while name_at < len(names):
        segment = glob[at] if at < len(glob) else NOTHING
        if segment is None:
            star, star_name = at, name_at
            at += 1
        elif segment.match(names[name_at]):
            at, name_at = at + 1, name_at + 1
        elif star >= 0:
            star_name += 1
            at, name_at = star + 1, star_name
        else:
            return False
    return all(segment is None for segment in glob[at:])
