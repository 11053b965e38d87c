"""Complete, current statements of a note, without rejected options, questions, history and sentence fragments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.capture.sentences import sentences
from clawmem.domain.documents.blocks import Block, BlockKind, blocks
from clawmem.domain.security.patterns import AnyCase, Pattern
from clawmem.domain.text.vocabulary import MONTHS, SEASONS, WEEKDAYS, any_of
from clawmem.domain.text.words import words

SHORTEST, LONGEST = 10, 200  # characters of a statement
HEAD = 400  # characters at the beginning of a note that are searched for a mark that it is outdated

# Sections, lead-ins ("Reasons:") and labels ("Open: …") whose text states no current fact.
_ASIDE = AnyCase(
    r"""\b(?:
        options? | alternativ\w* | consider\w* | candidates? | compar\w* | reject\w* | refused | declined
        | turned\s+down | discarded | dropped | against | trade-?offs? | pros | cons | drawbacks? | objections?
        | open | unknowns? | questions? | undecided | (?:not|un)\s*decided | to\s+be\s+decided | unclear | tbd
        | background | context | problems? | why | reasons? | rationale | motivation | before | histor\w* | earlier
        | previous\w* | former\w* | originally | old | outdated | obsolete | deprecated | superseded
        | what\s+changed | how\s+we\s+got | revisit | review | risks? | plans? | next | later | todo | to-?do
        | ideas? | in\s+answer\s+to | maybe | drafts? | proposals? | limits | limitations | examples? | not\s+doing | not\s+tried
        | verworfen\w* | abgelehnt\w* | optionen | gründe | warum | hintergrund | offen\w* | früher | risiken | fragen
        | opciones | alternativas | descartad\w* | motivos | antecedentes | preguntas | pendientes?
        | opties | afgewezen | waarom | achtergrond | vragen | rejeté\w* | écarté\w* | pourquoi | contexte
    )\b | 备选 | 方案 | 背景 | 理由 | 复查 | 问题 | 待定 | 代替案 | 却下 | 経緯 | 課題 | 未定""",
    flags=re.VERBOSE,
)
_REJECTED = AnyCase(
    r"""\b(?:consider(?:ed|ing)? | instead\s+of | rather\s+than | reject\w* | refused? | declined? | turned\s+down
        | ruled\s+out | dropped | discarded | against | gave\s+up | give\s+up | would | could | might | may\s+be
        | proposals? | proposed? | options? | alternatives? | looked\s+at | thought\s+about | argued | suggest\w*
        | statt | anstatt | verworfen | abgelehnt | dagegen | en\s+vez\s+de | descartad\w* | afgewezen )\b""",
    flags=re.VERBOSE,
)
_OPEN = AnyCase(
    r"""\b(?:open\s+(?:question|point|issue)s? | (?:not|un)\s*decided | to\s+be\s+decided | undecided | unclear | tbd | todo
        | for\s+now | maybe | perhaps | probably | whether | not\s+sure | pending | remains\s+to | offen | unklar
        | look\s+again | so\s+far | as\s+yet | not\s+yet | no\s+answer | draft )\b""",
    flags=re.VERBOSE,
)
_DATES = any_of([*MONTHS, *WEEKDAYS, *SEASONS])
_OUTDATED = AnyCase(
    rf"""\b(?:used\s+to | no\s+longer | (?:not|n't|no|nobody|nothing|never)\b.*\bany\s?more | formerly | previously | originally
        | initially | back\s+then | in\s+the\s+past | until\s+recently | supersed\w* | obsolete | outdated | void | history
        | since\s+(?:{any_of(WEEKDAYS)})
        | until\s+(?:the\s+end|(?:early\s+|late\s+|mid-?)?(?:{_DATES})|\d+)
        | (?:on|by|before)\s+\d{{1,2}}\s+(?:{any_of(MONTHS)})
        | end\s+of\s+(?:the\s+)?(?:{any_of(MONTHS)}|year|month|week|quarter)
        | last\s+(?:year|month|week|{_DATES})
        | früher | damals | ehemals | nicht\s+mehr | antes | vroeger | avant | ne\s+\w+\s+plus )\b | 以前 | 曾经 | 不再""",
    flags=re.VERBOSE,
)
_NOTE_OUTDATED = AnyCase(
    rf"""no\s+longer\s+(?:in\s+force|valid|true|current|holds?) | (?:superseded|replaced)\s+by | \b(?:obsolete|deprecated
        |withdrawn|outdated)\b | status:\s*(?:rejected|superseded|obsolete|deprecated|draft|proposed)
        | outcome[^.\n]{0, 60}:\s*no\b | 已废弃 | 不再有效""",
    flags=re.VERBOSE,
)
# A sentence with such an opening refers to the previous sentence and is incomplete on its own.
_LEANING = AnyCase(
    r"""\A(?:this | that | these | those | it | its | they | them | their | he | she | his | her | him | both | such | so | then
        | and | but | or | nor | also | otherwise | however | therefore | thus | still | because | which | who | where | when
        | here | there | above | below | meanwhile | later | instead | if\s+so | of\s+those | of\s+these | same | the\s+same
        | the\s+(?:former|latter|second|third|other|first)\b | one\s+of\s+them | \w+\s+\w+\s+each | the\s+(?:\w+\s+)?list\b | every\s+\w+\s+\w+s\s+(?:while|if|when)\b | another | neither | only | even | never | not | \w+\s+else | what | how | why | whose
        | das | dies\w* | es | sie | er | aber | und | oder | también | pero | esto | eso | dat | deze )\b | 这 | 那 | 它 | これ | それ""",
    flags=re.VERBOSE,
)
_LINK = Pattern(r"!?\[\[(?:[^\[\]|]{0,300}\|)?([^\[\]|]{1,300})\]\]|!?\[([^\[\]]{0,300})\]\([^()]{0,1000}\)")
# "ADR 12: …", "RFC-7 – …": the number of a record is not its subject.
_RECORD_NUMBER = Pattern(r"^[A-Za-z]{1,10}[ -]?#?[0-9]+\s*[:.–—-]\s+")
_LABEL = Pattern(r"^[^.!?:。：]{1,40}[:：]")
_END = Pattern(r"[.!。！][\"')\]»”*]*$")
_CJK = Pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_START = Pattern(r"\A[\"'(«“„`*_]*[A-ZÀ-ÞŞŁ0-9.`\u0370-\u1fff\u3040-\uffdc]")
_LEANING_EARLY = AnyCase(r"\A(?:\S+\s+){1,4}(?:it|them|theirs|they|him|this|those|these)\b")
_LEANING_END = AnyCase(
    r"\b(?:that|it|them|this|those|these|so)[.!]$|,\s+(?:says|said|thinks|believes)\b[^,;]*$"
)
_ENUMERATED = Pattern(r"\s(?:and|or|und|oder|y|en|et)$|[,;:：…]$|\.\.\.$")
_LEAST_WORDS = 3
_LABEL_WORDS, _LISTED = 2, 3
_MOST_SUBJECT_WORDS = 4
_MOST_SHARED = 0.75


def note_statements(title: str, body: str) -> list[str]:
    """
    Return the complete, current statements of a note, title first; none if the note is outdated.

    The title is included if it is a statement. An imperative title ("Move sessions to Postgres") is only used if the
    body contains no statement.
    """
    if _NOTE_OUTDATED.search(body[:HEAD]):
        return []
    told, named = statements(body), title_statement(title)
    if not named or (is_order(named) and told):
        return told
    return [named, *(one for one in told if not _repeats(one, named))]


def named_decision(title: str, body: str) -> list[str]:
    """Return the title of a decision that is no complete statement; nothing if outdated, rejected or undecided."""
    named = _RECORD_NUMBER.compiled.sub("", title).strip()
    undecided = any(pattern.search(named) for pattern in (_REJECTED, _OPEN, _OUTDATED))
    if not named or undecided or "?" in named or "？" in named or _NOTE_OUTDATED.search(body[:HEAD]):
        return []
    return [named[:LONGEST]]


def statements(body: str) -> list[str]:
    """Return the complete, current statements of *body* in order."""
    return [one for text in _texts(body) for one in _of_block(text)]


def is_statement(text: str) -> bool:
    """
    Whether *text* is one complete, current statement.

    It has 10 to 200 characters, begins like a sentence, has a verb, and does not refer to a previous sentence. It is
    not a question, not rejected, not undecided and not past. A full stop is optional, as in a title or list item.
    """
    text = text.strip()
    if (
        not SHORTEST <= len(text) <= LONGEST
        or "?" in text
        or "？" in text
        or _ENUMERATED.compiled.search(text)
    ):
        return False
    if not _START.compiled.match(text) or _LEANING.compiled.match(text.lstrip("\"'“„*_(")):
        return False
    if _names_a_property(text):
        return False
    if _LEANING_END.search(text) or _LEANING_EARLY.search(text):
        return False
    if any(pattern.search(text) for pattern in (_REJECTED, _OPEN, _OUTDATED)):
        return False
    if _CJK.compiled.search(text):
        return True
    return len(text.split()) >= _LEAST_WORDS and has_verb(text) and not reports_past(text)


def _names_a_property(text: str) -> bool:
    """Whether *text* is "label: value" or "label: a, b, c", which is not understandable without its note."""
    label = _LABEL.compiled.match(text)
    if label is None:
        return False
    parts = text[label.end() :].replace(";", ",").split(",")
    return len(label[0].split()) <= _LABEL_WORDS or (
        len(parts) >= _LISTED and all(len(part.split()) <= _LISTED for part in parts)
    )


def title_statement(title: str) -> str:
    """Return a note's title if it is a complete statement or "subject: answer", else an empty string."""
    title = _RECORD_NUMBER.compiled.sub("", title).strip()
    if _LABEL.compiled.match(title):
        return title if _is_answer(title) else ""
    return title if is_statement(title) else ""


def _is_answer(title: str) -> bool:
    """Whether *title* is "subject: answer", such as "Battery: one ER14505"."""
    label = _LABEL.compiled.match(title)
    if label is None or _ASIDE.search(label[0]) or len(label[0].split()) > _MOST_SUBJECT_WORDS:
        return False
    answer = title[label.end() :].strip()
    held = SHORTEST <= len(title) <= LONGEST and "?" not in title and "？" not in title
    refused = any(pattern.search(title) for pattern in (_REJECTED, _OPEN, _OUTDATED))
    return held and not refused and bool(answer) and not _LEANING.compiled.match(answer)


def _repeats(one: str, other: str) -> bool:
    said, known = set(words(one)), set(words(other))
    return len(said & known) >= _MOST_SHARED * min(len(said), len(known))


def _texts(body: str) -> Iterator[str]:
    """Yield paragraphs and list items, except in sections and lists of options, reasons or past events."""
    path: list[tuple[int, str]] = []
    introduced_aside = False
    for block in blocks(body):
        text = body[block.start : block.end]
        if block.kind is BlockKind.HEADING:
            path = [
                *((level, label) for level, label in path if level < block.level),
                (block.level, block.label),
            ]
            introduced_aside = False
        elif block.kind is BlockKind.PARAGRAPH:
            introduced_aside = _introduces_aside(text)
        if introduced_aside and block.kind is BlockKind.ITEM:
            continue
        if _is_read(block, path) and not _is_labelled_aside(text):
            yield text


def _is_read(block: Block, path: list[tuple[int, str]]) -> bool:
    if block.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM):
        return False
    return not any(_ASIDE.search(label) for level, label in path if level > 1)


