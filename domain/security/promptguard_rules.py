"""
Decisive rules for detecting orders; a match of any one of them is sufficient.

Rules are matched against unmasked text (see `disguise.unmask`): lower case, no accents. ``needs`` are substrings that
every match contains (see `Pattern`), so that most expressions are never compiled.
"""

from __future__ import annotations

from clawmem.domain.security.promptguard_forms import Form, Rule

LEGACY = 1.0
ROLE = 0.9
OVERRIDE = 0.85
DELIMITER = 0.8

DECISIVE = (
    Rule(
        "override-previous",
        LEGACY,
        "tells the reader to drop what it was told before",
        Form(
            "ignore|disregard|forget|discard|cancel|neglect|overlook|following & instruction"
            "|direction|directive|rule|guideline|order|prompt|command|training|programming"
            "|constraint|restriction",
            r"\b{drop}...{earlier}...{rules}\b",
            after="not_told_by",
        ),
        Form(
            "ignore|disregard|forget|discard|cancel|neglect|overlook|following & instruction"
            "|direction|directive|rule|guideline|order|prompt|command|training|programming"
            "|constraint|restriction & came|given|you",
            r"\b{drop}...{rules} (?:that )?(?:came|given|you (?:got|were|have|had))",
            after="not_told_by",
        ),
        Form(
            "ignore|disregard|forget|discard|cancel|neglect|overlook|following & told|given|taught"
            "|asked|instructed|learn & you",
            r"\b{drop} (?:all|every(?:thing)?|what(?:ever)?|anything)(?: that)? you(?:'ve| have"
            r"| had)? (?:were|been|was|ever)? ?(?:told|given|taught|asked|instructed|learn)",
            after="not_told_by",
        ),
        Form(
            "void|cancel|revoked|obsolete|overridden|suspended|superseded|replaced & instruction"
            "|order|directive|rule|command|prompt|guideline|restriction",
            r"\b(?:{earlier} {rules}|{rules} (?:above|so far|until now)) (?:are|were"
            r"|have been) (?:now )?(?:void|cancel\w+|revoked|obsolete|overridden|suspended|superseded"
            r"|replaced)(?! after)",
        ),
        Form(
            "ignorier|vergiss|vergessen|missacht|verwirf|verwerfen & anweisung|instruktion|regel"
            "|vorgabe|richtlinie|befehl|anordnung|einschrankung",
            r"\b{drop_de}...{earlier_de}...{rules_de}\b",
        ),
        Form(
            "ignorier|vergiss|vergessen|missacht|verwirf|verwerfen & alles",
            r"\b{drop_de} alles was (?:dir|ihnen|du|sie)\b",
        ),
        Form(
            "ignor|olvid|descart|omit|caso & instruccion|regla|ordenes|indicacion|directri|directiva"
            "|restriccion|mensaje",
            r"\b{drop_es}...(?:{earlier_es}...{rules_es}|{rules_es} {earlier_es})\b",
        ),
        Form("ignor|olvid|descart|omit|caso & todo", r"\b{drop_es} todo lo que (?:te|se|le) \w+"),
        Form(
            "ignor|oubli|neglig|compte|abstraction & instruction|consigne|regle|directive|ordre"
            "|restriction|message",
            r"\b{drop_fr}...(?:{earlier_fr}...{rules_fr}|{rules_fr} {earlier_fr})\b",
        ),
        Form("ignor|oubli|neglig|compte|abstraction & tout", r"\b{drop_fr} tout ce qu[ie'’]"),
    ),
    Rule(
        "new-role",
        ROLE,
        "gives the reader another role",
        Form(
            "now|longer|henceforth & you & ai|assist|model|bot|hacker|terminal|shell|console"
            "|interpreter|admin|root|developer|dan|grandm|persona|expert|agent|system|superuser"
            "|pirate|character",
            r"\byou(?:'re| are| will be| become)? (?:now|no longer|henceforth) (?:{persona}|(?:an?"
            r"|the|my)...{persona})",
        ),
        Form("you", r"\byou are now (?:in \w+ mode|free|unrestricted|called|named|d\.?a\.?n\b)"),
        Form(
            "you|you're|youre & from",
            r"\bfrom (?:now|here|this (?:point|moment)) on,? ?you(?:'re| are)\b",
        ),
        Form(
            "you|you're & without|no|bound|never|unrestricted & ai|assist|model|bot|hacker|terminal"
            "|shell|console|interpreter|admin|root|developer|dan|grandm|persona|expert|agent|system"
            "|superuser|pirate|character",
            r"\byou(?:'re| are) (?:an?|the)...{persona}[^.!?\n]{0,40}(?:without|no|not bound|never"
            r"|unrestricted|no longer)\b",
        ),
        Form(
            "act|behave|respond|answer|operate|roleplay|role-play & as",
            r"(?:act|behave|respond|answer|operate|role-?play)(?: now)? as(?: if you| though you"
            r"|(?: an?| the| my)?...{persona})",
            after="order",
        ),
        Form(
            "act|behave",
            r"\b(?:i want|i need|you will|you must|you should)(?: you)?(?: to)?(?: now)? (?:act"
            r"|behave) as\b",
        ),
        Form(
            "pretend|imagine & you|to",
            r"(?:pretend|imagine)(?: that)? (?:you(?:'re| are| have)|to be (?:an?|the|my)...{persona})",
            after="order",
        ),
        Form(
            "switch|change|enter|activate|enable|go & your|dan|god|jailb|unrestr|unfilt|uncens|evil"
            "|opposite|filter",
            r"\b(?:switch|change|enter|activate|enable|go)(?: in| to| into)? (?:your (?:role|persona"
            r"|mode|personality|identity|character)|(?:the |your )?(?:dan|god|jailbreak|jailbroken"
            r"|unrestricted|unfiltered|uncensored|evil|opposite|no-?filter) (?:mode|persona|role))\b",
        ),
        Form(
            "your & new|real|true|actual|only|hidden|secret & role|purpose|function|task|goal"
            "|mission|identity|objective|job",
            r"\byour (?:new|real|true|actual|only|hidden|secret) (?:role|purpose|function|task|goal"
            r"|mission|identity|objective|job) (?:is|are|will be|from now)\b(?! (?:at|on|due))",
        ),
        Form(
            "du & bist",
            r"\bdu bist (?:jetzt|nun|ab jetzt|ab sofort|von nun an) (?:{persona}|(?:ein\w*|der|die"
            r"|kein\w*)...(?:{persona}|ohne))",
            after="order_de",
        ),
        Form("bist & du", r"\b(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an) bist du\b"),
        Form(
            "tu|tun|verhalt|spiel|agier",
            r"(?:tu so als|tun sie so als|(?:verhalte?|benimm) dich (?:wie|als)|spiele? die rolle"
            r"|agiere? als)\b",
            after="order_de",
        ),
        Form(
            "deine",
            r"\bdeine (?:neue|wahre|echte|eigentliche|einzige) (?:aufgabe|rolle|identitat|funktion"
            r"|mission) (?:ist|lautet)\b",
        ),
        Form(
            "eres",
            r"(?:\bahora eres (?:un[a]?|el|la)...{persona}|\ba partir de (?:ahora"
            r"|este momento) eres\b|\beres ahora (?:un[a]?|el|la)...{persona})",
        ),
        Form(
            "actua|finge|comportate|como|compórtate",
            r"(?:actua como (?:si|un[a]?...{persona})|finge (?:que eres|ser)|comportate como"
            r"|haz como si)\b",
            after="order_es",
        ),
        Form(
            "tu|vous",
            r"(?:\b(?:tu es|vous etes) (?:maintenant|desormais) (?:une?|le|la|l['’])...{persona}"
            r"|\b(?:a partir de (?:maintenant|la)|desormais) (?:tu es|vous etes)\b)",
        ),
        Form(
            "agis|fais|comporte|agissez|faites",
            r"(?:agis(?:sez)? comme (?:si|une?...{persona})|fai(?:s|tes) (?:comme si|semblant)"
            r"|comporte-toi comme)\b",
            after="order_fr",
        ),
    ),
    Rule(
        "new-instructions",
        OVERRIDE,
        "announces instructions that replace the ones in force",
        Form(
            "instructions|directives|orders",
            r"\b(?:your (?:new|updated|revised|real|actual|true) (?:instructions|directives|orders"
            r"|rules|guidelines) (?:are|follow|begin|:)|new (?:instructions|directives"
            r"|orders) ?:...(?:from|you|only|ignore|now)\b)",
        ),
        Form("follow|obey", r"\bfollow (?:these|the following)(?: (?:ones|instructions|rules))? instead\b"),
        Form(
            "following|instructions|these",
            r"\b(?:the following|these) (?:rules|instructions) apply instead\b",
        ),
        Form(
            "supersede|replaces|overrides & your|all|any",
            r"\b(?:this|the) (?:document|note|message|text|page) (?:supersedes|replaces"
            r"|overrides) (?:your|all|any)\b",
        ),
    ),
    Rule(
        "disobey",
        OVERRIDE,
        "tells the reader not to obey",
        Form(
            "follow|obey|listen|adhere",
            r"\b(?:do not|don['’]?t|never|stop|no longer) (?:follow|following|obey|obeying|listen to"
            r"|listening to|adhere to|adhering to)...(?:(?:your|any)(?: (?:previous|prior|earlier"
            r"|former|system|own))? {rules}|(?:the )?(?:system|developer['’]?s?|developers"
            r"|original) {rules}|(?:the )?system prompt)",
        ),
        Form(
            "sigas|obedezcas|sigais",
            r"\bno (?:sigas|obedezcas)...(?:reglas|instrucciones|ordenes)(?: (?:del? (?:sistema"
            r"|desarrollador)|anteriores|previas))",
        ),
        Form(
            "befolge|gehorche",
            r"(?:befolge|gehorche)...(?:nicht|keine)...{rules_de}\b",
            after="order_de",
        ),
        Form("suis|obeis", r"\bne (?:suis|suivez|obeis|obeissez) (?:pas|plus)...{rules_fr}\b"),
    ),
    Rule(
        "bypass",
        OVERRIDE,
        "tells the reader to get round its safeguards",
        Form(
            "bypass|circumvent|override|skip|disable|remove|drop|turn & your|safety|content|ethical"
            "|moral|security",
            r"\b(?:bypass|circumvent|override|skip|disable|remove|drop|turn off) (?:all |any |every "
            r"|of )*(?:your...{guards}|(?:the )?(?:safety|content|ethical|moral|security) (?:filters?"
            r"|guidelines|restrictions|rules|policies|guardrails))\b",
            after="not_told_by",
        ),
        Form(
            "safety|restrictions",
            r"\b(?:all safety is off|your (?:restrictions|limits|filters|rules) (?:are"
            r"|have been) (?:lifted|removed|disabled|off))\b",
        ),
        Form(
            "umgeh|deaktivier|ubergeh",
            r"(?:umgehe?|deaktiviere?|ubergehe?)(?: alle)? dein\w*...(?:sicherheits\w+|filter|regeln"
            r"|richtlinien|beschrankungen|einschrankungen)",
            after="order_de",
        ),
        Form(
            "omite|evita|desactiva|elude|salta",
            r"(?:omite|evita|desactiva|elude|saltate)(?: todas)? tus...(?:restricciones|reglas"
            r"|filtros|directrices|limites)",
            after="order_es",
        ),
        Form(
            "contourne|desactive",
            r"(?:contourne[sz]?|desactive[sz]?)(?: tous| toutes)? (?:tes|vos)...(?:filtres|regles"
            r"|restrictions|consignes|limites)",
            after="order_fr",
        ),
    ),
    Rule(
        "reveal-prompt",
        OVERRIDE,
        "asks for what the reader was told in confidence",
        Form(
            "your & prompt|instructions|message|rules & system|initial|hidden|original|secret|first|internal",
            r"\b{tell}...your...(?:system prompt|initial prompt|hidden prompt|(?:system|initial"
            r"|hidden|original|secret|first|internal) (?:instructions|message|rules))\b",
        ),
        Form("system", r"\bwhat(?: is|['’]s) your (?:system|initial|hidden) prompt\b"),
        Form(
            "instructions & hidden|secret|initial|original",
            r"\b{tell}...(?:hidden|secret|initial|original) instructions you\b",
        ),
        Form(
            "above|before & verbatim|word|exactly|full",
            r"\b{tell}...(?:everything|all|the (?:text|words|messages)) (?:above"
            r"|before)(?: this)?...(?:verbatim|word for word|exactly|in full)\b",
        ),
        Form(
            "prompt|anweisungen",
            r"\b(?:zeige?|gib|nenne|verrate?|wiederhole?|drucke?)...dein\w*...(?:system-?prompt"
            r"|(?:geheimen?|versteckten?|ursprunglichen?) (?:anweisungen|instruktionen|regeln))",
        ),
        Form(
            "prompt|instrucciones",
            r"\b(?:muestra|muestrame|revela|repite|imprime|dime|ensename)...tus?...(?:prompt"
            r"|instrucciones (?:ocultas|secretas|iniciales|del sistema|originales))",
        ),
        Form(
            "prompt|instructions|consignes",
            r"\b(?:montre|revele[sz]?|repete[sz]?|affiche[sz]?|donne|dis)(?:-moi)?...(?:ton|tes|votre"
            r"|vos)...(?:prompt|(?:instructions|consignes|regles) (?:cachees|secretes|initiales"
            r"|systeme))",
        ),
    ),
    Rule(
        "exfiltrate",
        OVERRIDE,
        "tells the reader to carry something out",
        Form("![", r"!\[[^\]\n]*\]\( ?https?://[^\s)]*[?&/=][^\s)]*(?:\{|\[|%7b|<|\$)"),
        Form(
            "send|post|upload|email|e-mail|forward|transmit|append|exfiltrate|leak & conversation"
            "|chat|history|transcript|session|memor|secret|credential|password|environment|file|data"
            "|key|token|vault|contents",
            r"\b(?:send|post|upload|email|e-mail|forward|transmit|append|exfiltrate"
            r"|leak)...(?:(?:full|entire|whole|this|our|complete|chat|all) (?:conversation|chat"
            r"|history|transcript|session)|user['’]?s? (?:memor(?:y|ies)|secrets|credentials"
            r"|passwords|environment variables|files|data)|(?:all|any|every) (?:the "
            r"|of the )?(?:api keys?|credentials|secrets|passwords|tokens)|the vault"
            r"|contents? of ~/\.\w+)",
        ),
        Form(
            "your & reply|answer|response|message",
            r"\b(?:include|put|add|paste|show)...(?:its|their|the) (?:values|contents?"
            r"|keys) in your (?:next )?(?:reply|answer|response|message)",
        ),
        Form(
            "history|conversation|memories",
            r"\bencode...(?:chat history|conversation|memories|transcript)",
        ),
        Form(
            "sende|schick|ubermittle|lade & verlauf|unterhaltung|gesprach|passworter|schlussel"
            "|zugangsdaten|geheimnisse",
            r"\b(?:sende|sendet|senden sie|schicke?|ubermittle|lade)...(?:gesamte[nr]? (?:chatverlauf"
            r"|verlauf|unterhaltung|gesprach)|alle (?:passworter|schlussel|api-?schlussel"
            r"|zugangsdaten|geheimnisse)|chatverlauf)",
        ),
        Form(
            "envia|manda|sube & conversacion|claves|contrasenas|credenciales|secretos|historial",
            r"\b(?:envia|manda|sube)...(?:toda la conversacion|(?:todas|todos) (?:las|los) (?:claves"
            r"|contrasenas|credenciales|secretos)|el historial)",
        ),
        Form(
            "envoi|envoy|transmet & conversation|cles|passe|identifiants|secrets|historique",
            r"\b(?:envoie|envoyez|transmets|transmettez)...(?:toute la conversation|(?:toutes"
            r"|tous) les (?:cles|mots de passe|identifiants|secrets)|l['’]historique)",
        ),
    ),
    Rule(
        "delimiter",
        DELIMITER,
        "imitates the marks that part one speaker from another",
        Form(
            "<",
            r"</? ?(?:system|assistant|system-reminder|tool_result|tool_use|function_calls"
            r"|function_results|human|antml)(?::\w+)? ?>",
        ),
        Form("vault", r"</ ?vault-\w+ ?>"),
        Form("facts", r"</ ?facts ?>"),
        Form("<", r"<\| ?(?:im_start|im_end|system|user|assistant|end|endoftext|start_header_id|eot_id)\b"),
        Form("[inst|[/inst|<<sys", r"\[/?inst\]|<</?sys>>"),
        Form("[system]", r"\[system\](?:\(#| (?:the|you|all|i|der|die|das|du|el|la|le) )"),
        Form("```", r"```(?:system|instructions?|prompt)\b"),
        Form(
            "===|---",
            r"(?<!=)={3,} ?system ?={3,}|(?<!-)-{3,} ?end of (?:the )?(?:notes?|context|document|memor\w+) ?-{3,}",
        ),
        Form("###", r"^###? (?:instruction|system(?: prompt| message)?) ?:"),
        Form("assistant:", r"^(?:human|user) ?:[^\n]*\n+(?:assistant|ai) ?:"),
        Form("system", r"\{ ?\"role\" ?: ?\"system\" ?,"),
    ),
)
