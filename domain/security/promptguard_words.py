"""Vocabulary of orders in four languages, without accents."""

from __future__ import annotations

from types import MappingProxyType

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
