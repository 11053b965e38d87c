"""Names of entities: their ids, the recognition of names in a document, and the matching of names of the same thing."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import dropwhile, groupby
from typing import NamedTuple, TypeVar

from clawmem.domain.documents.links import note_links
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import file_name
from clawmem.domain.text.likeness import edit_similarity
from clawmem.domain.text.vocabulary import FUNCTION_WORDS, MONTHS, STOP_WORDS, WEEKDAYS
from clawmem.domain.text.words import fold, words
from clawmem.domain.text.written_dates import day_named
from clawmem.ports.documents import LinkKind
from clawmem.ports.records import Document

VAULT = "default"  # prefix of the entity ids of a vault
CONCEPT = "concept"
KINDS = ("person", "project", "service", "tool", CONCEPT, "org", "location")

Entity = TypeVar("Entity")

# With letters and digits alone, C++ and C# would have the same id.
_SIGNS = {"++": " plus plus ", "#": " sharp "}
_SIGN = re.compile(r"(?<=[^\W_])(?:\+\+|#)(?![^\W_])")


def name_words(text: str) -> list[str]:
    """Return the words of *text*; the signs of names such as ``C++`` are spelled out as words."""
    return words(_SIGN.sub(lambda sign: _SIGNS[sign[0]], text))


def entity_id(name: str, kind: str) -> str:
    """
    Return ``default:<kind>:<slug>``; the slug is the words of *name* in lower case, joined by ``_``.

    Raises:
        ValueError: *name* has no words, or *kind* is unknown.
    """
    slug = "_".join(name_words(name))
    if kind not in KINDS or not slug:
        raise ValueError(f"{name!r} is not a valid name of kind {kind!r}; kinds: {', '.join(KINDS)}")
    return f"{VAULT}:{kind}:{slug}"


def ids_of(name: str) -> tuple[str, ...]:
    """Return the ids of an entity called *name*, one for each kind; none if the name has no words."""
    slug = "_".join(name_words(name))
    return tuple(f"{VAULT}:{kind}:{slug}" for kind in KINDS) if slug else ()


def only_one(name: str, known: Mapping[str, Entity]) -> Entity | None:
    """
    Return the entity called *name* among *known* ids; ``None`` if none exists or entities of two kinds do.

    ``concept`` means that the kind is unknown; it does not count if there is an entity of a specific kind.
    """
    known_ids = [entity for entity in ids_of(name) if entity in known]
    specific = [entity for entity in known_ids if not is_generic(entity)]
    candidates = specific or known_ids
    return known[candidates[0]] if len(candidates) == 1 else None


def is_generic(entity: str) -> bool:
    """Whether an id or a kind is that of a concept, which any specific kind replaces."""
    return entity == CONCEPT or entity.startswith(f"{VAULT}:{CONCEPT}:")


SHORTEST, LONGEST = 2, 60
CAPS = {"research": 15, "hub": 12, "conversation": 12}
CAPS |= dict.fromkeys(("decision", "deductive", "note", "handoff", "progress"), 8)
SAME, SAME_PERSON = 0.75, 0.65
SHORT = 5  # letters; in names up to this length one different letter makes a different name

PERSON, TOOL = "person", "tool"
_TECH = frozenset({"project", "service", TOOL, CONCEPT})
PEOPLE_KEYS = frozenset({"participants", "people", "attendees", "author", "authors", "with"})

_PLACEHOLDERS = frozenset(
    "entity name unknown none null n/a na todo tbd example placeholder user assistant system human agent".split()
)
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|vm \d+", re.IGNORECASE)
_CALENDAR = frozenset([*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), "christmas", "easter"])

# Removed before capitals are examined: code, addresses of links and quoted lines are not prose.
_NOT_PROSE = re.compile(
    r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)|`[^`\n]*`|\]\([^()\n]*(?:\([^()\n]*){0,3}\)|https?://\S+|^[ \t]*>.*$|<[^<>\n]*(?:<[^<>\n]*){0,3}>",
    re.DOTALL | re.MULTILINE,
)
# After these marks and a line break a capital is no evidence.
_BEGINNING = re.compile(r"[.!?…:;|•·“”„\"(\[*>#/\n]|(?<!\w)_|_(?!\w)|(?<=\d)\)")
_MARKS = " \t-–'’)]0123456789xX"
_WORD = r"[^\W\d_](?:[\w]|['’\-&](?=\w))*"
_RUN = re.compile(rf"(?<![\w@'’\-]){_WORD}(?: {_WORD})*+")
_SMALL = re.compile(r"(?<![\w.@/-])[^\W\d_A-Z][\w'’-]*")
_JOINED = re.compile(
    r"(?<![\w-])(?:[A-Z]+[a-z]+[A-Z][A-Za-z]*|[a-z]{1,3}[A-Z][a-z]+[A-Za-z]*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])"
)
_GENITIVE = re.compile(r"['’]s?\Z")
_AFTER_GENITIVE = re.compile(r"(?<=['’]s) |(?<=['’]) ")
_GERMAN = FUNCTION_WORDS["de"] - STOP_WORDS
GERMAN_WORDS = 3  # number of these words that identify German
FEW_CAPITALS = 5  # too few to identify a language
MOST_CAPITALS = 0.2  # share of the words within sentences; above it, as in German, capitals do not mark names


class Name(NamedTuple):
    """A name and, if known, the kind of thing it names."""

    name: str
    kind: str = CONCEPT


def cap_of(content_type: str) -> int:
    """Return the maximum number of names for a document of that type."""
    return CAPS.get(content_type, 10)


def is_name(name: str, kind: str = CONCEPT, title: str = "") -> bool:
    """
    Whether *name* can be a useful name in a document with that *title*.

    Rejected are names shorter than 2 or longer than 60 characters, placeholders, labels that end with a colon,
    repetitions of the title, and locations that are neither an address nor like ``VM 3``.
    """
    flat = name.strip()
    return (
        SHORTEST <= len(flat) <= LONGEST
        and bool(name_words(flat))
        and flat.casefold() not in _PLACEHOLDERS
        and not flat.endswith(":")
        and not (title and edit_similarity(flat, title) > 0.85)
        and (kind != "location" or _ADDRESS.fullmatch(flat) is not None)
    )


def is_same(one: Name, other: Name) -> bool:
    """
    Whether two names mean the same thing: they are of one kind, or both technical, and similar (at least .75, people .65).

    Names with different numbers are always different. So are short words, and people with one-word names, that
    differ in more than accents: Lin is not Lina, and Maria is not Marta.
    """
    if one.kind != other.kind and not _TECH.issuperset((one.kind, other.kind)):
        return False
    plain, others = _plain(one.name), _plain(other.name)
    if plain == others:
        return True
    if re.findall(r"\d+", plain) != re.findall(r"\d+", others) or min(len(plain), len(others)) <= SHORT:
        return False
    if one.kind == PERSON:  # of two words or more, with a word in common and the same initials
        words, other_words = plain.split(), others.split()
        is_alike = min(len(words), len(other_words)) > 1 and bool(set(words) & set(other_words))
        has_initials = {word[0] for word in words} == {word[0] for word in other_words}
        return is_alike and has_initials and edit_similarity(plain, others) >= SAME_PERSON
    return edit_similarity(one.name, other.name) >= SAME


def names_in(
    title: str,
    body: str,
    people: Iterable[str] = (),
    content_type: str = "note",
    is_known: Callable[[str], bool] = lambda name: False,
) -> list[Name]:
    """
    Return the names that a document shows without a model, most frequent first, up to the limit of its type.

    People are taken from its front matter. The name of a note that a wikilink leads to is one, unless it is in lower case
    or a day. A word in prose is a name if it is capitalised where lower case would be
    possible and is never in lower case in the document, or if it has a capital inside, as IndexedDB. In German, and
    where a fifth of the words within sentences are capitalised, capitals are no evidence.

    Args:
        is_known: Whether other documents have that name; it is then also recognised at the start of a sentence.
    """
    prose = _NOT_PROSE.sub(lambda cut: " \n" if "\n" in cut[0] else " , ", body)
    names = Counter[Name]()
    for person in people:
        names[Name(person.strip(), PERSON)] += 2  # weighs more than a mention
    names.update(Name(word, CONCEPT if "_" in word else TOOL) for word in _JOINED.findall(prose))
    names.update(map(Name, _capitalised(prose, is_known)))
    links = note_links(Markdown(body)) if "[[" in body else ()
    linked = (file_name(link.target) for link in links if link.kind is LinkKind.WIKILINK)
    names.update(Name(n) for n in linked if not n.islower() and sum(map(str.isalpha, day_named(n))) > 1)
    valid = [name for name, _ in names.most_common() if is_name(*name, title)]
    distinct = {_plain(name.name): name for name in reversed(valid)}  # in the spelling that comes first
    persons = [name.name for name in distinct.values() if name.kind == PERSON]
    unique = [
        name
        for name in reversed(distinct.values())
        if name.kind == PERSON or full_name(name.name, persons) is None  # no part of a person's longer name
    ]
    return unique[: cap_of(content_type)]


def people_of(front_matter: Mapping[str, str]) -> list[str]:
    """Return the people in front matter, given as printable pairs: ``participants: Ann Lee, Bo Dahl``."""
    lists = (value for key, value in front_matter.items() if key.casefold() in PEOPLE_KEYS)
    names = (part.strip(" \"'") for value in lists for part in re.split(r"[,;\[\]\n]", value))
    named = (name for name in dict.fromkeys(names) if name[:1].isalpha() and not name[:1].islower())
    return [name for name in named if is_name(name, PERSON)]


def is_about_person(note: Document) -> bool:
    """Whether a note is about one person: by its type, or by the tag or the folder of a note with a name of two words."""
    groups = words(" ".join((*note.tags, note.display_path.rpartition("/")[0])))
    is_in_group = not {*PEOPLE_KEYS, PERSON}.isdisjoint(groups)
    return note.content_type == PERSON or (is_in_group and len(name_words(note.title)) > 1)


def full_name(name: str, people: Iterable[str]) -> str | None:
    """Return the one of *people* whose name contains all words of *name*; ``None`` unless there is exactly one."""
    wanted = set(_plain(name).split())
    meant = {person for person in people if wanted and wanted <= set(_plain(person).split())}
    return meant.pop() if len(meant) == 1 else None


def _capitalised(prose: str, is_known: Callable[[str], bool]) -> Iterator[str]:
    """Yield the capitalised names of *prose*; those that begin a sentence only if they are known names."""
    small = set(_SMALL.findall(prose))
    openings: list[str] = []
    names: list[str] = []
    capitals = count = 0
    for segment in _BEGINNING.split(prose):
        for match in _RUN.finditer(segment):
            words = match[0].split()
            is_opening = not segment[: match.start()].strip(_MARKS)
            rest = list(dropwhile(_is_capital, words)) if is_opening else words
            openings.append(_trimmed(words[: len(words) - len(rest)], small))
            capitals, count = capitals + sum(map(_is_capital, rest)), count + len(rest)
            for part in _AFTER_GENITIVE.split(" ".join(rest)):
                rows = groupby(part.split(), _is_capital)
                names += [_trimmed([*row], small) for is_capital, row in rows if is_capital]
    if len(small & _GERMAN) >= GERMAN_WORDS or capitals > max(FEW_CAPITALS, MOST_CAPITALS * count):
        return  # every noun has a capital
    yield from filter(None, names)
    yield from (name for name in openings if name and (name in names or is_known(name)))


def _trimmed(row: Sequence[str], small: AbstractSet[str]) -> str:
    """Return the name in *row* without common words at its ends; empty if nothing is left."""

    def is_common(word: str) -> bool:
        lower = _GENITIVE.sub("", word).lower()
        return lower in small or any(lower in known for known in (STOP_WORDS, _CALENDAR, _PLACEHOLDERS))

    while row and is_common(row[0]):
        row = row[1:]
    while row and (is_common(row[-1]) or len(row[-1]) == 1):
        row = row[:-1]
    name = _GENITIVE.sub("", " ".join(row)).strip("-'’&")
    return name if len(name) > SHORTEST or name.isupper() else ""


def _is_capital(word: str) -> bool:
    return word[0].isupper() and word not in ("I", "I'm", "I'd", "I've", "I'll", "I’d")


def _plain(name: str) -> str:
    """Return the words of *name* in lower case without accents, which writers often omit."""
    return " ".join(map(fold, name_words(name)))
