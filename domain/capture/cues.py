"""
Sentences of Markdown, and statements of a conversation that are worth a memory, marked by five cues in English and German.

The cues are: a decision in the first person, a preference, an order with "always" or "never", a failure with its
reason, and a next step (see `handoff`). What others said, quoted, supposed, asked or denied counts for nobody.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise

from clawmem.domain.text.likeness import has_words
from clawmem.domain.text.vocabulary import MONTHS
from clawmem.domain.text.words import FULL_STOPS
from clawmem.ports.sessions import Speaker


class Kind(StrEnum):
    """Kind of a captured statement, which is the content type of its document."""

    DECISION = "decision"  # what will be done, or how
    PREFERENCE = "preference"  # how a user always wants something done
    PROBLEM = "problem"  # what is wrong, and why; only a model finds it
    MILESTONE = "milestone"  # what was achieved; only a model finds it
    ANTIPATTERN = "antipattern"  # what failed and must not be repeated
    OBSERVATION = "observation"  # what a model noted otherwise


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_OPENING = (
    r"^(?:(?:ok(?:ay)?|yes|right|fine|good|so|and|but|then|well|please|actually|scratch that|on second thought|no|sorry|wait"
    r"|ja|gut|also|dann|nein|doch nicht|eigentlich|bitte)\b[\s,.:;–—-]*)*"
)
LOCAL = _any(r"\b(?:this|diese[mrs]?) (?:repo|repository|project|codebase|workspace|projekt)\b")
_WITHIN = rf"(?:(?:in|for|on|when|bei|für)\b[^,.:;!?]{{,80}}{LOCAL.pattern},? (?:please |bitte )?)?"
_CHOSEN = (
    r"(?:use|go with|take|stick (?:to|with)|stay (?:with|on)|keep|switch to|move to|migrate|adopt|drop|remove|replace|"
    r"support|store|host|deploy|ship|skip|limit|rename|set|stop)"
)
_CHOOSING = r"(?:using|going with|taking|sticking (?:to|with)|staying (?:with|on)|keeping|switching to|moving to|dropping)"
_ALREADY = r"(?: (?:all|both|just|now|finally|already|also|then|therefore|only|always))*"
_ADVERBS = rf"(?:{_ALREADY}|(?: no longer| not| never)+)"
_SETTLED = r"(?:entschieden|beschlossen|vereinbart|geeinigt|festgelegt)"

_DECIDED = _any(
    rf"\b(?:we|i)(?:'ve| have)?{_ALREADY} (?:decided|agreed|settled|chose|chosen|opted)\b",
    r"^(?:decision(?: made)?|decided|agreed|entscheidung|beschluss|entschieden)\s*:",
    r"(?:\b(?:wir haben|ich habe)|(?<=\w )(?:haben wir|habe ich))\b"
    rf"(?!.{{0,150}}\b(?:fast|nicht|nie|niemals|nichts)\b.{{0,150}}{_SETTLED}).{{0,150}}\b{_SETTLED}\b",
)
_INTENDED = _any(  # by a user; an assistant describes its work and its examples in these words
    rf"\bwe(?:'re| are) going to{_ADVERBS} {_CHOSEN}\b|\bwe(?: now| no longer| only| always| never) {_CHOSEN}\b",
    r"\bwe(?:'ll| will| shall)(?: not| never)? (?!be|have|need|see|know|find|get|talk|wait|check|try|look|meet|discuss|make)\w+",
    r"\bi(?:'ll| will|'m going to| am going to) (?:go with|stick (?:to|with)|stay (?:with|on)|switch to|drop)\b",
    rf"\b(?:we|i)(?:'re| are|'m| am){_ADVERBS} {_CHOOSING}\b|\blet(?:'s| us){_ADVERBS} {_CHOSEN}\b(?! \w+ing\b)",
    r"\bwe(?:'re| are) (?:moving|switching|migrating)\b.{0,80}\bto\b",
    r"\blasst? uns\b.{0,80}\b(?:nehmen|verwenden|benutzen|nutzen|bleiben|streichen)\b",
    r"\bwir werden\b.{0,80}\b(?:nehmen|verwenden|benutzen|nutzen|einsetzen|wechseln|streichen|ersetzen)\b",
    rf"{_OPENING}(?:from now on|ab (?:jetzt|sofort|heute)|künftig|in zukunft)\b|\bi no longer\b",
    rf"(?:{_OPENING}{_WITHIN}|, )(?:we {_CHOSEN}|wir (?:verwenden|benutzen|nutzen|unterstützen))\b",
    r"\bwir (?:nehmen|bleiben bei|setzen auf|wechseln (?:zu|auf)|streichen|ersetzen)\b",
    rf"(?:\b(?:dann|also|jetzt) |^{_WITHIN}(?<=. ))(?:nehmen|verwenden|benutzen|nutzen|streichen|ersetzen|bleiben) wir\b",
)
_PREFERRED = _any(
    r"\bi(?: really| generally| usually| strongly| much)? prefer\b|\bmy preference is\b|\bi (?:don't|do not) like\b",
    r"\bi(?:'d| would) (?:prefer|rather)\b(?!.{0,150}\bif (?!you\b))",
    r"\bi (?:always|never) (?!\w+ed\b|saw|was|had|knew|thought|got|did|went|said|heard|been)\w+",
    r"\bich (?:bevorzuge|mag lieber|hätte lieber)\b|\bmir (?:ist|sind)\b.{0,150}\blieber\b|\bich\b.{0,80}\bam liebsten\b",
    r"\bich (?:will|möchte) (?:immer|nie|kein\w*)\b",
)
_ORDERED = _any(
    rf"{_OPENING}{_WITHIN}(?:always|never) "
    r"(?!an?\b|the\b|on\b|in\b|at\b|here|there|happy|good|nice|mind\b|\w+(?:ing|ed)\b|saw|had)\w+",
    r"\byou (?:should|must|have to) (?:always|never)\b|^[\w ]{1,40}: (?:always|never|immer|nie)\b",
    r"\bplease\b.{0,150}\b(?:always|never)\b|,? (?:always|never),? please[.!]?$|^please\b.{0,150}\bfrom now on[.!]?$",
    rf"{_OPENING}{_WITHIN}(?:immer|nie|niemals) \w+",
    rf"{_OPENING}(?!ich|du|er|sie|es|wir|ihr|das|die|der|man|wer|was|ist|war|hat|i|we|he|she|it|they|that)"
    r"\w+ (?:bitte |mir )?(?:immer|nie|niemals)\b",
)
_FAILED = _any(
    r"\b(?:fail(?:s|ed)?|broke|breaks|crash(?:es|ed)?|hangs?|hung|won't work|(?:does|did|will)(?: not|n't)(?: \w+)? work)"
    r"\b.{0,150}\b(?:because|since|due to)\b",
    r"\b(?:fehlgeschlagen|scheitert\w*|gescheitert|abgestürzt|(?:funktioniert\w*|geht|ging) nicht)\b"
    r".{0,150}\b(?:weil|wegen|da)\b",
)

_REPORTING = (
    r"^(?:(?!\b(?:i|we|ich|wir|let's)\b).)*\b(?:said|says|wrote|according to|apparently|supposedly|allegedly|put it|laut|"
    r"angeblich|anscheinend|sagte?|gesagt|meinte?|schreibt|schrieb|geschrieben|behauptet|erzählt|steht|heißt es|warum|wieso)\b"
)
# Signs before a cue that the statement is not the speaker's own: reported by somebody else, supposed or open.
_FOREIGN = _any(
    _REPORTING,
    r"\bi (?:heard|read|was told)\b|\bnot true\b|\bich habe (?:gehört|gelesen)\b",
    r"\b(?:suppose|supposing|imagine|hypothetically|assum(?:e|ing)|if|unless|until|whether|maybe|perhaps|possibly|could|might|would|"
    r"should|say|angenommen|falls|wenn|ob|vielleicht|eventuell|könnte\w*|würde\w*|sollte\w*|stell dir vor|nehmen wir an)\b",
)
# "Bob wrote:" on a line, with the paragraph or list below.
REPORT = _any(rf"(?m)(?=^.{{1,200}}:[ \t]*$){_REPORTING}.*\n\s*(?:.*\S.*(?:\n|\Z))+")
# Ends of the text before a cue where its clause begins, perhaps after an introduction ("For the cache we", "I think we").
# Elsewhere the clause is part of another's: "The README states we", "Remind me why we", "The book: we".
_CLAUSE = _any(
    rf"{_OPENING}\W*(?:(?!(?:after|before|had|how|once|pretend|the|until|wh\w+)\b)(?:[\w']+|[\w']+ [\w']+:))?:?\s*$",
    r"(?:[,;.!?…—–)-]|\b(?:and|as|because|but|btw|fyi|or|since|so|then|i (?:guess|think)|(?:mind|note|remember)(?: that)?))\s*$",
    r"(?:^|[,;.—–-] |\band )(?:after|at|by|during|for|from|in|last|on|this|to|with)\b(?:(?!\b(?:how|it|that|wh\w+)\b)[^,;])*$",
)
_CREDITED = _any(r",\s+(?:says|said|writes|wrote|claims|according to|sagt|sagte|meint|laut|so steht)\b")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“”"]*[“”"]|«[^»]*»|`[^`]*`|(?<!\w)[\'‘][^\'’]*[\'’](?!\w)')
_CUES_OF_ASSISTANT = ((Kind.DECISION, _DECIDED), (Kind.ANTIPATTERN, _FAILED))
_CUES_OF_USER = (
    (Kind.PREFERENCE, _PREFERRED),
    (Kind.PREFERENCE, _ORDERED),
    *_CUES_OF_ASSISTANT,
    (Kind.DECISION, _INTENDED),
)


def kind_of(sentence: str, speaker: Speaker) -> Kind | None:
    """Return the kind of an own statement of *speaker*; ``None`` if it is not worth a memory. Only users prefer."""
    own = _QUOTED.sub("…", sentence.replace("’", "'"))
    if _CREDITED.search(own):
        return None
    is_question = own.rstrip("])\"'").endswith("?")
    for kind, pattern in _CUES_OF_USER if speaker is Speaker.USER else _CUES_OF_ASSISTANT:
        cue = pattern.search(own)
        # "I prefer small steps, can you split this?"
        if cue is None or (is_question and pattern is not _PREFERRED):
            continue
        before = own[: cue.start()]
        is_embedded = cue[0].lower().startswith(("we", "i ", "i'", "you ")) and not _CLAUSE.search(before)
        if not is_embedded and not _FOREIGN.search(before):
            return kind
    return None


# -- sentences ------------------------------------------------------------------------------------------

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_NOT_SAID = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_TURN = re.compile(r"^[ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?([A-Z]\w+(?: [A-Z]\w+)?):[ \t].*$", re.MULTILINE)
LIST_MARK = re.compile(r"(?m)^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|^#{1,6}[ \t]+")
_END = re.compile(
    rf"(?!(?<=\d)\.\s+(?:[a-zäöü]|(?i:{'|'.join(MONTHS)})\b))"  # ordinal numbers: "zum 1. Mai", "am 3. des Monats"
    r"(?<![\s(][a-zA-Z])(?<![\[])(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bca)(?<!\bz\.B)(?<!\betc)"
    rf"(?:[.!?{FULL_STOPS}]{{1,9}}[\"')\]»”]{{0,9}}(?=\s)|[{FULL_STOPS}])\s*"
)


def sentences(text: str) -> Iterator[str]:
    """
    Yield the sentences of *text* in order, each on one line, without list marks and emphasis.

    The end of a list item, heading or paragraph ends a sentence. Fenced code, quoted lines and tables are left out.
    """
    for block in re.split(r"\n\s*\n", LIST_MARK.sub("\n\n", spoken_text(text))):
        flat = " ".join(block.replace("**", "").replace("__", "").split())
        ends = (end.end() for end in _END.finditer(flat))
        yield from filter(None, (flat[start:end].strip() for start, end in pairwise([0, *ends, len(flat)])))


def answering_sentences(text: str, asked: Sequence[str]) -> str:
    """Return the sentences of *text* with most of the words *asked*."""
    counts = {sentence: sum(has_words(asked, sentence)) for sentence in sentences(text)}
    most = max(counts.values(), default=0)
    return "\n".join(sentence for sentence, count in counts.items() if count == most)


def spoken_text(text: str) -> str:
    """Return *text* without fenced code, quoted lines, tables, and the lines of a pasted chat, whose speakers alternate."""
    spoken = _NOT_SAID.sub("", _FENCED.sub("\n\n", text))
    speakers = _TURN.findall(spoken)
    return _TURN.sub("", spoken) if 1 < len({*speakers}) < len(speakers) else spoken
