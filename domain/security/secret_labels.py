"""Names and words that announce a secret: ``DB_PASSWORD``, "the password for", "mot de passe", "API-Schlüssel"."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clawmem.domain.security.patterns import Pattern

# Lower case and without accents, as `clawmem.domain.security.disguise.plain` writes them.
_PASSWORDS = (
    r"(?:pass|key)[ -]?phrase|pass[ -]?(?:words?|code)|passwd|(?:code|safe|magic|secret|geheim|code|schlussel|pass)[ -]?wort|(?:code|safe|magic|secret)[ -]?word(?![a-z])|(?:wi-?fi|wlan|network|internet|login|door|gate|alarm|opening|watch|emergency|spoken|recovery|security|challenge|secret)[ -](?:word|phrase|answer|question(?= ?(?:is|\()))(?![a-z])|mot (?:secret|magique)|palabra (?:secreta|magica)|parola (?:segreta|magica)|passwort|passworter|kennwort|zugangswort|losungswort|parola d['’ ]?ordine|parola chiave|authtok|pwd|contrasenas?|contrasinal|mot[ _]de[ _]passe|mots[ _]de[ _]passe"
    r"|mdp|senha|wachtwoord|losenord|haslo|heslo|requirepass|masterauth|ansible_[a-z]{1,12}_pass|pass(?![a-z])|pw(?![a-z])|clave(?! d?el? exito)"
    r"|(?:seed|recovery|backup|secret|2fa|mfa|scratch|wiederherstellungs)[ -]?(?:phrase|words|codes?)|mnemonic|psk(?![a-z])|(?:bind|root|user|admin|db|ldap|smtp|ftp)pw(?![a-z])|community string|snmp(?:-server)? community|(?:message-digest|authentication)-key|(?:radius|tacacs)[a-z+-]{0,10} key|wpa_passphrase"
    r"|(?:wlan|wi-?fi|wpa\d?|network|netzwerk)[ _-]?(?:key|schlussel)|(?:cle|clave|chiave|llave) (?:d[eiu] ?(?:l[ao] ?)?|del(?:la)? ?)?(?:wi-?fi|wpa|wlan|rete|red|reseau)|key(?= you (?:type|enter))"
)
_VENDORS = (
    r"openai|anthropic|claude|gemini|google|stripe|twilio|sendgrid|mailgun|aws|azure|github|gitlab|slack|discord|deepl|mapbox"
    r"|cloudflare|hetzner|datadog|sentry"
)
_KEYS = (
    r"secret(?! ?(?:words?|answer|phrase)\b)(?:[ _-]?(?:access[ _-]?)?key)?|identitytoken|token|jeton|_auth(?![a-z_-])|(?<=\")auth(?=\")"
    rf"|(?:api|access|auth|private|signing|encryption|account|licen[cs]e|product|activation|recovery|unseal|authentication|{_VENDORS}|master|(?:pre)?[_-]?shared|preshared|app|application"
    r"|client|consumer|service|storage|subscription|functions?|deploy|webhook|hmac|session|integration|ingest|project)[ _-]?key"
    r"|api[ _-]?schlussel|zugangsschlussel|lizenzschlussel|schlussel(?= (?:fur|zu|zur|zum|der|von) (?:die |der |den )?(?:[a-z-]{0,12}api)\b)"
    r"|chiave (?:api|segreta|di accesso|privata)|clave (?:secreta|privada)|llave (?:api|secreta|privada)|(?<=[a-z0-9])_pat(?![a-z_])|cle (?:d['’ ]?)?api|cle (?:secrete|privee|d['’]acces|de licence)|clave (?:de |del? )?(?:la )?api"
    r"|(?<=[a-z0-9])_key(?![a-z_])|key(?= for (?:the )?[a-z0-9 -]{0,30}api\b)|credentials?|geheimnis|session cookie|salt(?![a-z])|(?<![a-z0-9])hs(?:256|384|512)"
)
_LOCKS = (
    r"(?:wi-?fi|door|gate|access|alarm|safe|lock|locker|bike|garage|entry|entrance|unlock|voicemail|mailbox|sim|elevator|shed|barn|cellar"
    r"|alarmanlage|tresor|tur|tor|[a-z]{0,15}schloss|haustur|acces|accesso|acceso|allarme|alarma|alarme|porte|porta|portail|puerta|cancello|coffre"
    r"|cassaforte|caja fuerte|garaje|carte|tarjeta|carta|sblocco|desbloqueo|deverrouillage|verrou|cadenas|candado|lucchetto)"
)
_PINS = (
    rf"\bpin(?:-(?:code|nummer))?\b|\bpincode\b|\bdigicode\b|\bpuk(?:-?code)?[12]?\b|\bcode wi-?fi\b|\b{_LOCKS}[ -](?:pass)?code\b(?![ -]word)|\bcode pin\b"
    r"|\b(?:zugangs|tur|tor|alarm|entsperr|freischalt|sicherheits|tresor|safe|haustur|garagen|zahlen)-?codes?\b"
    rf"|\b(?:code|combination|codigo|codice|combinaison|combinacion|combinazione|kombination)(?= (?:for|to|of|fur|vom|zum|am|de|del|della|dell|di|du|des|d)\b['’]? ?(?:the |my |our |den |die |das |l['’]|la |le |il |el )?{_LOCKS}\b)"
)
_LABEL = Pattern(
    rf"(?:(?P<pin>{_PINS})|(?P<keyed>{_KEYS})|(?P<passing>{_PASSWORDS})|(?P<network>(?<![a-z])(?:key|schlussel|cle|clave|llave|chiave)(?![a-z])))(?P<more>[a-z0-9_-]{{0,40}})"
)
_PIECES = (
    "pass", "wort", "word", "mot ", "palabra", "chiave", "pwd", "pw", "kennwort", "contrase", "contrasi", "mdp", "senha", "wachtwoord", "losenord", "haslo", "heslo", "clave",
    "phrase", "puk", "mnemonic", "recovery", "backup", "seed", "psk", "pin", "secret", "token", "jeton", "auth", "key", "schlussel", "credential", "geheimnis",
    "salt", "hs256", "hs384", "hs512", "code wi", "fi code", "fi-code", "or code", "te code", "ss code", "rm code", "code d'", "code d’", "code for the", "gscode", "turcode",
    "answer", "question", "codigo", "cookie", "community", "code", "codice", "combina", "kombina", "parola", "losungswort", "zugangswort", "llave", "cle", "_pat",
)  # fmt: skip
_LONGEST_NAME = 60
_REACH_BACK, _REACH = 32, 90  # characters around a piece that a label may take
_NAME_BEFORE = Pattern(r"[A-Za-z0-9_.-]{1,60}\Z")
_NO_SECRET = Pattern(
    r"^[_-]?(?:s?$)?(?:(?:ids?|names?|type|length|len|count|size|limit|budget|expir\w*|ttl|field|file|path|url|uri|policy|hash\w*"
    r"|header|prefix|hint|min|max|version|rotation|ring|s?_?used|kind|regex|pattern|env|ref|arn|required|enabled|reset|managers?"
    r"|lifetime|timeout|backend|store|source|interval|days|provider|method|endpoint|algorithm|alg|format|label|placeholder|scope|usage"
    r"|bucket|izer\w*|ization|enger\w*|wordless|ive|age\w*|port\w*|ion\w*|less|ed|es|ing|by|through|rate|mark|word_\w+)(?:$|[_-]))|^s$"
    r"|^(?:Name|File|Path|Url|Id|Type|Policy|Length|Hash|Field|Ref)",
    flags=re.IGNORECASE,
)
_NO_KEY_BEFORE = Pattern(
    r"(?:public|primary|foreign|partition|sort|cache|object|row|group|gpg|pgp|order|routing|lookup|dedup\w*|idempotency|hash|range|unique|s3"
    r"|storage|redis|map|dict|shard|join|index|config|registry|hot|short)[_.-]?\Z|(?:pad|eos|bos|unk|sep|cls|mask)_\Z",
    flags=re.IGNORECASE,
)

_NETWORKS = Pattern(r"\b(?:wi-?fi|wlan|wireless|ssid|wpa\d?)(?![a-z])", flags=re.IGNORECASE)


class SecretLabel(NamedTuple):
    """A name or word that announces a secret, at the offsets from ``start`` to ``end`` (exclusive).

    ``name`` is the whole identifier around it; ``kind`` is ``password``, ``secret`` or ``pin``. ``is_bare`` says
    that nothing follows the word inside its identifier.
    """

    start: int
    end: int
    name: str
    kind: str
    is_bare: bool


def labels_in(text: str, lower: str) -> Iterator[SecretLabel]:
    """Find the labels of *text*, of which *lower* is the lower case, character by character."""
    for start, end in regions(lower, _PIECES, _REACH_BACK, _REACH):
        for match in _LABEL.compiled.finditer(lower, start, end):
            label = _label(text, match)
            if label:
                yield label


def regions(lower: str, pieces: Iterable[str], before: int, after: int) -> Iterator[tuple[int, int]]:
    """
    Yield the parts of *lower* around each of *pieces*, merged where they meet.

    Finding a fixed text is many times faster than an expression with as many alternatives.
    """
    places: list[int] = []
    for piece in pieces:
        at = lower.find(piece)
        while at >= 0:
            places.append(at)
            at = lower.find(piece, at + len(piece))
    places.sort()
    start = end = -1
    for place in places:
        if end < 0 or place - before > end:
            if end >= 0:
                yield start, end
            start = max(0, place - before)
        end = min(len(lower), place + after)
    if end >= 0:
        yield start, end


def _label(text: str, match: re.Match[str]) -> SecretLabel | None:
    start, end = match.span()
    more = text[match.start("more") : end]
    before = _NAME_BEFORE.compiled.search(text, max(0, start - _LONGEST_NAME), start)
    name = (before[0] if before else "") + text[start:end]
    if _NO_SECRET.compiled.search(more) and more not in ("s", "S"):
        return None
    word = match[0][: len(match[0]) - len(more)]
    if match["keyed"] and not _is_key_name(word, name, text[max(0, start - 20) : start]):
        return None
    if match["network"] and not _NETWORKS.compiled.search(text, max(0, start - _LONGEST_NAME), start):
        return None
    if word in ("pass", "pw", "clave", "salt", "psk") and start and not _begins_word(text, start):
        return None
    kind = "pin" if match["pin"] else "secret" if match["keyed"] else "password"
    return SecretLabel(start, end, name, kind, more in ("", "s", "S", "-"))


def _is_key_name(word: str, name: str, before: str) -> bool:
    if word in ("_key", "_pat"):
        return name.isupper() and not _NO_KEY_BEFORE.compiled.search(name[: -len(word)])
    return not _NO_KEY_BEFORE.compiled.search(before)


def _begins_word(text: str, start: int) -> bool:
    before, first = text[start - 1], text[start]
    return not before.isalpha() or (before.islower() and first.isupper())
