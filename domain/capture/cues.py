"""
Cue phrases that classify a sentence of a conversation, in English and German.

Every table lists patterns over one sentence. Questions, considerations and hypotheses are excluded before any of
them is tried. The choice of patterns was measured on labelled conversations. The cues of preferences are in
`preferences`.
"""

from __future__ import annotations

from clawmem.domain.capture.kinds import Kind
from clawmem.domain.capture.preferences import (
    ASKED,
    OPENERS,
    PREFERRED,
    PREFERRED_EVEN_WITHIN_A_QUESTION,
    compiled,
    is_like,
)
from clawmem.ports.sessions import Speaker

WEIGHED = (
    r"\b(?:could|might|may|maybe|perhaps|possibly|presumably|probably should)\b",
    r"\b(?:i|we|you|they|it|that)(?:'d| would)\b",
    r"\bwould (?:be|have|need|take|give|make|help|hide|leave|like|try|run|stay)\b",
    r"\b(?:should|ought to)\b",
    r"\b(?:if|whether|unless|wenn|falls|ob) (?:we|you|i|they|it|the|that|nobody|anybody|wir|ich|man|du|sie)\b",
    r"\b(?:option|alternative|choice|possibilit)\w*\b.*(?::|\bare\b|\bis\b)",
    r"\b(?:you|one|man) (?:can|kann)\b|\bthere are (?:two|three|four|several) (?:ways|options)\b",
    r"\b(?:try|probieren|let's see|we'?ll see|let me)\b",
    r"\b(?:haven't|have not|hasn't|not yet|before we|until we) (?:decided?|agreed?|chosen?|settled?)\b",
    r"\b(?:suggest|recommend|propose|thinking about|considering|könnte|vielleicht|sollte)\b",
    r"\b(?:others|people|some|most teams|customers) (?:do|use|prefer|go)\b",
)

_BASE = (
    r"(?:use|go|go with|take|stick|stay|keep|switch|move|migrate|adopt|drop|remove|replace|support|send|store|"
    r"notify|ship|run|build|write|call|make|put|pick|choose|skip|leave|limit|require|deprecate|delay|postpone|"
    r"ignore|host|deploy|freeze|split|merge|rename|retire|target|pin|cap|round|log|revisit|fix|purge|change)"
)
_ING = (
    r"(?:using|going|taking|sticking|staying|keeping|switching|moving|migrating|adopting|dropping|removing|"
    r"replacing|skipping|leaving|retiring|postponing)"
)

DECIDED = (
    r"\b(?:we|i|they)(?:'ve| have)? (?:just |now |finally )?(?:decided|agreed|settled|chose|opted|concluded)\b",
    r"\b(?:decided|agreed|settled) (?:to|on|against|that|for)\b",
    r"\b(?:decision|entscheidung|agreed|decided|resolution)\s*:",
    rf"\bwe(?:'ll| will| shall|'re going to| are going to) (?:not |now |only |always )?{_BASE}\b",
    rf"\b(?:we|i)(?:'re| are|'m| am) (?:now |not |only )?{_ING}\b (?!through|over|to (?:check|look|see))",
    r"\b(?:i'll|i will) (?:go with|stick (?:to|with)|stay (?:with|on)|keep|switch to|drop)\b",
    r"\bi(?:'ll| will)\b.*\b(?:rather than|instead of)\b",
    r"\blet'?s (?!see|check|look|talk|discuss|try|wait|hope|say|find|start|think|test|do (?:it|this|that)\b|be\b|not worry)",
    r"\b(?:from now on|from today|as of (?:now|today)|going forward|ab (?:jetzt|sofort|heute)|künftig)\b",
    r"\bgoing with\b|\bwent with\b|\bit is(?:$|[.,!]| for )",
    r"\bwir (?:nehmen|verwenden|benutzen|bleiben bei|machen|lassen|stellen|haben (?:uns )?(?:beschlossen|entschieden))\b",
    r"\b(?:no longer|any more)\b.*\b(?:support|accept|use|allow)|\bwill (?:not|no longer) (?:get|be|use|support)\b",
    r"\bi (?:added|made) (?:a|it a) (?:rule|policy|requirement)\b|\bmust only\b|\bthe (?:rule|policy|plan) is(?: now)?\b",
)

