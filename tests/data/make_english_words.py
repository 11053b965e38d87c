"""
Write the filter of ``clawmem.domain.retrieval.spelling`` from word lists, one word a line:

    python tests/data/make_english_words.py /usr/share/dict/american-english /usr/share/dict/british-english

The lists are those of the Debian packages wamerican and wbritish 2020.12.07 (SCOWL, see NOTICE).
"""

from __future__ import annotations

import sys
from pathlib import Path

from clawmem.domain.retrieval.spelling import BITS, FILE, places

TARGET = Path(__file__).parents[2] / "domain" / "retrieval" / FILE
SHORTEST = 4


def main() -> None:
    """Write the filter of the words in the files of the command line; names count in lower case."""
    lines = (line for name in sys.argv[1:] for line in Path(name).read_text("utf-8").split())
    known = {word.lower() for word in lines if word.isascii() and word.isalpha() and len(word) >= SHORTEST}
    bits = bytearray(BITS // 8 + 1)
    for word in known:
        for place in places(word):
            bits[place >> 3] |= 1 << (place & 7)
    TARGET.write_bytes(bits)
    sys.stdout.write(f"{len(known)} words, {len(bits)} bytes\n")


if __name__ == "__main__":
    main()
