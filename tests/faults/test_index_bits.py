"""One wrong bit in the tables of an index of the vault: `verify` notices each that changes an answer."""

from __future__ import annotations

import random
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path

import apsw
import pytest
from command_line import Invoke

from clawmem.adapters.sqlite.database import PAGE_SIZE

EXAMPLES = Path(__file__).parents[2] / "examples/notes"
SOUND = "Files, records and indexes agree.\n"
ADVICE = re.compile(r"Run: clawmem ([a-z][a-z-]*(?: --repair)?)")
TABLES = ("lexical_line", "lexical_passage", "lexical_section", "lexical_document", "entity_names")
INDEX_PAGES = """
select name, pageno from dbstat where name glob 'lexical_*' or name glob 'vector_*' or name glob 'entity_names_*'
"""
RARE_WORD = "quokkaberry"
SUFFIX = b"kkaberri"  # of its stem; the index omits the letters that the preceding word begins with, too


class Home:
    """A vault of the example notes with entities and vectors, in which notes were changed, moved and forgotten."""

    def __init__(self, place: Path, invoke: Invoke) -> None:
        self.vault = place / "vault.sqlite"
        self._invoke = invoke
        notes = place / "notes"
        shutil.copytree(EXAMPLES, notes)
        assert invoke("update", "--embed").exit_code == 0
        assert invoke("forget", "--yes", "notes/meetings/2026-08-05-i18n-terms.md").exit_code == 0
        (notes / "people/team.md").rename(notes / "people/crew.md")
        (notes / "rare.md").write_text(f"# Rare\n\nThe {RARE_WORD} plan was dropped.\n", "utf-8")
        for command in (("update", "--embed"), ("enrich",), ("embed",)):
            assert invoke(*command).exit_code == 0
        assert invoke("verify").stdout == SOUND
        with self.connected() as connection:
            self._questions = list(questions(connection, notes))
        self._content = self.vault.read_bytes()
        self.healthy = self.answers()

    def restore(self) -> None:
        """Put the vault back as it was before the first damage."""
        for leftover in self.vault.parent.glob("vault.sqlite[-.][wsdr]*"):
            leftover.unlink()
        self.vault.write_bytes(self._content)

    def bits(self, chance: random.Random) -> Iterator[tuple[str, int, int]]:
        """Random bits, without end: a table, a place in the file that holds something, and a bit of the byte."""
        pages = defaultdict(list)
        with self.connected() as connection:
            for name, number in connection.execute(INDEX_PAGES):
                begin = (number - 1) * PAGE_SIZE
                if used := [place for place in range(begin, begin + PAGE_SIZE) if self._content[place]]:
                    pages[name].append(used)
        while True:
            name = chance.choice(sorted(pages))
            yield name, chance.choice(chance.choice(pages[name])), chance.randrange(8)

    def flip(self, place: int, bit: int) -> None:
        """Flip one bit of the file."""
        content = bytearray(self._content)
        content[place] ^= 1 << bit
        self.vault.write_bytes(content)

    def flip_in(
        self, table: str, column: str, condition: str, place: Callable[[bytes], int], bit: int
    ) -> None:
        """Flip one bit of a stored value."""
        with self.connected() as connection:
            where = f"from {table} where {condition} limit 1"
            value = connection.execute(f"select {column} {where}").get
            if isinstance(value, int):
                changed: int | bytearray = value ^ 1 << bit
            else:
                changed = bytearray(value)
                changed[place(value)] ^= 1 << bit
            connection.execute(f"update {table} set {column} = ? where {condition}", (changed,))
            assert connection.changes() == 1

    def answers(self) -> str:
        """A digest of all postings, and of the answers to each word and vector; or why there is none."""
        digest = sha256()
        try:
            with self.connected() as connection:
                for sql, asked in self._questions:
                    digest.update(repr(list(connection.execute(sql, (asked,)))).encode())
        except (apsw.Error, UnicodeError) as error:  # a damaged word may be no text
            return str(error)
        return digest.hexdigest()

    def verify(self) -> str:
        """What the check says, which ends with an exit code whatever is broken."""
        result = self._invoke("verify")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.output

    def follow(self, said: str) -> None:
        """Run the first command that is advised."""
        advised = ADVICE.search(said)
        assert advised and advised[1] in ("rebuild", "doctor --repair"), said
        result = self._invoke(*advised[1].split(), *(["--yes"] if "repair" in advised[1] else []))
        assert result.exit_code == 0, result.output

    @contextmanager
    def connected(self) -> Iterator[apsw.Connection]:
        """A connection that knows the words of all index tables."""
        with closing(apsw.Connection(str(self.vault))) as connection:
            for table in TABLES:
                connection.execute(
                    f"create virtual table temp.{table}_places using fts5vocab (main, {table}, instance)"
                )
            yield connection


