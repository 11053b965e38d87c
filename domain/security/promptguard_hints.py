"""Hint rules, which honest notes also match: only two hints of different kinds together are decisive."""

from __future__ import annotations

from clawmem.domain.security.promptguard_forms import Form, Rule

_ADDRESSEE = r"(?:ai|a\.i\.|llm|language model|large language model|assistant|agent|chatbot|bot)s?(?: (?:assistant|agent|model|system)s?)?"

HINTS = (
    Rule(
        "addresses-the-reader",
        0.5,
        "speaks to the assistant that reads it",
        Form(
            "note|message|instruction & to|for & ai|a.i.|llm|language|assistant|agent|bot",
            rf"\b(?:note|message|instructions?) (?:to|for)(?: the| all| any)? {_ADDRESSEE}\b",
        ),
        Form(
            "dear|attention|hey|hello & ai|a.i.|llm|language|assistant|agent|bot",
            rf"\b(?:dear|attention|hey|hello) {_ADDRESSEE}\b",
            after="order",
        ),
        Form("you & ai|a.i.|llm|language|assistant|agent|bot", rf"\bif you are (?:an?|the) {_ADDRESSEE}\b"),
        Form(
            "reading|processing|summari|parsing & ai|a.i.|llm|language|assistant|agent|bot|when",
            rf"\b(?:any|every|the|all) {_ADDRESSEE}(?: that is)? (?:reading|processing|summari[sz]ing"
            rf"|parsing)\b|\bwhen (?:reading|summari[sz]ing|processing) this\b",
        ),
        Form(
            "must|should|shall|have|has & ai|a.i.|llm|language|assistant|agent|bot",
            rf"{_ADDRESSEE} (?:must|should|shall|have to|has to)\b",
            after="order",
        ),
        Form(
            "hinweis|nachricht|die",
            r"\b(?:hinweis|nachricht|anweisung) an (?:die ki|den assistenten|das (?:sprach)?modell)\b",
        ),
        Form(
            "nota|mensaje|instruccion & para",
            r"\b(?:nota|mensaje|instruccion) para (?:la ia|el asistente|el modelo)\b",
        ),
        Form(
            "note|message|consigne & l'ia|l’ia|assistant|modele",
            r"\b(?:note|message|consigne) (?:pour|a) (?:l['’]ia|l['’]assistant|le modele)\b",
        ),
    ),
    Rule(
        "lies-in-wait",
        0.5,
        "waits for a later question",
        Form(
            "next|whenever|once|when|every|soon & user",
            r"\b(?:the next time|whenever|once|when|every time|as soon as)(?: that)? the user (?:asks"
            r"|requests|says|mentions|wants|types)\b",
        ),
        Form(
            "from|future|permanently|henceforth",
            r"\b(?:from now on|henceforth|in (?:all )?future (?:sessions|conversations|answers"
            r"|replies)) you (?:must|will|should|always|never)|\bfrom now on (?:answer|reply|respond"
            r"|always|never) (?:every|to every|all|with)|\bremember permanently\b",
        ),
        Form(
            "nachste",
            r"\bwenn (?:der|die) (?:nutzer|benutzer|anwender)\w*...das nachste mal"
            r"|\b(?:das )?nachste mal wenn (?:der|die) (?:nutzer|benutzer)",
        ),
        Form("proxima", r"\bla proxima vez que (?:el|la) usuari[oa]"),
        Form("prochaine", r"\bla prochaine fois que (?:l['’]utilisat|l['’]usager)"),
    ),
    Rule(
        "keeps-it-from-the-user",
        0.5,
        "hides something from the user",
        Form(
            "not|don't|dont|don’t|never|without|keep & user|mention|secret",
            r"\b(?:do not|don['’]?t|never|without) (?:tell|inform|alert|notify|warn|telling|informing"
            r"|alerting|notifying|asking|mention|mentioning)(?: to)? the user\b|\b(?:do not|don['’]?t"
            r"|never) mention (?:this|that you|these|it)\b|\bkeep (?:this|it) (?:a )?secret from\b",
        ),
        Form("silently", r"\bsilently \w+", after="order"),
        Form(
            "nutzer|erwahn",
            r"\bsag\w* dem (?:nutzer|benutzer|anwender) (?:nichts?|nicht)|\berwahne? (?:dies|das"
            r"|diese)\w*...nicht\b",
        ),
        Form(
            "usuario|decirselo",
            r"\bno (?:le|se lo) (?:digas|menciones|informes|cuentes)\b|\bsin (?:decirselo|avisar"
            r"|informar)(?: al| a la) usuari",
        ),
        Form(
            "utilisateur",
            r"\b(?:ne (?:le )?(?:dis|dites|mentionne|revele)[sz]? (?:pas|rien)|sans (?:prevenir"
            r"|le dire|informer))(?: a)? l['’]utilisat",
        ),
    ),
    Rule(
        "says-what-not-to-say",
        0.85,
        "tells the reader to keep quiet about its instructions",
        Form(
            "not|don't|dont|don’t|never & tell|mention|inform|reveal|show & instruction|note|message"
            "|text|order|rules",
            r"\b(?:do not|don['’]?t|never) (?:tell|mention|inform|reveal"
            r"|show)(?: to)?(?: the user)?(?: about)? (?:these|this|the above"
            r"|the following) (?:instructions?|notes?|messages?|texts?|orders?|rules)\b",
        ),
    ),
    Rule(
        "runs-a-command",
        0.4,
        "has a command run",
        Form(
            "run|execute|install|type|paste|start|call & curl|wget|-rf|http|iex",
            r"\b(?:run|execute|install|type|paste|start|call)\b[^.\n]{0,60}(?:curl|wget|rm -rf"
            r"|\biex\b|https?://)",
        ),
        Form(
            "approve|confirm|merge|transfer|commit|recommend|claim|delete",
            r"\b(?:always |silently )?(?:approve|confirm|merge|transfer|commit|recommend|claim|delete"
            r"|add)\b (?:directly|every|all|it|the|that|a link)",
        ),
        Form(
            "bestatig|aprueb|valide|recomiend|empfiehl|recommande",
            r"\b(?:bestatige|empfiehl|aprueba|recomienda|valide[sz]?|recommande[sz]?)\b",
        ),
    ),
    Rule(
        "calls-for-attention",
        0.2,
        "raises its voice",
        Form("important|critical|urgent|attention", r"\b(?:important|critical|urgent|attention) ?[:!]"),
    ),
    Rule(
        "speaks-of-instructions",
        0.2,
        "speaks of instructions, as many notes do",
        Form("system|instructions|override", r"\b(?:system prompt|new instructions|override)\b"),
    ),
)
