from __future__ import annotations

import re
import unicodedata
from typing import Any

from clawmem.ports.lexical_index import TITLE_WEIGHT
from clawmem.ports.records import LexicalQuery

# A letter of one single manuscript. Texts lose it, so that it stands between the parts of an entry and nowhere else.
BOUNDARY = "ꙮ"

_WORD = re.compile(r"[^\W_]+")
_LOOSE_MARKS = re.compile("[\u0300-\u036f]")


def written(title: str, text: str) -> str:
    """What is indexed of an entry: its title as often as it weighs, then its text, with boundaries between."""
    parts = [*([folded(title)] * TITLE_WEIGHT if title else []), folded(text)]
    return f" {BOUNDARY} ".join(parts)


def folded(text: str) -> str:
    """*text* without what the engine's own folding, which knows composed Latin letters, would stumble over."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text).casefold()
    return _LOOSE_MARKS.sub("", unicodedata.normalize("NFC", composed)).replace(BOUNDARY, " ")


def asked(query: LexicalQuery, column: str) -> Any | None:
    """The engine's query for a column of text; ``None`` when no term holds a letter or digit."""
    from lancedb import query as module

    engine: Any = module  # its classes are dataclasses in a way that a type checker cannot follow
    terms = [_WORD.findall(folded(term.text)) for term in query.terms]
    words = [pieces[0] for pieces in terms if len(pieces) == 1]
    operator = engine.FullTextOperator.AND if query.every else engine.FullTextOperator.OR
    # All words in one match: apart, the engine scores each in full before it adds up.
    parts = [engine.MatchQuery(" ".join(words), column, operator=operator)] if words else []
    parts += [engine.PhraseQuery(" ".join(pieces), column) for pieces in terms if len(pieces) > 1]
    if len(parts) < 2:
        return parts[0] if parts else None
    occur = engine.Occur.MUST if query.every else engine.Occur.SHOULD
    return engine.BooleanQuery([(occur, part) for part in parts])