def questions(connection: apsw.Connection, notes: Path) -> Iterator[tuple[str, object]]:
    """Every question of which the answer depends on the indexes: a query and what it is given."""
    texts = [file.read_text("utf-8") for file in notes.rglob("*.md")]
    texts += [name for (name,) in connection.execute("select name from entities")]
    words = {word for text in texts for word in re.findall(r"\w+", text.lower())}
    asked = sorted({f'"{word}"' for word in words} | {f'"{word[:2]}"*' for word in words})[::9]
    asked.append(f'"{RARE_WORD}"')
    for table in TABLES:
        yield f"select term, doc, col, offset from temp.{table}_places where ?", True
        yield from (
            (f"select rowid, bm25({table}, 1, 2) from {table} where {table} match ?", one) for one in asked
        )


@pytest.fixture
def home(tmp_path: Path, invoke: Invoke) -> Home:
    return Home(tmp_path, invoke)


def after(value: bytes, fields: int) -> int:
    """The place of the first byte so many integers after the rare word: its document, the size, its first place."""
    place = value.index(SUFFIX) + len(SUFFIX)
    for _ in range(fields):
        while value[place] > 0x7F:
            place += 1
        place += 1
    return place


def last_place(value: bytes) -> int:
    """The place of the last integer of a page of postings."""
    return int.from_bytes(value[2:4], "big") - 1


RARE = f"instr(block, x'{SUFFIX.hex()}')"
LAST_PAGE = "term = (select max(term) from lexical_document_idx)"
LAST_NAMES = "id = (select max(id) from entity_names_data)"
Place = Callable[[bytes], int]
CHOSEN: dict[str, tuple[str, str, str, Place]] = {  # table, column, row and byte
    "term": ("lexical_document_data", "block", RARE, lambda value: value.index(SUFFIX)),
    "document": ("lexical_passage_data", "block", RARE, lambda value: after(value, 1) - 1),
    "place": ("lexical_line_data", "block", RARE, lambda value: after(value, 2)),
    "tree of terms": ("lexical_document_idx", "term", LAST_PAGE, lambda value: 1),
    "length": (
        "lexical_line_docsize",
        "sz",
        "id = (select max(id) from lexical_line_docsize)",
        lambda value: 1,
    ),
    "average length": ("lexical_passage_data", "block", "id = 1", lambda value: 0),
    "entity": ("entity_names_data", "block", LAST_NAMES, last_place),
}


def test_chosen_bits(home: Home) -> None:
    """One bit of each kind of stored value changes answers, is noticed, and what is advised repairs it."""
    for name, (table, column, condition, place) in CHOSEN.items():
        home.restore()
        home.flip_in(table, column, condition, place, 0)
        assert home.answers() != home.healthy, name

        home.follow(home.verify())

        assert (home.verify(), home.answers()) == (SOUND, home.healthy), name


@pytest.mark.slow
def test_many_bits(home: Home) -> None:
    """Each of a hundred bits of the tables is noticed and repaired, unless every answer is the same without it."""
    for table, place, bit in islice(home.bits(random.Random(23)), 100):
        home.restore()
        home.flip(place, bit)
        if (said := home.verify()) != SOUND:
            home.follow(said)
        assert (home.verify(), home.answers()) == (SOUND, home.healthy), (table, place, bit, said)