# Only cues of a user: in an assistant's report the same words describe the present state, not a decision.
DECREED = (
    rf"{OPENERS}we (?:now |only |all )?{_BASE}s?\b",
    r"(?:^|[,;:.] )(?:\S+ ){1,8}then[.!]?$",
    r"\bno [\w-]+(?: [\w-]+)?(?:,| then| in (?:this|our)| here| anywhere)",
    (
        r"\b(?:limit|default|timeout|value|size|window|threshold|name|deadline|language|version)s?\b.*"
        r"\b(?:stays?|becomes?|remains?|is|goes)\b"
    ),
    r"\b(?:stays?|becomes?|remains?|stick) (?:a|an|as|at|in|on|its|out|off|opaque|where|with|the)\b",
    r"\b(?:go(?:es)?|moves?|waits?) (?:in|into|to|out|for) (?:the|a|an|second|version|next|\d)\b",
    r"\b(?:only|nur) (?:run|runs|in|on|for|get|when|the|im|in der)\b",
    r"^(?:fine|ok|okay|good|agreed|yes)[,:]? (?:[\w/.'-]+ ){0,6}(?:with|becomes|as(?! (?:always|usual|before|ever)\b)|:)",
    r"\b(?:rename|move|set|change|switch|drop|replace|remove) (?:it|that|them|the \S+|this)\b.*\b(?:to|by|with|everywhere)\b",
    r"\bis (?:good )?enough\b",
    r"\bin this project\b|\bfrom day one\b|\bacross the board\b",
    rf"{OPENERS}i(?:'ll| will) {_BASE}\b",
    # A requirement; "it must be" and "they must have" are more often conclusions.
    (
        rf"{OPENERS}(?!(?:i|you|it|he|she|they|that|this|there|what|who|something|somebody|someone)\b)(?:[\w'-]+ ){{1,6}}"
        r"(?:must|shall) (?:not |never |only |always )?(?!be\b|have\b|know\b|mean\b|not\b|never\b)[a-z]+"
    ),
)

SETTLED = (  # cues of an assistant that states a new rule
    (
        r"\b(?:is|are) (?:now )?(?:kept|stored|resolved|smoothed|masked|rounded|limited|capped|written) "
        r"(?:as|in|on|by|over|at|to|and only)\b"
    ),
    r"\b(?:expire|expires|times? out)\b.*\bafter\b",
    r"\b(?:is|are) now (?:only|always|never|set to|limited|required|optional)",
    r"\bis now \d+ \w+ so that\b",
    r"\bonly (?:links?|runs?|passed|allowed|accepts?|applies)\b",
    r"\b(?:stays?|remains?) (?:on|at|in|where) (?:the|its|their|a)\b",
    r"\b(?:i(?:'m| am) keeping|i kept|i(?:'ll| will) (?:make|have) \S+ .*\bonly\b)",
)

BROKEN = (
    r"\b(?:problem|bug|culprit|root cause|reason|catch|issue|worst one)\b.*?(?:\bis\b|\bwas\b|:|\bist\b)",
    (
        r"(?<!\bmust )(?<!\bshall )\b(?:fail|crash|throw|abort|leak|hang|deadlock|backtrack|hit|lose|kill|block|break|drop|flood|corrupt|ignore)"
        r"(?:s|es|ed|ing)?\b.*\b(?:because|since|when|if|on|before|after|with|of|for|without|otherwise|exponentially)\b"
    ),
    (
        r"\b(?:does not|doesn't|do not|don't|cannot|can't|could not|couldn't) "
        r"(?!matter|know|think|need|see|touch|want|like|decide|expect|belong|worry|make sense|have to)\w+.*\b(?:when|because|so|the|be|at all)\b"
    ),
    r"\b(?:broken|unreadable|corrupt(?:ed)?|stuck|readable in|wrong|too slow|out of memory)\b",
    r"\blos(?:es|ing) (?:the|its|their|all|data)\b|\brefuses\b|\bby the .* instead of the\b",
    r"\bwhat (?:fails|breaks|hurts|is wrong)\b|\bis what (?:fails|breaks|hurts)\b",
    r"\b(?:das problem|der fehler|die ursache)\b",
    r"\b(?:is|are) not (?:listed|tagged|set|closed|released|escaped|registered|indexed)\b",
    r"\btakes? \d+ (?:ms|s|seconds|minutes) of\b|\bit is slow\b|\bthrows an?\b",
)

