"""Notes of chance for vaults whose indexer is killed: written, changed, and asked for."""

from __future__ import annotations

import random
from pathlib import Path

from notes_vault import NotesVault

WORDS = (
    "zebra yak gnu ibex lynx otter heron crane falcon badger river valley harbour forest glacier desert "
    "budget invoice meeting deadline release server database migration queue cache token session payment"
).split()


def configure_notes(environ: dict[str, str], notes: Path) -> None:
    config = Path(environ["HOME"]) / ".config/clawmem/config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"collections:\n  notes:\n    path: {notes}\n", "utf-8")


def write_notes(world: NotesVault, number: int, chance: random.Random) -> None:
    """Write so many notes of every length, some of them alike."""
    for n in range(number):
        world.write(f"{chance.choice(WORDS)}/n{n:03}.md", _note(n, chance), hours_ago=2 + n)


def change_notes(world: NotesVault, number: int, chance: random.Random) -> None:
    """Edit a fifth of so many notes, delete a tenth, rename two, and add some."""
    files = sorted(world.root.rglob("*.md"))
    chance.shuffle(files)
    edited, deleted = number // 5, number // 5 + number // 10
    for file in files[:edited]:
        world.write(str(file.relative_to(world.root)), _note(int(file.stem[1:]), chance), hours_ago=1)
    for file in files[edited:deleted]:
        file.unlink()
    for file in files[deleted : deleted + 2]:
        file.rename(file.with_name(f"moved-{file.name}"))
    for n in range(number, number + number // 7):
        world.write(f"late/n{n}.md", _note(n, chance), hours_ago=1)


def answers(world: NotesVault) -> list[object]:
    """Return the ten best answers of eight questions, with their places and scores."""
    chance = random.Random(6)
    questions = [" ".join(chance.choices(WORDS, k=chance.randint(1, 5))) for _ in range(8)]
    return [
        [(r.document.path, round(r.score, 4), r.start_line) for r in world.ask(question, "query").results]
        for question in questions
    ]


def _note(number: int, chance: random.Random) -> str:
    sections = [
        f"## {' '.join(chance.choices(WORDS, k=2))}\n\n{' '.join(chance.choices(WORDS, k=60))}.\n"
        for _ in range(chance.randint(1, 6))
    ]
    return f"---\ntags: [{chance.choice(WORDS)}]\n---\n# Note {number}\n\n" + "\n".join(sections)
