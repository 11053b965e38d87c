"""
Detection of prompt injections: texts that give orders to the model that reads them.

Recognition by wording misses most new wordings, so the defence is quotation by origin
(`clawmem.domain.security.quoting`); these patterns remove what is known. Disguise (invisible characters, look-alikes,
full-width letters, accents) is removed first, and markup or line ends between words count as spaces.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from clawmem.domain.security.disguise import unmask

_AROUND = 1_000  # characters around a span that are read with it: an order may be split over list items

_DROP = (
    r"(?:ignor(?:e|ing)|disregard|forget|discard|override|set aside|cancel|stop (?:following|obeying)"
    r"|(?:do not|don.t|never|no longer) (?:follow|obey|adhere to))\b"
)
_EARLIER = r"\b(?:previous|prior|earlier|above|preceding|former|original|initial|existing|your|system|developer.?s?)\b"
_RULES = (
    r"\b(?:instructions?|rules?|guidelines?|guidance|directives?|directions|orders|constraints|prompts?|restrictions"
    r"|polic(?:y|ies)|safeguards?|programming)\b"
)
_GUARDS = r"\b(?:filters?|guidelines|restrictions|rules|polic(?:y|ies)|guardrails|safeguards|limits|safety)\b"
_PERSONA = (
    r"\b(?:ai|assistant|model|bot|hacker|terminal|shell|admin|root|superuser|dan|persona|jailbroken|unrestricted"
    r"|unfiltered|evil)\b"
)
_PRIVATE = (
    r"\b(?:conversation|chat|history|transcript|memor(?:y|ies)|credentials?|secrets?|passwords?|api keys?|tokens?"
    r"|private keys?|environment variables|cookies)\b"
)
_SEND = r"(?:send|post|upload|forward|transmit|exfiltrate|leak|e-?mail|submit|append)\b"
_TELL = r"(?:reveal|repeat|print|show|output|display|tell|give|leak|share)\b"
_ACTS = r"\b(?:must|should|ignore|send|run|execute|do not|never|always|please|reply|answer|say|add|include|delete)\b"
_NO_REPORT = r"(?<!we\x20)(?<!they\x20)(?<!not\x20)(?<!n't\x20)"  # "we ignore all previous rules" reports
_ROLES = "system|assistant|system-reminder|tool_result|tool_use|function_calls|function_results|human|antml"

# Each begins at a word. A space stands for spaces, line ends and markup, ``~`` for some words of the same sentence.
_WORDS = {
    "override": rf"{_NO_REPORT}{_DROP}~{_EARLIER}~{_RULES}",
    "override_everything": rf"{_NO_REPORT}{_DROP}~\byou\b~\b(?:told|taught|given|asked|instructed|learned)\b",
    "void": rf"(?:previous|prior|earlier|above|former|all|your) {_RULES}(?: above)? (?:are|were|have been) (?:now )?(?:void"
    r"|cancel\w+|revoked|obsolete|overridden|superseded|replaced|suspended|lifted|removed|disabled)\b",
    "new_instructions": r"your (?:new|updated|revised|real|actual|true|only) (?:instructions|rules|orders|guidelines|role|purpose"
    r"|task|mission|goal)(?: is\b| are\b|:)|(?:follow|obey) (?:these|the following)\b~\binstead\b|new instructions?:",
    "new_role": rf"(?:you are|you.re|you will be) (?:now|no longer|henceforth) (?:an?|the|in|my|called|named)\b~{_PERSONA}"
    rf"|you are now {_PERSONA}"
    r"|from (?:now|here|this (?:point|moment)) on,? you (?:are|will|must|only|act|answer)\b",
    "act_as": rf"(?<!will\x20)(?<!can\x20)(?:act|behave|respond|answer|role-?play|pretend)\b~\b(?:as|to be|you are|you.re)\b~{_PERSONA}",
    "mode": r"(?:enter|enable|activate|switch|go)\b~\b(?:dan|god|jailbreak|jailbroken|unrestricted|unfiltered|uncensored|evil)"
    r" (?:mode|persona|role)\b",
    "bypass": rf"{_NO_REPORT}(?:bypass|circumvent|override|disable|turn off|evade)\b~\b(?:your|(?:all|any) content|safety|ethical)\b~{_GUARDS}",
    "reveal": rf"{_TELL}~\b(?:your|hidden|initial|secret)\b~\b(?:prompt|system message|instructions|rules)\b"
    rf"|{_TELL}~\b(?:everything|all|text|words|messages?) (?:above|before)\b",
    "exfiltrate": rf"{_SEND}~{_PRIVATE}~(?:https?://(?!localhost|127\.)|\w@\w|\b(?:url|webhook|endpoint|server)\b)"
    rf"|{_SEND}~\b(?:user.?s?|full|entire|whole|all)\b~{_PRIVATE}",
    "conceal": r"(?:do not|don.t|never) (?:(?:tell|inform|alert|notify) the (?:user|human)(?: (?:about|of|that|any|what)\b|[.,;]|$)|mention (?:this|it|that))"
    r"|without (?:telling|informing|notifying|alerting)\b~\b(?:user|human)\b",
    "addressed": r"(?:note|message|instructions?|attention|reminder|important|notice)\b~"
    rf"\b(?:ai|llm|language model|chat|coding) ?(?:assistants?|agents?|models?|bots?)\b~{_ACTS}",
    "delayed": rf"(?:when|whenever|if|next time|once|after) (?:the|a|your|this) user\b~[,:] {_ACTS}~\b(?:silently|secretly|https?|all)\b",
    "german": r"(?:ignorier\w*|vergiss|vergessen sie|missachte\w*)\b~\b(?:anweisung\w*|instruktion\w*|regeln|vorgaben|richtlinien|alles was)\b"
    r"|du bist (?:jetzt|ab jetzt|nun)\b~\b(?:ki|assistent|modell|hacker|dan|ohne)\b",
    "french": r"(?:ignore[zr]?|oublie[zr]?|ne tiens plus compte)\b~\b(?:les|des|tes|vos|ces) (?:instructions?|consignes|regles|directives|ordres)\b"
    r"|tu es (?:maintenant|desormais)\b~\b(?:ia|assistant|modele|pirate|dan|sans)\b",
    "spanish": r"(?:ignora|olvida|descarta|omite)\b~\b(?:instrucciones|reglas|ordenes|indicaciones|directrices)\b"
    r"|(?:ahora eres|eres ahora)\b~\b(?:ia|asistente|modelo|hacker|dan|sin)\b",
    "italian": r"(?:ignora|dimentica|scarta)\b~\b(?:istruzioni|regole|ordini|direttive)\b",
    "portuguese": r"(?:ignore|esqueca|desconsidere)\b~\b(?:instrucoes|regras|diretrizes)\b",
}
_MARKS = {
    "image": r"!\[[^\]\n]{0,200}\]\( ?https?://[^\s)]{0,200}?[?&/=][^\s)]{0,200}?(?:\{|\[|%7b|<|\$)",
    "speaker": rf"</? ?(?:{_ROLES})(?::\w+)? ?>"
    r"|<\| ?(?:im_start|im_end|system|user|assistant|end|endoftext|start_header_id|eot_id)\b|\[/?inst\]|<</?sys>>",
    "heading": r"```(?:system|instructions?|prompt)\b|={3,9} ?system ?={3}|-{3,9} ?end of (?:the )?(?:notes?|context|document) ?-{3}"
    r"|\[system\] ?(?:\(|the |you |all )|\{ ?\"role\" ?: ?\"system\"|(?:^|\n)#{2,3} (?:instruction|system(?: prompt| message)?) ?:",
}


def _source(rules: dict[str, str]) -> str:
    source = "|".join(f"(?P<{name}>{expression})" for name, expression in rules.items()).replace(" ?", "\0")
    return source.replace(" ", r"[\s*_`>|#\"'-]{1,40}").replace("\0", " ?").replace("~", "[^.!?;]{0,60}?")


_PATTERNS = (re.compile(rf"\b(?:{_source(_WORDS)})"), re.compile(_source(_MARKS)))


class Injection(NamedTuple):
    """Recognised order: the name of the rule, and its start and end (exclusive) in the original text."""

    rule: str
    start: int
    end: int


def find_injections(text: str) -> Iterator[Injection]:
    """Yield the recognised orders in *text*."""
    plain = unmask(text)
    for pattern in _PATTERNS:
        for match in pattern.finditer(plain.text):
            yield Injection(match.lastgroup or "", *plain.span(*match.span()))


def has_injection(text: str) -> bool:
    """Whether *text* gives an order to the model that reads it."""
    return next(find_injections(text), None) is not None


def injection_within(text: str, start: int, end: int) -> bool:
    """Whether an order in *text* overlaps the span from *start* to *end* (exclusive); the surrounding text is read too."""
    first = max(0, start - _AROUND)
    orders = find_injections(text[first : end + _AROUND])
    return any(order.start + first < end and start < order.end + first for order in orders)
