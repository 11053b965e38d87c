"""Form of a prompt: a request about the current task, or a question about the user's knowledge; names and files in it.

"Add a docstring to this function" and "where do we keep backups?" may share equally many words with a vault, but the
first is answered by the open code and the second by a note. Only English is recognised; prompts in other languages
have the form of a plain statement.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import words

# Verbs that open a request to make, change or explain something.
_TASK_VERBS = frozenset(
    """
    add adjust amend append apply build bump catch center centre change check cherry clean clear code commit compare
    compile complete compute configure convert copy correct count cover create debounce debug declare define delete
    deploy describe design document draft draw edit enable expand explain export extend extract fix format generate
    give handle hide implement import improve indent inline insert install integrate list log lint make memoize merge
    migrate mock modify move name open optimise optimize parse pick polish print profile prove put read rebase redo
    refactor remove rename reorder replace resolve restructure return revert review rewrite round run set shorten show
    simplify solve sort speed split start stop style suggest summarise summarize swap test tidy toggle translate trim
    try turn undo unwrap update upgrade use validate verify wrap write
    """.split()
)
_OPENERS = frozenset(
    "please now then and so also but ok okay well hey just can could would you we let s lets".split()
)
# Openings of general-knowledge questions.
_GENERAL = tuple(
    f"{opening.strip()} "
    for opening in """
    how do i|how do you|how can i|how can you|how could i|how should i|how to|how does|how is a|how is an|how far is|how tall is
    |what is a|what is an|what is the best|what is the difference|what is the right|what is the fastest|what is the easiest
    |what is the capital|what does|what do you|what s the|what time is it|what should i|what are some|why does my|why is my
    |why are my|why do my|why does this|why is this|is there a|is there an|who invented
    |who discovered|who wrote|who painted|in which year|tell me a|tell me an|tell me something|can you explain
    """.replace("\n", "").split("|")
)
# Words that may stand before a question: "remind me who …", "do you know where …".
_REQUESTS_TO_TELL = frozenset("remind remember tell me us do know again".split())
_GENERAL_WITHIN = (" are there in a ", " are there in an ", " is there in a ", " is there in an ")
_POINTING = frozenset("this these here".split())
_POINTING_LAST = frozenset("above below that those".split())
_TIMES = frozenset(
    "day days week weeks month months year years morning evening summer winter spring autumn time".split()
)
_OURS = frozenset("we our ours us did was were had decided agreed ago".split())
_OWN = frozenset("i my mine".split())
# "Me" refers to the author ("what does the school owe me") unless it belongs to a request ("show me", "explain to me").
_ASKED_OF = frozenset(
    "tell show give let help send teach get write find remind make bring explain to for with".split()
)

MOST_FILES = 3
RESULTS_EACH = 2
EXTENSIONS = (
    "ts",
    "js",
    "py",
    "md",
    "sh",
    "yaml",
    "yml",
    "json",
    "toml",
    "rs",
    "go",
    "tsx",
    "jsx",
    "css",
    "html",
)
_FILE = Pattern(
    rf"(?<![\w./-])(?:[\w.-]{{1,80}}/){{0,12}}[\w.-]{{1,80}}\.(?:{'|'.join(sorted(EXTENSIONS, reverse=True))})(?![\w/])",
    "|".join(f".{extension}" for extension in EXTENSIONS),
)


class PromptForm(NamedTuple):
    """
    Boolean features of one prompt.

    Attributes:
        task: The prompt opens with a verb that asks for work, and holds no "I" ("summarize how I fixed it").
        general: The prompt opens like a general-knowledge question.
        pointing: The prompt points at something in the current context: "this function", "the code above".
        ours: The prompt refers to actions or property of a group: "we", "our", "did", "decided".
        own: The prompt refers to its author: "I", "my", "owe me"; false for a general question such as "how do I".
        telling: The prompt holds a word other than function words.
    """

    task: bool = False
    general: bool = False
    pointing: bool = False
    ours: bool = False
    own: bool = False
    telling: bool = True


def prompt_form(prompt: str) -> PromptForm:
    """Return the form of *prompt*, derived from its words."""
    every = words(prompt)
    opening = _after(_OPENERS, every)
    question = _after(_REQUESTS_TO_TELL, opening)
    text = f"{' '.join(opening)} "
    general = (
        text.startswith(_GENERAL)
        or f"{' '.join(question)} ".startswith(_GENERAL)
        or any(phrase in text for phrase in _GENERAL_WITHIN)
    )
    is_about_author = any(word == "me" and before not in _ASKED_OF for before, word in pairwise(every))
    general = general and not is_about_author
    return PromptForm(
        task=opening[:1] != [] and opening[0] in _TASK_VERBS and "i" not in every,
        general=general,
        pointing=any(map(_points, every, [*every[1:], ""])),
        ours=not _OURS.isdisjoint(every),
        own=is_about_author or (not general and not _OWN.isdisjoint(every)),
        telling=not STOP_WORDS.issuperset(every),
    )


def _after(openers: frozenset[str], every: Sequence[str]) -> list[str]:
    """Return *every* without leading words that are in *openers*; unchanged if all of them are."""
    start = next((n for n, word in enumerate(every) if word not in openers), 0)
    return list(every[start:])


def _points(word: str, following: str) -> bool:
    """Whether *word* points at something in the current context; false for "these days" and "above 500"."""
    return (word in _POINTING and following not in _TIMES) or (word in _POINTING_LAST and not following)


def proper_names(prompt: str) -> list[str]:
    """Return the words of *prompt* that are capitalised like proper names, except at the start of a sentence."""
    found: list[str] = []
    opens = True
    for part in prompt.split():
        bare = part.strip("\"'()[]{}<>*_`.,;:!?")
        if not opens and len(bare) > 1 and bare[0].isupper() and not bare.isupper():
            found += [word for word in words(bare.partition("'")[0]) if len(word) > 1]
        opens = part.endswith((".", "!", "?"))
    return found


def named_files(prompt: str) -> tuple[str, ...]:
    """Return up to `MOST_FILES` distinct paths and file names in *prompt*, in order of occurrence."""
    found = _FILE.compiled.findall(prompt) if _FILE.may_match(prompt) else ()
    return tuple(dict.fromkeys(found))[:MOST_FILES]
