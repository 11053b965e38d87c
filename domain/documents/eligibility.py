"""Rules of collections: names, excluded paths, glob patterns, and descriptions of folders."""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from fnmatch import translate

from clawmem.domain.text.words import MARKS
from clawmem.ports.errors import InvalidInput

EXCLUDED = frozenset(
    """
    _PRIVATE .clawmem .git .obsidian .logseq .foam .dendron .trash .stversions node_modules .cache vendor dist build
    bak version-files gits scraped
    """.split()
)

MAX_ALTERNATIVES = 1000  # ten groups of two already make 1024

_INVALID_RUN = re.compile(rf"[^\w{MARKS}-]+")
_GROUP = re.compile(r"\{([^{}]*)\}")  # the innermost one


def is_excluded(path: str, included: Collection[str] = ()) -> bool:
    """
    Whether a relative path with ``/`` is excluded from indexing.

    It is by a segment in `EXCLUDED`, or with a leading dot, unless that, the path to it, or a path below is *included*.
    """
    names, above = path.split("/"), f"{path}/"
    ways = [f"{to}/" for to in included if f"{to}/".startswith(above) or above.startswith(f"{to}/")]
    return any(
        (name in EXCLUDED or (name.startswith(".") and name != "."))
        and not (name in included or any(way.startswith("/".join((*names[:end], ""))) for way in ways))
        for end, name in enumerate(names, start=1)
    )


def expand_braces(pattern: str) -> tuple[str, ...]:
    """
    Return all expansions of the ``{a,b}`` groups in *pattern*, in order of writing, each once.

    Groups may follow one another, nest, and contain an empty or a single alternative: ``{md}`` is ``md``. An
    unbalanced brace is an ordinary character, and so is a comma outside all groups.

    Raises:
        InvalidInput: ``INPUT_TOO_LONG`` above 1000 characters, ``OUT_OF_BOUNDS`` above 1000 alternatives.
    """
    if len(pattern) > 1000:  # as for a path; more groups take quadratic time
        raise InvalidInput("INPUT_TOO_LONG", f"The pattern has {len(pattern)} characters. Use at most 1000.")
    patterns = {pattern: None}
    while any(map(_GROUP.search, patterns)):
        patterns = {
            f"{text[: group.start()]}{part}{text[group.end() :]}" if group else text: None
            for text in patterns
            for group in [_GROUP.search(text)]
            for part in (group[1].split(",") if group else ("",))
        }
        if len(patterns) > MAX_ALTERNATIVES:
            raise InvalidInput(
                "OUT_OF_BOUNDS",
                f"The pattern expands to more than {MAX_ALTERNATIVES} patterns. Use fewer {{a,b}} groups.",
            )
    return tuple(patterns)


def check_pattern(pattern: str) -> None:
    """
    Check a pattern that a person has typed for a collection.

    Raises:
        InvalidInput: It is empty, has half a pair of brackets, or matches no file in a folder; or as `expand_braces`.
    """
    is_halved = pattern.count("{") != pattern.count("}") or pattern.count("[") > pattern.count("]")
    for glob in expand_braces(pattern):
        if is_halved or not glob.strip() or glob[0] == "/" or glob[-1] == "/" or ".." in glob.split("/"):
            message = f"{pattern!r} matches no file of a folder. Give a glob below the folder, such as 'notes/*.{{md,txt}}'."
            raise InvalidInput("INVALID_PATTERN", message)


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """
    Return a test of relative paths with ``/`` against a glob; a path matches if any expansion of it does.

    ``*`` is any run of characters within one segment and ``?`` exactly one. ``[ab]``, ``[a-z]`` and ``[!a]`` are one
    character of a set; a bracket that is never closed is an ordinary character. A whole segment ``**`` is zero or more
    folders, at the end one or more segments: ``docs/**`` is everything below ``docs``. Case counts but in the part after
    the last dot, a leading dot is not special, and a leading ``./`` of the pattern is dropped. No pattern takes
    exponential time.

    Raises:
        InvalidInput: As `expand_braces`.
    """
    globs: list[list[re.Pattern[str] | None]] = []  # None is ``**``
    for glob in expand_braces(pattern):
        parts = _lower_suffix(glob).removeprefix("./").split("/")
        parts += ["*"] if parts[-1] == "**" else []
        globs.append([None if part == "**" else re.compile(translate(part)) for part in parts])

    def is_match(path: str) -> bool:
        names = _lower_suffix(path).split("/")
        for glob in globs:
            ends = {0}  # numbers of names that the parts so far can match
            for part in glob:
                if part is None:
                    ends = {*range(min(ends, default=len(names) + 1), len(names) + 1)}
                else:
                    ends = {end + 1 for end in ends if end < len(names) and part.match(names[end])}
            if len(names) in ends:
                return True
        return False

    return is_match


def _lower_suffix(path: str) -> str:
    stem, dot, suffix = path.rpartition(".")
    return f"{stem}{dot}{suffix.lower()}" if "/" not in suffix else path


def is_collection_name(text: str) -> bool:
    """Whether *text* is a valid collection name: one or more letters, digits and marks of any script, ``-`` and ``_``."""
    return bool(text) and not _INVALID_RUN.search(text)


def collection_name(folder_name: str) -> str:
    """
    Return the name of a collection for its folder: lower case, each run of other characters replaced by ``-``.

    The name is composed to Unicode NFC first, so that it is the same on every system. Hyphens at either end are
    dropped. The result always passes `is_collection_name`; it is ``notes`` if no character is left.
    """
    return _INVALID_RUN.sub("-", unicodedata.normalize("NFC", folder_name.lower())).strip("-") or "notes"


def path_context(path: str, contexts: Mapping[str, str], global_context: str = "") -> str | None:
    """
    Return *global_context* and the descriptions of all folders above *path*, outermost first; ``None`` without any.

    *contexts* are by the path of a folder or a file, with or without a slash at its ends; ``/`` is the whole collection.
    """
    place = f"/{path.strip('/')}/"
    folders = [(f"/{prefix.strip('/')}/".replace("//", "/"), text) for prefix, text in contexts.items()]
    texts = [global_context, *(text for folder, text in sorted(folders) if place.startswith(folder))]
    return "\n\n".join(filter(None, map(str.strip, texts))) or None
