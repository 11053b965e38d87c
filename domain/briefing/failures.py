"""The same error in the output of a failed command and in a note, and the question of a prompt with such output."""

import re

from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.surfacing.gate import LOOK_BACK, MOST_PROMPT, needs_earlier, without_prefixes
from clawmem.domain.text.likeness import has_words

MOST_LINES, MOST_SIGNS = 40, 3  # lines of output that are read, from both ends; lines that may name the error
LEAST_WORDS = 3  # of a line without an identifier: "Permission denied" names no error
LEAST_SHARE, LEAST_BESIDE_IDENTIFIER = 0.76, 0.5  # of its words, in one paragraph of a note
LONGEST = 300  # characters of a line
_VARIABLE = re.compile(r"[/\\]|\A\W*\d")  # words that are paths, addresses or numbers
_QUOTATION_MARKS = "'\"`‘’“”"
_QUOTED_PROMPT = frozenset('"“”„«»')
# Within a word, as in TypeError, ssl_error, externally-managed; or all of it, as ENOENT.
_IDENTIFIER = re.compile(r"[a-z][A-Z]|\w[_-]\w|\A[A-Z]{5}")


def query_of(prompt: str) -> str:
    """
    Return what to search for a *prompt*; of one longer than what is read, such as a log, the last questions.

    If the questions name no topic ("why does this fail?"), the line that names the error follows, or else the whole text.
    Quotation marks around a whole prompt make no phrase of it, and pictures have no words.
    """
    prompt = re.sub(r"data:[\w/+.-]{0,60};base64,[\w+/=%-]*", "", prompt)
    text, end = without_prefixes(prompt), prompt[-MOST_PROMPT:]
    if _QUOTED_PROMPT.isdisjoint(text[1:-1]):
        text = text.strip("".join(_QUOTED_PROMPT))
    lines = dict.fromkeys(line.strip() for line in f"{text}\n{end}".splitlines() if len(line) <= LONGEST)
    questions = [line for line in lines if line.endswith(("?", "？", "؟"))][-LOOK_BACK:]
    if len(prompt) <= MOST_PROMPT or not questions:
        return text
    errors = list(filter(identifiers, error_lines(end)))[:1] or [text]
    return "\n".join([*questions, *(errors if needs_earlier(" ".join(questions)) else ())])


def error_lines(output: str) -> list[str]:
    """Return the lines of *output* that may name the error, without what varies: those with identifiers, the last first."""
    words_of = (line[:LONGEST].split() for line in output.splitlines() if line.strip())
    lines = [" ".join(word for word in line if not _VARIABLE.search(word)) for line in words_of]
    read = dict.fromkeys([*reversed(lines[-MOST_LINES:]), *lines[:MOST_LINES]])
    named = [line for line in read if identifiers(line) or len(content_words(line)) >= LEAST_WORDS]
    return sorted(named, key=lambda line: not identifiers(line))[:MOST_SIGNS]


def identifiers(line: str) -> list[str]:
    """Return the identifiers of *line*, and its words in quotation marks."""
    words = [word.strip(".,:;()[]<>") for word in line.split()]
    named = [word for word in words if _IDENTIFIER.search(word) or word[:1] in _QUOTATION_MARKS]
    return [name for word in named if (name := word.strip(_QUOTATION_MARKS))]


def names_error(paragraph: str, line: str) -> bool:
    """Whether *paragraph* names the error of *line*: it has all its identifiers and enough of its words."""
    named = identifiers(line)
    if any(name.lower() not in paragraph.lower() for name in named):
        return False
    topic = content_words(line)
    share = sum(has_words(topic, paragraph)) / max(1, len(topic))
    return share >= (LEAST_BESIDE_IDENTIFIER if named else LEAST_SHARE)
