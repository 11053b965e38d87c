"""
Write ``secrets_labelled.tsv``: lines with an invented secret, and lines that only look as if they had one.

Every value is drawn by lot from a seeded generator and opens nothing. A secret stands between ``«`` and ``»``, and
a broken bar parts every prefix from its body, so that the scanners of code hosts see no credential. Readers take
these marks out. Run it from anywhere; it writes the same bytes every time::

    python tests/data/make_secrets.py
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path
from random import Random

TARGET = Path(__file__).parent / "secrets_labelled.tsv"
HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"
BASE32 = string.ascii_uppercase + "234567"

# In each block a line with ``{alphabet:length}`` drawn by lot. *SHAPES* are a kind and a secret, *IN_PLACE* a kind and a
# line with a secret that only its place gives away, *CLEAN* lines without any secret.
BLOCKS = Path(__file__).with_name("secret_shapes.txt").read_text("utf-8").split("=== ")[1:]
SHAPES, SURROUNDINGS, IN_PLACE, CLEAN = (block.splitlines()[1:] for block in BLOCKS)


def drawn(chance: Random, shape: str) -> str:
    """*shape* with every ``{alphabet:length}`` drawn by lot."""
    alphabets = {
        "hex": HEX,
        "alnum": ALNUM,
        "urlsafe": URLSAFE,
        "upper": string.ascii_uppercase + string.digits,
        "base32": BASE32,
        "letter": string.ascii_letters,
        "lower": string.ascii_lowercase,
        "digit": string.digits,
        "digit1": "123456789",
    }
    parts = shape.replace("{{", "\0").replace("}}", "\1").split("{")
    line = parts[0]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        line += _value(chance, name, alphabets) + rest
    return line.replace("\0", "{").replace("\1", "}")


def _value(chance: Random, name: str, alphabets: dict[str, str]) -> str:
    alphabet, _, length = name.partition(":")
    if alphabet == "uuid":
        return "-".join("".join(chance.choices(HEX, k=k)) for k in (8, 4, 4, 4, 12))
    return "".join(chance.choices(alphabets[alphabet], k=int(length)))


def card(chance: Random, gap: str) -> str:
    """An invented number of sixteen digits with its check digit, in fours."""
    digits = "4" + "".join(chance.choices(string.digits, k=14))
    check = next(last for last in string.digits if _sums_to_ten(digits + last))
    whole = digits + check
    return "¦".join(whole[i : i + 4] + (gap if i < 12 else "") for i in range(0, 16, 4))


def _sums_to_ten(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(int(digit) for digit in digits[::-2])) % 10 == 0


def lines(chance: Random) -> Iterator[tuple[str, str]]:
    """Kind and line, ``-`` for a line without a secret."""
    for shape in SHAPES:
        kind, secret = shape.split("|")
        for surrounding in SURROUNDINGS:
            yield kind, surrounding.replace("@", f"«{drawn(chance, secret)}»", 1)
    for shape in IN_PLACE:
        kind, line = shape.split("|", 1)
        if kind == "private key":
            body = "\\n".join("".join(chance.choices(ALNUM + "+/", k=64)) for _ in range(4))
            name = line.removeprefix("-----BEGIN ¦")
            yield kind, f"key: «{line}\\n{body}\\n-----END ¦{name}» and more"
        else:
            yield kind, drawn(chance, line.replace("'»", "»'"))
    for line in ("card «@» expired", "the visa «@» expires in May", "paid with «@», the company card"):
        for gap in ("", " ", "-"):
            yield "card number", line.replace("@", card(chance, gap))
    for line in CLEAN:
        yield "-", drawn(chance, line)


def labelled() -> str:
    """Return the content of the file."""
    return "".join(f"{kind}\t{line}\n" for kind, line in lines(Random(20260301)))


if __name__ == "__main__":
    TARGET.write_text(labelled(), "utf-8")
