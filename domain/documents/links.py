"""Links in the text of a note to other notes, each with the sentence around it, and the notes that they mean."""

import posixpath
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import unquote

from clawmem.domain.documents.markdown import Markdown, is_field
from clawmem.domain.documents.names import EXTENSION, file_name, folded, with_part
from clawmem.domain.documents.properties import TAG
from clawmem.domain.text.words import FULL_STOPS, words
from clawmem.domain.text.written_dates import day_named
from clawmem.ports.documents import Link, LinkKind, NamedNote, NameKind, NoteName
from clawmem.ports.records import Document

MAX_CONTEXT = 300  # characters of the sentence around a link
MAX_LINKS = 10_000  # of one note; a note with more is a generated list

BLOCK_ID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_LINK = re.compile(
    r"(?<![#\\{])(?P<embed>!?)\[\[(?P<wiki>(?:(?!\]\]|\[\[)[^\n])+)\]\]"
    r"|(?<!\\)(?P<image>!?)\[(?P<text>[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]"
    r"(?:\(\s*(?:<(?P<angled>[^<>\n]*)>|(?P<plain>[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+[\"'(][^\n]*?[\"')])?\s*\)"
    r"|\[(?P<label>[^\[\]\n]*)\])|(?<![\\\[])\[(?P<short>[^\[\]\n]+)\](?![\[(:\]])"
    rf"|\(\((?P<block>{BLOCK_ID})\)\)"
)
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]+)\]:[ \t]*(?:<([^<>\n]*)>|(\S+))", re.MULTILINE)
_BLOCK_ID = re.compile(rf"^[ \t]*(?:[-*][ \t]+)?id::[ \t]*({BLOCK_ID})[ \t]*$", re.MULTILINE)
_SCHEME = re.compile(r"\A(?:[a-zA-Z][a-zA-Z0-9+.-]+:|//)")
_SENTENCE_END = re.compile(rf"[.!?…]['\")\]]*\s+(?=\S)|(?<=[{FULL_STOPS}])")
_MARKS = re.compile(r"(?m)^[ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+)?")

# The relation as records of decisions and notes with typed links write it: "Supersedes [1. Use Java](0001-use-java.md)".
SUPERSEDES = re.compile(r"\A\W*(?:this (?:\w+ )?)?supersedes:?\W*\[", re.IGNORECASE)


def note_links(note: Markdown, front_matter: str = "", *, has_tag_links: bool = False) -> list[Link]:
    """
    Return the links of a note, those of its front matter first, its tags last if they are links; at most `MAX_LINKS`.

    A link in code, a formula or a comment, or with a backslash before it, is text, and so is one to a web address or
    to a place in the same note; ``#[[two words]]`` is a tag. *front_matter* begins on line 2 of the file.
    """
    links = list[Link]()
    lines = front_matter.split("\n") if "[[" in front_matter else []
    for number, line in enumerate(lines, start=2):
        for match in _LINK.finditer(line):
            links += _read(match, number, line, [0, len(line)], {})
    has_links = any(mark in note.body for mark in ("[[", "](", "((", "]:"))
    defined = _DEFINITION.findall(note.prose) if "]:" in note.body else ()
    targets = {folded(label): angled or plain for label, angled, plain in reversed(defined)}
    for block in note.blocks if has_links else ():
        bounds: list[int] = []
        for match in _LINK.finditer(note.prose, block.start, block.end):
            if not bounds:
                ends = _SENTENCE_END.finditer(note.prose, block.start, block.end)
                bounds = [block.start, *(end.end() for end in ends), block.end]
            links += _read(match, note.line_at(match.start()), note.body, bounds, targets)
    is_reversed = {"id", "desc"} <= {line.partition(":")[0] for line in front_matter.split("\n")}
    for at, link in enumerate(links) if is_reversed else ():  # Dendron writes [[text|target]]
        if link.kind is LinkKind.WIKILINK and link.shown:
            target, part = with_part(link.shown)
            links[at] = link._replace(target=target, key=link_keys(target)[0], part=part, shown=link.target)
    for number, line in enumerate(note.prose.split("\n") if has_tag_links else (), start=note.first_line):
        listed = line.partition("::")[2].split(",") if is_field(line, "tags?") else ()
        names = [tag[1] or tag[2] for tag in TAG.finditer(line)]
        for name in filter(None, map(str.strip, [*names, *(n for n in listed if not {*"[#"} & {*n})])):
            context = _MARKS.sub("", line).strip()[:MAX_CONTEXT]
            links.append(Link(LinkKind.TAG, name, link_keys(name)[0], number, context=context))
    return links[:MAX_LINKS]


def _read(
    match: re.Match[str], line: int, text: str, bounds: Sequence[int], targets: Mapping[str, str]
) -> Iterator[Link]:
    """Yield the link of *match* if it leads to a note; sentences of *text* end at *bounds*, *targets* are by label."""
    if match["block"]:
        kind, target, part, shown = LinkKind.BLOCK, match["block"].lower(), "", ""
    elif match["wiki"] is not None:
        kind = LinkKind.EMBED if match["embed"] else LinkKind.WIKILINK
        name, _, shown = match["wiki"].replace("\\|", "|").partition("|")
        target, part = with_part(name)
    else:
        kind = LinkKind.EMBED if match["image"] else LinkKind.MARKDOWN
        shown = match["text"] or match["short"] or ""
        written = match["angled"] or match["plain"] or targets.get(folded(match["label"] or shown), "")
        target, part = ("", "") if _SCHEME.match(written) else map(unquote, with_part(written, marks="#"))
    if target:
        start, end = match.span()
        room = max(MAX_CONTEXT - (end - start), 0) // 2
        first = max(bounds[bisect_right(bounds, start) - 1], start - room)
        last = min(bounds[bisect_left(bounds, end)], end + room)
        context = " ".join(_MARKS.sub("", text[first:last]).split())[:MAX_CONTEXT]
        yield Link(kind, target, link_keys(target)[0], line, part, shown.strip(), context)


