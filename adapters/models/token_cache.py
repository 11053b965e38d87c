from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_WORDS = 50_000  # about 8 MB
LONGEST_WORD = 100  # characters; longer ones are data and do not occur again
_BLANK = "▁"  # the tokenizer writes a blank so
_WORD = re.compile(r" +[^ \n]*|\n[^ \n]*")


class TokenCache:
    """
    Token ids of texts, encoded word by word; each distinct word is encoded once.

    No token of the vocabulary continues behind a blank, and none contains a line end, so the ids are those of the whole
    text. An index encodes each word of a note three times, and most words of a language are few.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, bytes] = {}  # 32 bits for each id
        # a text with the sign of a blank, or with the name of a special token, has other boundaries
        added = tokenizer.get_added_tokens_decoder().values()
        self._others = re.compile("|".join(map(re.escape, (_BLANK, *(one.content for one in added)))))

    def ids(self, texts: Sequence[str]) -> list[array[int]]:
        """Return the token ids of each text, without special tokens."""
        split = [self._split(text) for text in texts]
        known = self._known if len(self._known) <= MOST_WORDS else {}
        self._learn(known, {word for words in split for word in words or ()})
        self._known = known  # other threads go on with their own
        whole = iter(self._encoded([text for text, words in zip(texts, split, strict=True) if words is None]))
        return [
            array("i", next(whole) if words is None else b"".join(map(known.__getitem__, words)))
            for words in split
        ]

    def _split(self, text: str) -> list[str] | None:
        """Return the words of *text*, each with the blanks or the line end before it; ``None`` to encode it whole."""
        if self._others.search(text):
            return None
        words = _WORD.findall(f" {text}") if text else []
        return None if max(map(len, words), default=0) > LONGEST_WORD else words

    def _learn(self, known: dict[str, bytes], words: Iterable[str]) -> None:
        """Encode the words that are new. The tokenizer puts a blank before every text except the empty one."""
        new = [word for word in words if word not in known]
        if " " in new:
            new.remove(" ")
            known[" "] = array("i", self._encoded(["\n"])[0][:1]).tobytes()
        for word, ids in zip(new, self._encoded([word.removeprefix(" ") for word in new]), strict=True):
            known[word] = array("i", ids[word.startswith("\n") :]).tobytes()

    def _encoded(self, texts: list[str]) -> list[list[int]]:
        encode = self._tokenizer.encode_batch_fast  # the fast variant omits offsets
        return [encoding.ids for encoding in encode(texts, add_special_tokens=False)] if texts else []