def _introduces_aside(text: str) -> bool:
    last = text.rstrip().rpartition("\n")[2]
    return last.endswith((":", "：")) and bool(_ASIDE.search(last) or _REJECTED.search(last))


def _is_labelled_aside(text: str) -> bool:
    label = _LABEL.compiled.match(text.lstrip(" \t-*+_>0123456789.)"))
    return label is not None and bool(_ASIDE.search(label[0]))


def _of_block(text: str) -> Iterator[str]:
    found = [_LINK.compiled.sub(lambda link: link[1] or link[2], one) for one in sentences(text)]
    for sentence in found:
        ends = _END.compiled.search(sentence) is not None
        if (ends or len(found) == 1) and is_statement(sentence):
            yield sentence


_BASE = """
accept agree allow answer apply ask assign avoid back backfill bake beat become begin belong bill block book bring
build burn buy cache call carry cause change charge check choose clean close collect come commit compare confirm
connect consist contain control cook copy cost count cover create decide decode define delete deliver deny depend
deploy describe do drink drop dry eat edit emit enable encode encrypt end enter exist expect expire export extend
fail fall feed fetch fill find finish fit fix flush fly follow gather generate get give go grant grow hand handle
happen hate have hear heat help hide hire hold host ignore import include index inherit invoke join keep know last
lead learn leave let lie like limit link listen live load lock log look lose make manage map mark match matter mean
measure meet merge mix mount move name need notify offer open order paint parse pass pay pick pin place plan play
point poll prefer prevent print process produce protect prove provide prune publish pull push put queue rank reach
read receive record refer refresh reject release remain remember remind remove rename renew rent repair replace
report require reset resolve respond rest restart restore retry return review revoke ride ring rise rotate route
rule run sail save say scale scan schedule see select sell send separate serialize serve set share ship show shut
sign sing sit skip sleep sort speak spend split stand start state stay stop store stream submit support swap sweep
sync take talk taste teach tell test think throttle throw time touch track translate travel treat trigger trust try
turn type understand update upgrade use validate verify visit wait wake walk want warn watch wear weigh win work
wrap write
"""
_BASES = _BASE.split()