def note_names(document: Document, body: str) -> list[NoteName]:
    """Return the names by which a link may mean *document*: of its file, its aliases, its title and its blocks."""
    files = (document.path, file_name(document.path))
    names = [NoteName(link_keys(file)[0], NameKind.FILE) for file in files]
    text = f"{files[1]}\n{document.front_matter}"
    numbers = re.findall(r"(?:\A|^id: *[\"']?)(\d{12}(?:\d\d)?)\b", text, re.MULTILINE)  # of a Zettelkasten
    titles = [document.title, files[1].replace("-", " ")]  # as in wikis of GitHub
    named = {NameKind.ALIAS: [*document.aliases, *numbers], NameKind.TITLE: titles}
    names += [NoteName(link_keys(name)[1], kind) for kind, several in named.items() for name in several]
    if "id::" in body:
        names += [NoteName(number.lower(), NameKind.BLOCK) for number in _BLOCK_ID.findall(body)]
    return names


def link_keys(target: str) -> tuple[str, str]:
    """Return the forms in which *target* is compared: its last part with files, all of it with other names ("AC/DC")."""
    whole = _without_case(_stem(target))
    return whole.rpartition("/")[2], whole


def part_line(part: str, note: Markdown) -> int | None:
    """
    Return the line of the heading, or of the block with ``^id`` or ``id::``, that *part* names; ``None`` if there is none.

    Of a path of headings, ``Above#Below``, each is below the one before. Punctuation and case do not count.
    """
    if part.startswith("^"):
        name = re.escape(part[1:].strip())
        marker = re.compile(rf"(?:(?:^|\s)\^|\bid:: *){name}[ \t]*$", re.IGNORECASE | re.MULTILINE)
        match = marker.search(note.prose)
        return note.line_at(match.end()) if match else None
    wanted = [words(name) for name in part.split("#") if name.strip()]
    for heading in note.headings:
        names = re.findall(r"#([^\s#{}]+)", note.body[heading.start : heading.end])  # of "Text {#name}"
        if wanted and wanted[0] in map(words, (heading.label, *names)):
            wanted = wanted[1:]
            if not wanted:
                return heading.start_line
    return None


def link_targets(link: Link, collection: str, path: str, named: Sequence[NamedNote]) -> list[int]:
    """
    Return the ids of the notes that *link* may mean in the note at *path* of *collection*, the one it means first.

    As Obsidian resolves links. A missing ``.md`` or ``.txt`` does not count, and of several notes one below the folder of
    the note goes first, then the shortest path. Each rule is tried in the case of the link first:

    1. A path that begins with ``./`` or ``../``, and first of all a Markdown link, is relative to the folder of the note.
    2. The exact path from the root of the collection.
    3. A path that ends with the target, then ``collection/path``.
    4. An alias of a note, then its title.

    Args:
        named: The served notes of all collections with a name of `link_keys`.
    """
    written, folder = _stem(link.target), posixpath.dirname(path)
    below = f"{folder}/" if folder else ""
    here = [note for note in named if note.collection == collection and note.kind is not NameKind.BLOCK]
    files = [note for note in here if note.kind is NameKind.FILE]
    from_here = posixpath.normpath(posixpath.join(folder, written))
    from_root = posixpath.normpath(written.lstrip("/"))
    is_relative, is_anywhere = written.startswith(("./", "../")), not written.startswith(("./", "../", "/"))
    is_from_here = is_relative or (link.kind is LinkKind.MARKDOWN and not written.startswith("/"))
    places = [from_here] * is_from_here + [from_root] * (not is_relative)

    groups: list[list[NamedNote]] = []
    for form in (partial(unicodedata.normalize, "NFC"), _without_case):
        groups += [[note for note in files if form(_stem(note.path)) == form(place)] for place in places]
        if is_anywhere:
            end = form(written)
            groups += [
                [note for note in files if f"/{form(_stem(note.path))}".endswith(f"/{end}")],
                [note for note in named if form(_stem(f"{note.collection}/{note.path}")) == end],
            ]
    if is_anywhere:
        groups += [[note for note in here if note.kind is kind] for kind in (NameKind.ALIAS, NameKind.TITLE)]
    groups.append([note for note in named if note.kind is NameKind.BLOCK and link.kind is LinkKind.BLOCK])
    matches = sorted(next(filter(None, groups), ()), key=lambda note: (len(note.path), note.path))
    matches.sort(key=lambda note: (note.collection != collection, not note.path.startswith(below)))
    return list(dict.fromkeys(note.document_id for note in matches))


def _stem(path: str) -> str:
    """Return a path or the target of a link without its extension, with ``/`` for ``\\`` and for Logseq's ``___``."""
    return EXTENSION.sub("", unquote(path.replace("\\", "/").replace("___", "/")))


def _without_case(path: str) -> str:
    """Return *path* folded, with a day as its last name; a day may also be its last three, as in ``2026/03/08``."""
    parts = path.rstrip("/").split("/")
    end = "/".join(parts[-3:])
    whole = day_named(end)
    return folded("/".join([*parts[:-3], whole] if whole != end else [*parts[:-1], day_named(parts[-1])]))
