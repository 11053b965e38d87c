"""Sentences in seven languages in which the same thing has a secret, a count, a result or a number, drawn by lot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

_TEXTS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
# Words of a slot by language; ``<slot>`` in a frame or in another slot is replaced by one of them.
_WORDS = _TEXTS["words"]
# Frames by language; those of "" suit all. Each has one secret, or none. ``@n`` is a number, ``@p`` a password.
_SECRET_FRAMES, _HARMLESS_FRAMES = _TEXTS["secret_frames"], _TEXTS["harmless_frames"]
_VALUES = _TEXTS["values"]
# Names in programs, which no secret resembles less than its neighbours do.
_NAME_PARTS, _PROGRAM_FRAMES = _TEXTS["name_parts"], _TEXTS["program_frames"]
_SLOT = re.compile(r"<([a-z]+)>")
_VALUE = re.compile(r"@([a-z2])(?![a-z])")
_ENGLISH = 0.5  # share of the sentences
_SECRETS = 0.5
_JOINED = 0.25  # share of the sentences that stand next to a harmless one
_PROGRAMS = 0.12  # share of the sentences


def _program(chance: Random) -> str:
    def name(match: re.Match[str]) -> str:
        words = "-".join(chance.choice(part.split("|")) for part in _NAME_PARTS[chance.randint(0, 1) :])
        if match[1] == "b":
            return words
        words = words.replace("-", "_")
        if match[1] == "C":
            return "".join(word.capitalize() for word in words.split("_"))
        return words.upper() if match[1] == "A" else words

    return re.sub("@([aAbC])", name, chance.choice(_PROGRAM_FRAMES))


def sentences(chance: Random, number: int) -> Iterator[str]:
    """Yield *number* templates with the secrets between « and »."""
    others = [name for name in _WORDS if name != "en"]
    for _ in range(number):
        language = "en" if chance.random() < _ENGLISH else chance.choice(others)
        if chance.random() < _PROGRAMS:
            yield _valued(chance, _program(chance))
            continue
        frames = _SECRET_FRAMES if chance.random() < _SECRETS else _HARMLESS_FRAMES
        own = frames[language] if chance.random() < 0.6 else frames[""]
        text = _drawn(chance, chance.choice(own), _WORDS[language])
        if chance.random() < _JOINED:
            other = _drawn(
                chance, chance.choice(_HARMLESS_FRAMES[chance.choice(("", language))]), _WORDS[language]
            )
            text = chance.choice(("\n", " ", "\n\n")).join(chance.sample((text, other), 2))
        yield text


def _drawn(chance: Random, frame: str, words: dict[str, str]) -> str:
    def word(match: re.Match[str]) -> str:
        if match[1] == "name":
            return "{name}"
        return chance.choice(words.get(match[1], "").split("|"))

    text = _valued(chance, _SLOT.sub(word, frame))
    return text[:1].upper() + text[1:] if chance.random() < 0.6 and text[:1].isalpha() else text


def _valued(chance: Random, text: str) -> str:
    return _VALUE.sub(lambda match: chance.choice(_VALUES[match[1]]), text)
