"""
What prompts get from vaults of about ten one-line memories of one person.

    python tools/bench/small_vaults.py [--work FOLDER] [--show]

Every memory of ``tests/data/small_vaults.txt`` and ``tests/data/beliefs.txt`` is a note of its own. Printed are, for each
file: the share of unrelated prompts without a block, the vaults in which all of them are silent, and the precision and
recall of the memories in the blocks of related prompts.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from judged import settings_for
from surfacing import Prompts

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.services.indexing.folders import Folder

DATA = Path(__file__).parents[2] / "tests" / "data"
FILES = ("small_vaults.txt", "beliefs.txt")
SHOWN = re.compile(r"^\*\*.* memories/(\d\d)\.md", re.MULTILINE)


class Prompt(NamedTuple):
    """A prompt and the numbers of the memories that help, none for an unrelated prompt."""

    text: str
    helpful: frozenset[int]


class Person(NamedTuple):
    """The memories of one person, and prompts."""

    name: str
    memories: tuple[str, ...]
    prompts: tuple[Prompt, ...]


def people(file: str) -> Iterator[Person]:
    """Yield the vaults of *file*."""
    for text in re.split(r"^= ", (DATA / file).read_text("utf-8"), flags=re.MULTILINE)[1:]:
        name, *lines = text.splitlines()
        asked = [line[2:].partition(" > ") for line in lines if line[:2] in ("? ", "! ")]
        yield Person(
            name,
            tuple(line[2:] for line in lines if line.startswith("- ")),
            tuple(Prompt(prompt, frozenset(map(int, numbers.split()))) for prompt, _, numbers in asked),
        )


def write_memories(person: Person, folder: Path) -> None:
    """Write each memory of *person* into a file of its own."""
    folder.mkdir(parents=True)
    for number, memory in enumerate(person.memories, start=1):
        (folder / f"{number:02}.md").write_text(f"{memory}\n", "utf-8")


def surfaced(person: Person, work: Path) -> Iterator[tuple[Prompt, frozenset[int]]]:
    """Yield each prompt with the numbers of the memories in its block."""
    write_memories(person, work / "memories")
    vault = work / "vault.sqlite"
    with open_services(settings_for(vault, "static")) as services:
        services.update(Folder("memories", str(work / "memories")))
        services.embed()
    hook = Prompts(vault)
    for number, prompt in enumerate(person.prompts):
        block = hook.block(prompt.text, f"{number}", "balanced")
        yield prompt, frozenset(map(int, SHOWN.findall(block)))


def measure(file: str, *, show: bool) -> str:
    """Return the figures of *file* as a line; with *show* print every prompt and the memories it gets."""
    shown = helpful = helpful_shown = unrelated = silent = silent_vaults = vaults = injected = 0
    for person in people(file):
        vaults += 1
        with tempfile.TemporaryDirectory() as work:
            rows = list(surfaced(person, Path(work)))
        for prompt, numbers in rows:
            if show:
                wrong = "" if numbers == prompt.helpful else f"  wanted {sorted(prompt.helpful)}"
                sys.stdout.write(f"{person.name}: {prompt.text}: {sorted(numbers)}{wrong}\n")
            if prompt.helpful:
                shown += len(numbers)
                helpful += len(prompt.helpful)
                helpful_shown += len(numbers & prompt.helpful)
            else:
                unrelated += 1
                silent += not numbers
                injected += len(numbers)
        silent_vaults += not any(numbers for prompt, numbers in rows if not prompt.helpful)
    return (
        f"{file}: unrelated silent {silent} of {unrelated} ({injected} memories), in all of them {silent_vaults} of "
        f"{vaults} vaults; related precision {helpful_shown / max(1, shown):.3f} recall {helpful_shown / helpful:.3f}"
    )


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--show", action="store_true", help="print every prompt")
    chosen = parser.parse_args()
    for file in FILES:
        sys.stdout.write(f"{measure(file, show=chosen.show)}\n")


if __name__ == "__main__":
    main()
