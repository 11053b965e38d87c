"""A home with a vault of the example notes that is damaged and repaired."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
from command_line import Invoke
from typer.testing import Result
from wired import memory_writer

from clawmem.adapters.sqlite.database import PAGE_SIZE
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.adapters.system.clock import SystemClock

Damage = Callable[[bytes, random.Random], bytes]
EXAMPLES = Path(__file__).parents[1] / "examples/notes"
FORGOTTEN_FILE = "meetings/2026-08-05-i18n-terms.md"
SIZE = PAGE_SIZE
SECRET_WORD = "quokkaberry"
WRITTEN_S = 1_780_000_000
_prepared: list[tuple[str, bytes]] = []  # the files of the vault of the first home; all others are copies
PINNED = "notes/hub/index.md"

MEMORIES = {
    "decisions/queue.md": "# Queue\n\nWe chose a zebrafish queue for the nightly jobs.\n",
    "decisions/long.md": "# Long\n\n" + "The wombatine ledger is written before it is read. " * 200,
}

FORGOTTEN_MEMORY = ("decisions/secret.md", f"# Secret\n\nThe {SECRET_WORD} plan was dropped.\n")
SOUND = "Files, records and indexes agree.\n"
ADVICE = re.compile(r"[Rr]un: clawmem ((?!doctor(?! --repair))[a-z][a-z-]*(?: --repair)?)")


class Home:
    """A home with a vault of the example notes, pins, a diary, memories, and forgotten notes."""

    def __init__(self, place: Path, invoke: Invoke) -> None:
        self.invoke = invoke
        self.vault = place / "vault.sqlite"
        if not _prepared:
            self._prepare(place)
            _prepared.extend((file.name, file.read_bytes()) for file in place.glob("vault.sqlite*"))
        else:
            self._write_notes(place)
            for name, content in _prepared:
                (place / name).write_bytes(content)
                (place / name).chmod(0o600)
        self.content = self.vault.read_bytes()

    def _write_notes(self, place: Path) -> None:
        shutil.copytree(EXAMPLES, place / "notes", dirs_exist_ok=True)
        (place / "notes" / FORGOTTEN_FILE).write_text(f"# Terms\n\nThe {SECRET_WORD} list.\n", "utf-8")
        os.utime(place / "notes" / FORGOTTEN_FILE, (WRITTEN_S, WRITTEN_S))

    def _prepare(self, place: Path) -> None:
        self._write_notes(place)
        self.done("vault", "init")
        self.done("update")
        with closing(open_vault(str(self.vault))) as vault, vault.transactions.writing():
            memories = memory_writer(vault, SystemClock())
            for path, text in [*MEMORIES.items(), FORGOTTEN_MEMORY]:
                memories.write(path, text[2:8].strip(), text, "decision", 0.8)
        self.done("diary", "write", "Walked the numbat round the lake.")
        self.done("pin", PINNED)
        self.done("forget", "--yes", f"notes/{FORGOTTEN_FILE}")
        self.done("forget", "--yes", f"_clawmem/{FORGOTTEN_MEMORY[0]}")
        self.done("maintain", "enrich")
        self.done("embed")

    def done(self, *command: str) -> Result:
        result = self.invoke(*command)
        assert result.exit_code == 0, (command, result.output)
        return result

    def spoil(self, number: int, damage: Damage, chance: random.Random) -> None:
        """Put the whole vault back, with page *number* damaged."""
        page = slice((number - 1) * SIZE, number * SIZE)
        content = bytearray(self.content)
        content[page] = damage(self.content[page], chance)
        self.put(bytes(content))

    def change(self, *statements: str) -> None:
        """Change records behind the back of clawmem."""
        with closing(apsw.Connection(str(self.vault))) as connection:
            connection.pragma("ignore_check_constraints", True)
            for sql in statements:
                connection.execute(sql)
                assert connection.changes(), sql

    def put(self, content: bytes) -> None:
        for leftover in self.vault.parent.glob("vault.sqlite[-.][wsdr]*"):
            leftover.unlink()
        self.vault.unlink()  # what is open of it stays as it is
        self.vault.write_bytes(content)
        self.vault.chmod(0o600)

    def advice(self) -> str | None:
        """The command that somebody is advised to run who looks at the vault in the usual ways."""
        for command in (
            ("search", "queue"),
            ("query", "--mode", "vectors", "queue"),
            ("doctor", "--verify"),
            ("doctor",),
        ):
            result = self.invoke(*command)
            assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
            wrong = [line for line in result.output.splitlines() if not line.startswith("ok ")]
            if found := ADVICE.search("\n".join(wrong)):
                return found[1]
        return None

    def assert_whole(self, *, lost: tuple[str, ...] = (), pins: bool | None = True) -> None:
        """Everything but *lost* is there as it was, nothing that was forgotten, and all checks pass."""
        listed = self.done("list", "--limit", "500").stdout
        assert PINNED in listed
        for path in MEMORIES:
            assert f"_clawmem/{path}" in listed or f"_clawmem/{path}" in lost, path
        assert len(listed.splitlines()) + len(lost) >= 1 + 29 + len(MEMORIES) + 1
        assert FORGOTTEN_FILE not in listed
        assert FORGOTTEN_MEMORY[0] not in listed
        for verb in ("search", "query"):
            assert SECRET_WORD not in self.invoke(verb, SECRET_WORD).stdout.replace(f"for: {SECRET_WORD}", "")
        with closing(open_vault(str(self.vault), read_only=True)) as vault:
            pinned = vault.documents.at(*PINNED.split("/", 1))
            assert pinned and pinned.pinned is (pinned.pinned if pins is None else pins)
        if gone := self.lost_texts():
            assert {*gone} <= {*lost}, gone
        else:
            self.done("doctor", "--verify")

    def lost_texts(self) -> list[str]:
        """The places whose text is lost, as `verify` reports them; it may report nothing else."""
        lines = self.invoke("doctor", "--verify").stdout.splitlines()
        found = [line.partition(" has lost its text. ")[::2] for line in lines if f"{line}\n" != SOUND]
        assert all(f'run: clawmem forget "{place}"' in remedy for place, remedy in found), lines
        return [place for place, _ in found]
