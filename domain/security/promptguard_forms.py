"""Rules, vocabulary and pattern notation for detecting orders, with cheap tests before each expression."""

import re
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from clawmem.domain.security.patterns import Pattern

GAP = r"(?:[\s*_`>\"'~,]+)"
_LONGEST_BEFORE = 40  # characters
# Checked after a match instead of in the expression: a search for a leading literal is ten times faster.
_WORD_BEGINS = r"\b"


class Form(NamedTuple):
    """
    One wording of an order: required substrings (see `Pattern`), and a pattern in the notation of `phrase`.

    ``after`` names the entry of `WORDS` that must end directly before the match. It is checked last, because a search
    that begins with it would be slow.
    """

    needs: str
    pattern: str
    after: str = ""


class Rule:
    """Rule for one kind of order: a name, a score from 0 to 1, a human-readable reason, and its wordings."""

    def __init__(self, name: str, score: float, reason: str, *forms: Form) -> None:
        self.name = name
        self.score = score
        self.reason = reason
        self._forms = [_Form(form) for form in forms]

    def find(self, text: str) -> re.Match[str] | None:
        """Return the first match of this rule in unmasked *text*; ``None`` if there is none."""
        return next(filter(None, (form.find(text) for form in self._forms)), None)


class _Form:
    def __init__(self, form: Form) -> None:
        source = form.pattern.removeprefix(_WORD_BEGINS)
        self._begins_a_word = source != form.pattern
        self._phrase = Phrase(source, form.needs)
        self._before = Phrase(rf"(?:{{{form.after}}})\Z") if form.after else None

    def find(self, text: str) -> re.Match[str] | None:
        if not self._phrase.may_match(text):
            return None
        return next(
            (found for found in self._phrase.compiled.finditer(text) if self._is_led_up_to(found)), None
        )

    def _is_led_up_to(self, found: re.Match[str]) -> bool:
        start, text = found.start(), found.string
        if self._begins_a_word and start and text[start - 1].isalnum():
            return False
        if not self._before:
            return True
        return self._before.compiled.search(text, max(0, start - _LONGEST_BEFORE), start) is not None


class Phrase(Pattern):
    """A pattern in the notation of `phrase`."""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Compiled expression of the notation."""
        return re.compile(phrase(self._source), re.MULTILINE)


def phrase(pattern: str) -> str:
    """
    Return the regular expression for *pattern*.

    ``{name}`` is replaced by an entry of `WORDS`, a space matches any run of whitespace and mark-up, and ``...``
    matches up to four words.
    """
    filled = re.sub(r"\{([a-z_]+)\}", lambda name: WORDS[name[1]], pattern)
    few_words = rf"{GAP}(?:[\w'’-]+{GAP}){{0,4}}?"
    return filled.replace("...", few_words).replace(" ", GAP)


_BEGINNING = r"(?:^|[.!?:;\n\"'>*#(-]|\bthen|\band|,)[\s*_`>\"'~#-]*"

WORDS = MappingProxyType(
    {
        # Possible beginnings of an imperative sentence.
        "order": rf"(?:{_BEGINNING}(?:please |now |also |just )?|\bplease |\bi want you to |\byou (?:must |should |will |shall |can |are to )(?:now )?)",
        "order_de": rf"(?:{_BEGINNING}(?:bitte |nun |jetzt )?|\bbitte )",
        "order_es": rf"(?:{_BEGINNING}(?:por favor )?|\bpor favor )",
        "order_fr": rf"(?:{_BEGINNING}(?:merci de |maintenant )?)",
        # "we ignore", "not ignore", "told me to ignore" are reports, not orders.
        "not_told_by": r"(?<!\bwe\s)(?<!\bthey\s)(?<!\bi\s)(?<!\bnot\s)(?<!n't\s)(?<!\bto\s)",
        "drop": r"(?:ignore|disregard|forget|discard|cancel|neglect|overlook|stop following)\b",
        "earlier": (
            r"(?:all|any|every|everything|previous|previously|prior|above|earlier|former|preceding|foregoing"
            r"|your|original|initial|system)"
        ),
        "rules": (
            r"(?:instructions?|directions?|directives?|rules?|guidelines?|orders|prompts?|commands?|training"
            r"|programming|constraints?|restrictions?)"
        ),
        "guards": (
            r"(?:filters?|restrictions?|guidelines?|guardrails?|safeguards?|policies|policy|limitations?|rules"
            r"|programming|constraints?|training)"
        ),
        "persona": (
            r"(?:ai|a\.i\.|assistants?|models?|chatbot|bot|hacker|terminal|shell|console|interpreter|admin|administrator"
            r"|root|developer mode|dan|grandmother|persona|expert|agent|system|superuser|pirate|character"
            r"|ki|hacker|administrador|asistente|modelo|ia|assistant|modele|terminal|administrateur|assistent)\b"
        ),
        "tell": (
            r"(?:reveal|show|print|repeat|output|display|leak|tell|give|send|copy|recite|translate|summari[sz]e|quote|write)"
        ),
        "drop_de": r"(?:ignoriere?n?|vergiss|vergessen sie|missachte?n?|verwirf|verwerfen sie)(?: sie)?\b",
        "earlier_de": (
            r"(?:alle[nrs]?|samtliche[nrs]?|jede|bisherige[nrs]?|vorherige[nrs]?|vorige[nrs]?|fruhere[nrs]?|obige[nrs]?"
            r"|vorangegangene[nrs]?|deine[nrs]?)"
        ),
        "rules_de": (
            r"(?:anweisung(?:en)?|instruktion(?:en)?|regeln?|vorgaben?|richtlinien?|befehle?|anordnungen|einschrankungen)"
        ),
        "drop_es": (
            r"(?:ignora|ignore|olvida|olvide|olvidate de|descarta|omite|haz caso omiso de|haga caso omiso de"
            r"|no hagas caso de)\b"
        ),
        "earlier_es": r"(?:tod[ao]s|anteriores|previ[ao]s|tus|sus|precedentes)",
        "rules_es": r"(?:instrucciones|reglas|ordenes|indicaciones|directrices|directivas|restricciones|mensajes)",
        "drop_fr": (
            r"(?:ignore[sz]?|oublie[sz]?|neglige[sz]?|ne tiens (?:pas|plus) compte|ne tenez (?:pas|plus) compte"
            r"|fais abstraction|faites abstraction)\b"
        ),
        "earlier_fr": (r"(?:toutes?|tous|tes|vos|precedentes?|anterieures?|ci-dessus|d['’]avant)"),
        "rules_fr": r"(?:instructions?|consignes?|regles?|directives?|ordres?|restrictions?|messages?)",
    }
)