def _third_person(verb: str) -> str:
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "x", "ch", "sh", "z")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


_VERB = AnyCase(
    r"\b(?:am|is|are|has|have|can|must|may|shall|should|will|cannot|don't|doesn't|isn't|aren't|can't|won't|\w+'(?:re|ll|ve)|(?:it|that|there|he|she)'s|owns|trains"
    r"|ist|sind|wird|werden|hat|haben|kann|muss|es|está|están|son|tiene|se|est|sont|ont|doit|wordt|worden|heeft|zijn|moet"
    rf"|{'|'.join(map(_third_person, _BASES))})\b"
)
# A base form is often also a noun. It counts as a verb after a plural or a pronoun, or at the start of an imperative.
_PLURAL_VERB = AnyCase(
    r"(?:\b\w*[a-z]s|\b(?:we|i|you|they|people|who|that|and|nobody|children))\s+"
    r"(?:(?:\w+ly|also|always|never|now|only|still|all|do|does|both|not)\s+)?"
    rf"(?:{'|'.join(_BASES)})\b"
)
_ORDER = AnyCase(rf"\A[\"'(“*_`]*(?:{'|'.join(_BASES)})\s+(?:\w|`)")
_IRREGULAR = (
    "was were wasn't weren't had did didn't became began broke brought bought built came caught chose cut died drew drove "
    "ate fell felt flew forgot found gave got grew heard held knew laid led left lent lost made meant met paid ran rose "
    "said sat saw sent shook showed slept spent spoke spread stood stole struck swore threw thought told took "
    "understood underrated went woke won wore wrote yesterday ago"
).split()
# "is held", "are made": a participle after a form of "be" or "have" is not past tense.
_PAST = AnyCase(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeen )(?<!\bhas )(?<!\bhave )(?<!\bnot )(?<!\bnever )(?<!\bgets )(?<!\bmust be )"
    rf"\b(?:{'|'.join(_IRREGULAR)})\b"
)
_REGULAR_PAST = Pattern(
    r"(?:\b(?:[Ww]e|I|[Hh]e|[Ss]he|[Tt]hey|[Ii]t|[Ww]ho|[Nn]obody|[Ss]omebody|[Ee]verybody)|\b[A-ZÀ-Þ][a-zà-ÿ]+)"
    r"\s+(?:\w+ly\s+)?(?!need|embed|feed|speed|seed|shared|based|signed|hosted|managed)\w{2,}ed\b"
)
_PERFECT = AnyCase(
    r"\A(?!if\b|when\b|once\b|whoever\b).*\b(?:has|have) (?:\w+ly |just |now )?\w+(?:ed|en|wn|ne)\b"
)
_DECIDED = AnyCase(
    r"\b(?:we|i)(?:'ve| have)?(?: all| just| now)? (?:decided|agreed|chose|settled|switched|moved|picked|adopted|standardi[sz]ed)\b"
)


def has_verb(text: str) -> bool:
    """Whether *text* contains a finite verb or begins with an imperative, as a decision may ("Use Postgres")."""
    return (
        is_order(text)
        or _DECIDED.search(text) is not None
        or _VERB.compiled.search(text) is not None
        or _PLURAL_VERB.compiled.search(text) is not None
    )


def is_order(text: str) -> bool:
    """Whether *text* begins with an imperative, as the title of a decision may ("Keep sessions in Redis")."""
    return _ORDER.compiled.match(text) is not None


def reports_past(text: str) -> bool:
    """Whether *text* reports a past event. "We decided …" does not, because the decision still holds."""
    if _DECIDED.search(text):
        return False
    return any(pattern.compiled.search(text) for pattern in (_PAST, _REGULAR_PAST, _PERFECT))
