"""Numbers that open a lock: what a sentence about a code, a door, a safe or a screen tells somebody to enter."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import regions
from clawmem.domain.security.secret_values import Span

_BEFORE, _AFTER = 100, 50  # characters around a number that belong to it
# "code" and its kin in five languages, without the codes of errors, places, prices and programs.
_CODE = Pattern(
    r"(?<![a-z])(?<!error )(?<!exit )(?<!status )(?<!return )(?<!response )(?<!http )(?<!zip )(?<!area )(?<!country )(?<!post )(?<!postal )(?<!order )(?<!product )(?<!item )"
    r"(?<!promo )(?<!discount )(?<!coupon )(?<!voucher )(?<!bar )(?<!qr )(?<!source )(?<!sort )(?<!color )(?<!colour )(?<!dress )(?<!fault )(?<!project )(?<!tax )(?<!station )"
    r"(?:(?!fehler|quell|status|farb|bar|qr|strich|uni|en|de|trans|op|vs|x|byte|maschinen|promo|rabatt|gutschein|lander|zip|post|err|key|geo|no|type|shell|source|country|area)[a-z]{1,20}code|screen ?lock|(?:pickup|safe|lock|locker|unlock|entry|access|secret|pick-up) number|geheimzahl|geheimnummer|codes?|pins?|puk|digicode|keypad|combination|kombination|zahlenkombination|combinaison|combinacion|codigo|clave|combinazione|codice)(?![a-z_])(?!['’])"
    r"(?! (?:for|of) (?:the |an? )?(?:error|country|article|product)| (?:postal|erreur|error|client|couleur|de producto|articolo|prodotto|produit|article|source|barre|naf|ape|pays|promo|de error|de pais|de barras|de area|de cliente|d['’]erreur|di errore"
    r"|fiscale|cliente|postale|sconto|review|freeze|line|base|block|therapy|page|point|name|is \d{1,6} (?:lines|words)))"
)
_LOCK = Pattern(
    r"(?<![a-z])(?:(?:front|back|side|main)? ?doors?|gates?|safe|strongbox|locker|padlock|alarm|garage|shed|lock|lock ?screen|tablet|i?phone|ipad|laptop|sim|card|voicemail|mailbox|letterbox|lift|elevator"
    r"|entrance|entry|intercom|burglar \w{1,10}|panel|key ?box|wheels|atm|bankautomat\w{0,3}|geldautomat\w{0,3}|fahrstuhl|aufzug|keller|hintereingang|eingang|caja de seguridad|cassetta|local|boathouse|freezer|koffer|schliessfach|schließfach|citofono|ascensore|ascenseur|ascensor|interphone|sonnette|telefonillo|key ?safe|vault|cellar|barn|gym|building|suitcase|briefcase|luggage|cabinet|barrier|turnstile|\w{0,15}(?:schloss|tur|tor|karte|tresor|safe|anlage|koffer|handy|briefkasten|schrank|schranke)"
    r"|coffre|cadenas|porte|portail|immeuble|portillon|valise|carte|boite a cles?|puerta|porton|garaje|caja fuerte|movil|candado|tarjeta|maleta|taquilla|cassaforte|lucchetto|cancello|porta|portone"
    r"|cellulare|telefono|valigia|armadietto|allarme|alarma|alarme)s?(?![a-z])"
)
_OPENING = Pattern(
    r"(?<![a-z])(?:dial|press|punch|key(?:ing)? in|type|typing|enter(?:ing)?|unlock\w{0,3}|opens?|opening|gets? (?:you |me |us )?(?:in|into|past|through)|lets? (?:you|me|us) in|disarm\w{0,3}|entsperr\w{0,3}|aufsperr\w{0,3}"
    r"|geht mit|auf mit|offnet|offnen|tipp\w{0,3}|gibst?|druck\w{0,3}|wahl\w{0,2}|eingeben|nummer|zahlen|scharf|ouvr\w{0,5}|tape[rz]?|fai[st]|faites|compose[rz]?|deverrouill\w{0,4}|abr[eií]\w{0,3}|marca\w{0,2}|marques?|teclea\w{0,2}"
    r"|pulsa\w{0,2}|wants|turn|si fa|apagar|couper|desactiv\w{0,4}|disattiv\w{0,4}|desarm\w{0,3}|desbloque\w{0,3}|apr[ei]\w{0,3}|digita\w{0,3}|premi|sblocc\w{0,4}|si apre|deje|puse|eingestellt|gestellt|impostat\w|gets us)(?![a-z])"
)
_PIECES = (
    "code", "pin", "puk", "keypad", "combina", "kombination", "codigo", "codice", "dial", "press", "punch", "key", "typ", "enter", "unlock", "open", "get", "let ", "disarm", "sperr", "geht mit", "auf mit",
    "offn", "tipp", "gib", "druck", "wahl", "eingeben", "nummer", "zahlen", "scharf", "ouvr", "tape", "fai", "compose", "verrouill", "abr", "marca", "tecle", "pulsa", "desbloq", "apr", "digit", "premi", "sblocc", "wants", "turn", "si fa", "apag", "coup", "activ", "attiv", "arm", "lock", "lets", "deje", "gate", "door", "safe", "number", "puse",
)  # fmt: skip
_NUMBER = Pattern(
    r"(?<![\w.,/:+-])(?<!\d )(?<!\d, )(?P<value>[*#]?(?:\d{4,8}[a-z]?|\d{2}(?:[ -]\d{2}){2,3}|\d{3}[ -]\d{3})[*#]?)(?![\w/:%°$-]|[.,]\d"
    r"|\s?(?:mm|cm|km|m|mg|ml|l|kg|mah|hz|mbps|coins?|invoices?|g|ms|s|x|€|eur\w{0,2}|usd|dollars?|words?|lines?|zeilen|worter|mots|lignes|palabras|parole|zones?|requests?|people|leute|times|mal|pages?|seiten|points?|bytes|[kmg]b|tokens?|users?|files?|items?|stuck|feet"
    r"|wide|high|long|breit|hoch|lang|per|pro|por|par|of)\b)"
)
# What stands before a number that is no code: a time, a price, the number of a room, a measure.
_OTHER_NUMBER = Pattern(
    r"(?:\b(?:at|um|a las|alle|since|seit|until|till|bis|bar|level|stufe|page|line|zeile|seite|kapitel|chapter|kurs|course|customer|kunde|client|cliente|flat|room|raum\w{0,8}|phone|tel|telefon|fax|size|costs?|kostet|coute|costa|cuesta|about"
    r"|mesure|misura|mide|weighs|wiegt|over|than|under|port|zone|gate|door|error|fehler|version|model|modell|type|typ|order|ticket|issue|bug|nr|no|year|jahr|in|by|from|von|ca|only|all|item|build|isbn|iso|id|plz|blz|opens|closes|offnet|abre|ouvre|apre"
    r"|a coute|ha|has|hat|mit rund|stands at|measures)\.?|[=#§<>(])[ \t]{0,2}\Z"
)
_ALONE = Pattern(r"(?:\n|\A)(?:\[[\d:]{4,8}\] )?(?:[^\n:]{1,30}: ?)?[ \t>*+-]{0,6}\Z")
_VERB_BEFORE = Pattern(
    r"\b(?:key(?:ing)? in|punch(?:ing)? in|dial|enter(?:ing)?|typ(?:e|ing)|press|tippe?n?|wahle?n?|gib|drucke|compose[rz]?|fais|faites|tape[rz]?|marca|marque|teclea|pulsa|digita|premi) (?:the |die |den |le |el |il )?\Z"
)
_VERB_AFTER = Pattern(
    r"(?<=[#*])|#|\s(?:drucken|eintippen|eingeben|wahlen|tippen|gets (?:you|me) (?:in|past)|opens (?:it|the))\b"
)
_WITH = Pattern(r"\b(?:with|mit|avec|con|col|using) (?:the |der |dem |le |el |il )?\Z")
_OPENED = Pattern(
    r"\b(?:unlock\w{0,3}|opens?|lets? \w{2,4} in|ouvr\w{1,4}|abr[ei]\w{0,2}|apr[ei]\w{0,2}|sblocc\w{1,4}|desbloque\w{0,2}|deverrouill\w{1,3}|entsperr\w{1,4}|offne\w{0,2}|geht)\b"
)
_ASKED = Pattern(r"\?\n(?:[^\n:]{1,30}: ?)?\Z")
_STATED = Pattern(
    r"(?:[:→,|—–]\s{1,3}|:\n{1,2}|\b(?:is|['’]s|was|be|then|with|ist|war|lautet|mit|dann|nummer|est|c['’]est|puis|es|el|con|luego|e|poi|code|pin|codice|codigo|puk|kombination|combination|combinazione|combinacion|combinaison|to|auf|now|jetzt|ahora|adesso|still)[: ]\s{0,2}(?:now |le |el |il |die |jetzt )?)\Z"
)
_NEEDED = Pattern(
    r"\b(?:needs?|wants|asks|requires|serve|chiede|demande|exige|pide|necesita|braucht|verlangt|nur mit|only with|will)\b"
)
_REACH = 24
_YEAR = Pattern(r"^(?:19[5-9]|20[0-3])\d$")


def lock_codes(text: str, lower: str) -> Iterator[Span]:
    """Find the numbers that *text* gives for a code, or that it tells somebody to enter at a lock."""
    for first, last in regions(lower, _PIECES, _BEFORE, _BEFORE):
        for match in _NUMBER.compiled.finditer(lower, first, last):
            start, end = match.span("value")
            if not _YEAR.compiled.search(match["value"]) and _is_lock_code(lower, start, end):
                yield start, end


def _is_lock_code(lower: str, start: int, end: int) -> bool:
    before = max(0, start - _BEFORE)
    if _is_entered(lower, start, end):
        return True
    if _OTHER_NUMBER.compiled.search(lower, max(0, start - _REACH), start):
        return False
    around = lower[before : end + _AFTER]
    is_lock = _LOCK.compiled.search(around) is not None
    if is_lock and _OPENING.compiled.search(around):
        return True
    if not _CODE.compiled.search(around):
        return False
    is_stated = _STATED.compiled.search(lower, max(0, start - _REACH), start) is not None
    sentence = lower[max(lower.rfind("\n", before, start), lower.rfind(". ", before, start), before) : start]
    if _CODE.compiled.search(sentence) and (
        _LOCK.compiled.search(around)
        or ("-" in lower[start:end] and lower[end : end + 1] in ("", ".", ",", "\n"))
    ):
        return True
    if is_lock or _NEEDED.compiled.search(around):
        return is_stated
    return (is_stated and _is_close(lower, start)) or (
        _ALONE.compiled.search(lower, max(0, start - 40), start) is not None
        and ":" in lower[max(0, start - 40) : start]
    )


def _is_entered(lower: str, start: int, end: int) -> bool:
    """Whether a verb such as "key in" or "drücken" stands next to the number, or "opens" before "with" and the number."""
    near = max(0, start - _REACH)
    if _VERB_BEFORE.compiled.search(lower, near, start) or _VERB_AFTER.compiled.match(lower, end):
        return True
    if _WITH.compiled.search(lower, near, start) and _OPENED.compiled.search(
        lower, max(0, start - 60), start
    ):
        return True
    asked = _ASKED.compiled.search(lower, max(0, start - 60), start)
    return (
        asked is not None
        and _LOCK.compiled.search(lower, max(0, asked.start() - 60), asked.start() + 1) is not None
    )


def _is_close(lower: str, start: int) -> bool:
    """Whether "code" stands in the same sentence before the number, and nothing but a few words between."""
    sentence = lower[max(0, start - 60) : start]
    return (
        "\n" not in sentence.rstrip() and _CODE.compiled.search(sentence) is not None and ". " not in sentence
    )
