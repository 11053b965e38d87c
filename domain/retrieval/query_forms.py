"""
Conversion of a typed query to queries of the lexical index.

A natural question becomes a query for any of its content words. With every word required, conversational questions
found almost nothing (session hit@10 .22 against .97, same index). A name, a path, a version or up to three bare terms
also get the precise form, with every term required, which ranks above the relaxed form. So do quoted phrases and the
identifiers of a longer question, whose words must be adjacent.
"""

import re
from itertools import islice, takewhile
from typing import NamedTuple

from clawmem.domain.text.vocabulary import FORMER, NEWEST, function_words
from clawmem.domain.text.words import fold, has_function_stem, is_unspaced, normalise, search_text, words
from clawmem.ports.records import LexicalQuery, Term

MAX_QUERY = 10_000  # characters
MAX_TERMS = 64  # distinct words that are searched; further words of a long text are ignored
MAX_BARE_TERMS = 3
MAX_QUOTED = 8  # quotations; pasted data has more

# Words that tell which of several answers a question wants, but not its topic: a note that contains "latest" is no better
# answer to "the latest price".
_ASKING_WORDS = (
    NEWEST
    | {word for word in FORMER if word.endswith("ly")}
    | set("now nowadays currently presently recent recently lately must might shall much many".split())
)

# Words that ask for a note, and articles; they are no part of its topic.
_NO_TOPIC = frozenset(
    "show find give get tell list turn zeig zeige montre muestra der die das el la los las le les".split()
)

# The pattern is unambiguous, so that a long word is rejected in linear time.
_IDENTIFIER = re.compile(
    r"""
    (?<!\w)(?:\w+(?:[./\\:#@-]+\w+)+   # src/retry.py, v2.3.1, ISO-8601
    | (?=\w[^\W_]*_+\w)\w+      # before_compaction
    | [a-z]+[A-Z]\w*            # camelCase
    | \b[A-Z][A-Z0-9]{2,}\b     # ERR
    | (?=\w*[a-zA-Z]\d)\w+)     # v2, utf8
    """,
    flags=re.VERBOSE,
)
_INFLECTED = ("s", "ed", "ing")
_PHRASE = re.compile(r"(?<!\w)[\"“„«](?P<phrase>[^\"“”„«»\n]{2,200})[\"”“»](?!\w)")


class QueryForms(NamedTuple):
    """
    The forms of one query: ``precise`` requires every term, as a prefix or as a phrase; ``relaxed`` any term, if there
    is one.

    ``words`` are marked in snippets and explanations. Notes with one of ``excluded`` are no answers. An answer has the
    words of each of ``phrases`` in a row; those of ``quoted`` phrases come first in exactly this form.
    """

    words: tuple[str, ...]
    relaxed: LexicalQuery
    precise: LexicalQuery | None = None
    excluded: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    quoted: tuple[tuple[str, ...], ...] = ()


def query_forms(query: str) -> QueryForms:
    """
    Parse *query* into words; no input reaches a search engine's query syntax.

    Stop words of its language and words such as "latest" are dropped unless there are no others. The precise form keeps
    them, because they may be part of a name. Words at the end with a minus are excluded if the rest has words: "apple
    -laptop".
    """
    tokens = normalise(query).split()
    # A minus before the last words excludes them; elsewhere it marks an option of a command ("kubectl get pods -n prod").
    marked = (token[:1] == "-" and len(token) > 3 and token[1:].isalpha() for token in reversed(tokens))
    excluded = len(list(takewhile(bool, marked)))
    rest = query.rsplit(maxsplit=excluded)[0] if 0 < excluded < len(tokens) else query
    text = rest if words(rest) else query
    every = list({fold(word): word for word in words(text)}.values())
    is_name = is_precise(text)
    left_out = _ASKING_WORDS | function_words(every)
    content = tuple([word for word in every if word not in left_out] or every)[:MAX_TERMS]
    quotations = (words(match["phrase"]) for match in islice(_PHRASE.finditer(text), MAX_QUOTED))
    quoted = tuple(tuple(phrase) for phrase in quotations if phrase)
    # Abbreviations ("i.e.") are no phrases, and numbers and dates ("5.3.0") only where the whole text is a name.
    least = r"\d|\w\w" if is_name else r"[^\W\d_]{2}"
    names = [
        name for name in identifiers(text) if re.search(r"[_\d:\\@#]|\w\.\w", name) and re.search(least, name)
    ]
    parts = (tuple(words(name)) for name in names)
    phrases = tuple(dict.fromkeys((*quoted, *(part for part in parts if 1 < len(part) <= MAX_TERMS))))
    adjacent = {word for phrase in phrases for word in phrase}
    singles = [word for word in every if word not in adjacent] if is_name else []
    required = (
        *(Term(search_text(" ".join(phrase))) for phrase in phrases),
        *(_term(word, prefix=True) for word in singles[:MAX_TERMS]),
    )
    # An inflected word is written to its end: "mars" is no beginning of "market", which begins with its stem.
    begun = {word for word in content if is_name and (word,) not in quoted and not word.endswith(_INFLECTED)}
    return QueryForms(
        words=content,
        relaxed=LexicalQuery(tuple(_term(word, prefix=word in begun) for word in content)),
        precise=LexicalQuery(required, every=True) if required else None,
        excluded=tuple(words(query[len(text) :])),
        phrases=phrases,
        quoted=quoted,
    )


def content_words(text: str) -> tuple[str, ...]:
    """Return the words of *text* that name a topic, each once."""
    every = dict.fromkeys(words(text))
    left_out = function_words(every) | _NO_TOPIC
    return tuple(word for word in every if word not in left_out)


def is_precise(query: str) -> bool:
    """Whether *query* is a name rather than a question: only identifiers and numbers, or up to three bare terms."""
    typed = normalise(query).rstrip()
    parts = typed.split()
    bare = [part.lower().strip("?!.,;:'\"") for part in parts]
    if typed.endswith("?") or not (_ASKING_WORDS | function_words(bare)).isdisjoint(bare):
        return False
    are_names = (part.isdigit() or _IDENTIFIER.fullmatch(part) for part in parts)
    return len(parts) <= MAX_BARE_TERMS or all(are_names)


def identifiers(query: str) -> list[str]:
    """Return the code identifiers in *query*, in order: paths, codes, versions, ``snake_case`` and ``camelCase``."""
    found = (match[0] for match in _IDENTIFIER.finditer(normalise(query)))
    return [name for name in found if not name.replace("-", "").isalpha() or not name.islower()]


def _term(word: str, *, prefix: bool) -> Term:
    # A single character of an unspaced script is searched as the prefix of an indexed pair. A single letter would match a
    # tenth of the vocabulary.
    alone = is_unspaced(word) and len(word) == 1
    # Indexes compare beginnings with stems: every word with "in" begins as the stem of "Ines" does.
    is_start = prefix and len(word) > 1 and not is_unspaced(word) and not has_function_stem(fold(word))
    return Term(fold(word), prefix=True) if alone or is_start else Term(search_text(word))
