"""
Write a ChatGPT export of invented words, to measure imports with: ``python tools/bench/large_export.py FILE.zip GB [long]``.

GB is the size of the JSON. Messages have one or two sentences; with ``long``, answers have 6 to 24.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from uuid import UUID

COMMON = "the of and to in is that it for was on are with as we you this be at have not or from by".split()


def sentences(chance: Random) -> list[str]:
    """Return sentences over a vocabulary whose words are as unequally frequent as those of a language."""
    words = [
        "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(k % 4 + 1))
        for k in range(30_000)
    ]
    pool = iter(chance.choices(words, [1 / (rank + 10) for rank in range(len(words))], k=800_000))
    made = []
    for _ in range(60_000):
        drawn = [next(pool) for _ in range(chance.randint(4, 12))]
        made.append(f"{' '.join((*drawn, *chance.choices(COMMON, k=len(drawn) // 2)))}.".capitalize())
    return made


def conversation(number: int, chance: Random, said: list[str], answer: tuple[int, int]) -> tuple[str, int]:
    """Return a conversation in the form of the export, and its number of messages."""

    def new_id() -> str:
        return str(UUID(int=chance.getrandbits(128)))

    root, start = new_id(), 1_600_000_000 + number * 900
    mapping: dict[str, dict[str, object]] = {
        root: {"id": root, "message": None, "parent": None, "children": []}
    }
    parent, length = root, chance.randint(4, 40)
    for turn in range(length):
        name, is_user = new_id(), turn % 2 == 0
        message = {
            "id": name,
            "author": {"role": "user" if is_user else "assistant", "name": None, "metadata": {}},
            "create_time": start + turn * 30.5,
            "content": {
                "content_type": "text",
                "parts": [" ".join(chance.choices(said, k=chance.randint(*((1, 2) if is_user else answer))))],
            },
            "status": "finished_successfully",
            "weight": 1.0,
            "metadata": {"model_slug": "gpt-4o", "parent_id": parent, "is_complete": True, "citations": []},
            "recipient": "all",
        }
        mapping[name] = {"id": name, "message": message, "parent": parent, "children": []}
        mapping[parent]["children"] = [name]
        parent = name
    head = {
        "title": chance.choice(said)[:50],
        "create_time": start,
        "update_time": start + 3000,
        "conversation_id": new_id(),
    }
    return json.dumps({**head, "mapping": mapping, "current_node": parent}), length


def parts(size: int, answer: tuple[int, int]) -> Iterator[tuple[str, int]]:
    """Return the parts of the JSON of *size* bytes, and their numbers of messages."""
    chance = Random(7)
    said = sentences(chance)
    written = 0
    for number in count():
        text, length = conversation(number, chance, said, answer)
        yield f"{',' if number else '['}\n{text}", length
        written += len(text)
        if written >= size:
            yield "]", 0
            return


def main(file: str, gigabytes: str, *options: str) -> None:
    """Write the export, and print its number of messages."""
    answer, messages = (6, 24) if "long" in options else (1, 2), 0
    with (
        zipfile.ZipFile(Path(file), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as member,
    ):
        for text, length in parts(int(float(gigabytes) * 1e9), answer):
            member.write(text.encode())
            messages += length
    sys.stdout.write(f"{messages} messages\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