REACHED = (
    (
        r"\b(?:is|are|was|were|has been|have been|got) (?:now |already |finally )?(?:deployed|live|released|tagged|merged|"
        r"finished|complete[d]?|migrated|active|published|shipped|clean|green|done|in production|imported|strict|back)\b"
    ),
    r"\b(?:it's|that's|now) live\b|\breleased as\b|\bgone live\b|\bshipped\b",
    r"\b(?:all|every|each)\b.*\b(?:pass(?:es|ed)?|resolve[sd]?|works?|green|fixed|done|run|runs)\b",
    r"\b(?:has|have)? ?passed\b|\bthe (?:test|rehearsal|deploy|migration)\b.*\b(?:took|lost none|succeeded|worked)\b",
    r"\b(?:worked|works) (?:on all|everywhere|by|now|again|fine)\b|\bnow (?:takes|uses|runs|works)\b.*\binstead of\b",
    r"\b(?:is|are|at) (?:now |back )?(?:at )?[\d.]+ ?(?:ms|s|%|µA|GB|seconds)\b|\bwith .* (?:takes|is at) [\d.]+ ?ms\b",
    r"\b(?:läuft jetzt|ist fertig|war erfolgreich|ist online|abgeschlossen)\b|\bwithin \w+ seconds\b",
    r"\bmeasured\b.*\bis now\b|\bis back (?:at|to) (?:normal|[.\d])",
)

UNKNOWN = (
    r"\bopen (?:question|point|issue)|\b(?:is|are|remains?|still) (?:still )?open\b|\bone thing is still\b",
    r"\b(?:undecided|unclear|unresolved|(?:is|are|it's) not clear|remains? to be (?:seen|decided|clarified)|to be (?:clarified|decided))\b",
    r"\bnot sure (?:yet )?(?:if|whether|how|which|what|about)\b|\b(?:don't|do not) know (?:yet )?(?:if|whether|how|which|yet)\b",
    r"\bstill (?:need|have) to (?:find|check|clarify|decide|ask|figure|know|measure)\b",
    r"\b(?:i|we)(?:'ll| will| need to| have to| must| still have to)(?: have to)? (?:ask|talk to|check with|find out|figure out|clarify)\b",
    r"\b(?:has|have) to tell us\b|\bnobody (?:knows|has said|said|decided)\b|\byou did not say\b",
    r"\b(?:unklar|offen ist|noch offen|frage ich (?:noch )?nach|muss ich (?:noch )?fragen|weiß ich (?:noch )?nicht)\b",
    r"\bwhat (?:i|we) (?:don't|do not) know\b|\bneeds? (?:measuring|clarifying|a decision)\b",
)

_FIRST_OF = (Kind.PREFERENCE, Kind.DECISION, Kind.MILESTONE, Kind.PROBLEM)
_CLAUSES = (r"(?:,| -| –|;) (?=(?:and|but|und|aber|so) )|; ",)

_BY_SPEAKER = {Speaker.USER: (*DECIDED, *DECREED), Speaker.ASSISTANT: (*DECIDED, *SETTLED)}


def kind_of(sentence: str, speaker: Speaker) -> Kind | None:
    """
    Return the kind of statement that *sentence* makes; None if it is not worth keeping.

    Of several kinds, the first of open question, preference (users only), decision, milestone, problem is returned.
    A question or mere consideration is none of the last four.
    """
    if is_like(UNKNOWN, sentence):
        return Kind.QUESTION
    if speaker is Speaker.USER and is_like(PREFERRED_EVEN_WITHIN_A_QUESTION, sentence):
        return Kind.PREFERENCE
    if is_like(ASKED, sentence):
        return None
    clauses = [clause for clause in compiled(_CLAUSES).split(sentence) if clause]
    found = {_kind_of_clause(clause, speaker) for clause in clauses}
    return next((kind for kind in _FIRST_OF if kind in found), None)


def _kind_of_clause(clause: str, speaker: Speaker) -> Kind | None:
    if speaker is Speaker.USER and is_like(PREFERRED, clause):
        return Kind.PREFERENCE
    if is_like(WEIGHED, clause):
        return None
    if is_like(_BY_SPEAKER[speaker], clause):
        return Kind.DECISION
    if is_like(REACHED, clause):
        return Kind.MILESTONE
    return Kind.PROBLEM if is_like(BROKEN, clause) else None
