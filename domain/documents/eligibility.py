"""Rules for files that are indexed: excluded paths, glob patterns, and names of collections."""

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
MAX_ALTERNATIVES = 1000  # ten groups of two already make 1024
UNNAMED = "notes"  # for a folder whose name contains no character allowed in a collection name

COLLECTION_NAME = re.compile(r"[\w-]+")
INVALID_RUN = re.compile(r"[^\w-]+")

Matcher = Callable[[str], bool]
Segment = re.Pattern[str] | None  # None is `**`: any number of folders
NOTHING = re.compile(r"(?!)")  # replaces the segments after the end of a pattern


def is_excluded(path: str) -> bool:
    """
    Whether a relative path with ``/`` is excluded from indexing.

    It is if a segment is listed in `EXCLUDED` (case-sensitive) or starts with a dot. The single dot of ``./notes``
    is ignored.
    """
    return any(_is_excluded_name(name) for name in path.split("/"))


def expand_braces(pattern: str) -> tuple[str, ...]:
    """
    Return all expansions of the ``{a,b}`` groups in *pattern*, in order of writing, each once.

    Groups may follow one another, nest, and contain an empty or a single alternative: ``{md}`` is ``md``. An
    unbalanced brace is an ordinary character, and so is a comma outside all groups.

    Raises:
        InvalidInput: ``INPUT_TOO_LONG`` above 1000 characters, ``OUT_OF_BOUNDS`` above 1000 alternatives.
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise InvalidInput(
            "INPUT_TOO_LONG",
            f"The pattern has {len(pattern)} characters; at most {MAX_PATTERN_LENGTH} are allowed.",
        )
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise InvalidInput(
                "OUT_OF_BOUNDS",
                f"The pattern expands to more than {MAX_ALTERNATIVES} patterns. Use fewer {{a,b}} groups.",
            )
        current = waiting.pop()
        group = _first_group(current)
        if group is None:
            done.append(current)
        else:
            waiting.extend(reversed([*_without_group(current, *group)]))
    return tuple(dict.fromkeys(done))


def check_pattern(pattern: str) -> None:
    """
    Check a pattern that a person has typed for a collection.

    Raises:
        InvalidInput: It is empty or has a bracket that is never closed, so it matches nothing that is meant; or as
            `expand_braces`.
    """
    if not pattern.strip():
        raise InvalidInput("INVALID_PATTERN", "The pattern is empty. Give a glob such as '**/*.md'.")
    for one in expand_braces(pattern):
        if any(_has_open_bracket(part) for part in one.split("/")):
            raise InvalidInput(
                "INVALID_PATTERN",
                f"The pattern {pattern!r} has a [ without its ]. Close it, as in '[ab]*.md', or write [[] for the "
                "character [ itself.",
            )


def compile_pattern(pattern: str) -> Matcher:
    """
    Return a test of relative paths with ``/`` against a glob; a path matches if any expansion of it does.

    ``*`` is any run of characters within one segment and ``?`` exactly one. ``[ab]``, ``[a-z]`` and ``[!a]`` are one
    character of a set; a bracket that is never closed is an ordinary character. A whole segment ``**`` is zero or more
    folders, at the end one or more segments: ``docs/**`` is everything below ``docs``. Matching is case-sensitive, a
    leading dot is not special, and a leading ``./`` of the pattern is dropped. No pattern takes exponential time.

    Raises:
        InvalidInput: As `expand_braces`.
    """
    globs = [compile_glob(one) for one in expand_braces(pattern)]
    return lambda path: any(matches(path) for matches in globs)


def compile_glob(glob: str) -> Matcher:
    """Return a test of relative paths against *glob*, as `compile_pattern` without braces."""
    segments = _segments(glob)
    return lambda path: _matches(segments, path.split("/"))


def is_collection_name(text: str) -> bool:
    """Whether *text* is a valid collection name: one or more letters and digits of any script, ``-`` and ``_``."""
    return COLLECTION_NAME.fullmatch(text) is not None


def collection_name(folder_name: str) -> str:
    """
    Return the name of a collection for its folder: lower case, each run of other characters replaced by ``-``.

    The name is composed to Unicode NFC first, so that it is the same on every system. Hyphens at either end are
    dropped. The result always passes `is_collection_name`; it is ``notes`` if no character is left.
    """
    composed = unicodedata.normalize("NFC", folder_name.lower())
    return INVALID_RUN.sub("-", composed).strip("-") or UNNAMED


def _has_open_bracket(segment: str) -> bool:
    place = 0
    while (opening := segment.find("[", place)) >= 0:
        first = opening + (2 if segment.startswith("!", opening + 1) else 1)
        closing = segment.find("]", first + 1 if segment.startswith("]", first) else first)
        if closing < 0:
            return True
        place = closing + 1
    return False


def _is_excluded_name(name: str) -> bool:
    return name in EXCLUDED or (name.startswith(".") and name != ".")


def _first_group(pattern: str) -> tuple[int, int] | None:
    """Return the positions of the leftmost balanced brace and its partner."""
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
    """Split at the commas outside of inner groups; braces are balanced inside a group."""
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
    """Whether a path matches a glob. Backtracks to the last ``**`` only, so the time is never exponential."""
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
