"""Generated values in the line of a word for access or just below it, whatever the grammar between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import regions
from clawmem.domain.security.secret_nearby import names_another_thing, speaks_of_hashes, tokens
from clawmem.domain.security.secret_values import (
    Span,
    is_code_group,
    is_generated,
    is_out_of_place,
    is_passphrase,
    is_password,
    may_be_named,
    mixes_kinds,
)

_WINDOW = 110  # characters on both sides of a word for access
# What people unlock, log in to or prove, in five languages. Lower case, without accents.
_ACCESS_PIECES = (
    "pass", "pwd", "kennwort", "parola", "contrase", "clave", "credenc", "credent", "credenz", "zugang", "secret", "segret", "geheim", "token", "jeton",
    "key", "schlussel", "chiave", "llave", " cle", "pin", "login", "log in", "logs in", "logg", "sign in", "signin", "auth", "unlock", "entsperr", "sblocc", "desbloq",
    "deverrouill", "admin", "root", "backend", "account", "konto", "compte", "cuenta", "identifiant", "benutzer", "anmeld", "einlogg", "connect", "connex",
    "accede", "acceso", "accesso", "accedi", "acces ", "wifi", "wi-fi", "wlan", "ssid", "hotspot", "router", "vpn", "psk", "network", "netz", "rete ", "reseau", "zip", "pdf",
    "archiv", "alarm", "allarme", "safe", "tresor", "cassaforte", "caja fuerte", "coffre", "vault", "door", "lock", "lucchetto", "candado", "cadenas", "locker",
    "laptop", "ipad", "phone", "tablet", "handy", "movil", "mobile", "server", "portal", "portail", "panel", "mailbox", "encrypt", "verschlusselt", "decrypt",
    "recovery", "backup code", "seed", "signing", "webhook", "share with", "shared with", "guest", "enable ", "snmp", "radius", "tacacs", "isakmp", "ospf", "bgp",
    " nas", "nas ", "ftp", "ssh", "smtp", "imap", "mysql", "mariadb", "postgres", "redis", "mongo", "ldap", "samba", "smb", "rdp", "vnc", "grafana", "gitlab", "jenkins", "nextcloud", "synology", "fritz", "drucker",
    "printer", "kamera", "camera", "icloud", "netflix", "spotify", "plex", "jira", "licen", "lizenz", " pw", "pw ", "user", "usuario", "utente", "utilisateur", "signed with", "if asked", " asks",
    "remote", "desktop", "terminal", "console", "wiki", "session", "sitzung", "sesion", "sessione", "invit", "ospite", "guest", "gast", "mdp", "operator", "cloud", "database", "datenbank", "upload", "phrase",
)  # fmt: skip
# What stands before a value that somebody is told to enter.
_ENTERED = Pattern(
    r"\b(?:wants|takes|expects|accepts|enter|entering|type|typing|use|using|dial|try|punch in|key in|put in|(?:locked|protected|encrypted|secured|unlocked?|unlocks|opens?) with|geb(?:t|en|e)(?: ihr| sie)?"
    r"|gib|tipp(?:t|e|en)?|nimm|nehmt|nehmen sie|verschlusselt mit|geschutzt mit|mit|tape[rz]?|saisi\w{0,5}|entre[rz]?|utilise[rz]?|avec|usa(?:te|re)?|inserisci"
    r"|inserite|digita(?:te)?|con|pon(?:er)?|introduce|introduzca|teclea|escribe|metti|asks?|say)[ \t]{1,3}[\"'`(]{0,2}\Z"
)
_ALONE_BEFORE, _ALONE_AFTER = (
    Pattern(r"(?:\n|\A)[ \t>*+-]{0,6}[\"'`*_]{0,3}\Z"),
    Pattern(r"[\"'`*_]{0,3}[ \t]{0,3}(?:\n|\Z)"),
)
_KEY_GIVEN = Pattern(r"(?:[:=→,]|\b(?:is|with|ist|lautet|mit|est|avec|es|con|e|son))[ \t]{1,3}[\"'`*]{0,3}\Z")
_KEY_PIECES = (
    "secret",
    "webhook",
    "signed with",
    "signiert mit",
    "hmac",
    "api",
    "signing",
    "geheim",
    "segret",
    "key",
    "schlussel",
    "clave",
    "chiave",
    "token",
)
_LONG_HEX = Pattern(r"^[0-9a-f]{20,128}$", flags=re.IGNORECASE)
_PRODUCT_PIECES = ("licen", "lizenz", "product key", "activat", "backup code", "recovery", "serial")
_NO_KEY_PIECES = (
    "cache",
    "primary",
    "idempot",
    "etag",
    "request",
    "object",
    "public",
    "row",
    "revision",
    "tokenizer",
)
# Words that announce a password, not only a place where one is needed.
_ANNOUNCING = Pattern(
    r"\bpass(?!age|eng|ion|ive|port)\w{0,7}(?![\w-])|\bpw\b|\bpwd\b|kennwort|contrasen|\bclave|\bmdp\b|parola|log[ -]?in\b|\blogs? ?in\b|anmeld|einlogg|zugang|creds?\b|credential|credencial|credenzial|identifiant|\bkonto\b|\baccount\b|\bcuenta\b"
    r"|\bcompte\b|session|sitzung|sesion|user(?:name)?\b|nutzer|usuario|utente|utilisateur|wi-?fi|wlan|wireless|\bssid|phrase|unlock|entsperr|sblocc|desbloq|deverrouill"
)
_CLAUSE_BEFORE = Pattern(
    r"(?:[:,/|;(→=]|->|\b(?:out|gave|got|chose|le di|is|was|use|enter|type|tippt?|then|chose|picked|set|to|and|with|mit|dann|und|puis|est|et|luego|es|y|di|poi|e|gib|nimm|as|als|comme|como|come))[ \t]{1,3}[\"'`*„“«(]{0,3}\Z"
)
_CLAUSE_AFTER = Pattern(
    r"[\"'`*”“»)]{0,3}(?:[.,;!?)](?:\s|\Z)|[ \t]{0,3}(?:\n|\Z)|[ \t]{1,3}(?:works?|opens?|for|on|in|at|and|or|ein|an|auf|geht|fur|und|pour|et|para|y|per|—|–|-|\()(?:\W|\Z)|[\"”»])"
)
_HYPHENED = Pattern(r"^[a-z]{3,9}(?:-[a-z]{3,9}){3,7}$")
_QUOTED = Pattern(r"[\"“„«`](?P<words>[a-z]{3,12}(?: [a-z]{3,12}){1,7})[\"”“»`]")
_REACH = 24
_SHORTEST = 7
_LEAST_DIGITS = 2


def in_context(text: str, lower: str) -> Iterator[Span]:
    """Find the generated values in the parts of *text* that speak of access."""
    for first, last in regions(lower, _ACCESS_PIECES, _WINDOW, _WINDOW):
        for start, end in tokens(text, first, last):
            if _is_secret(text, lower, start, end) and not names_another_thing(lower, start):
                around = lower[max(first, start - _WINDOW) : min(last, end + _WINDOW)]
                if not speaks_of_hashes(around):
                    yield start, end
        yield from _quoted_phrases(lower, first, last)


def _quoted_phrases(lower: str, first: int, last: int) -> Iterator[Span]:
    """Find quoted words that make no sentence, near "password" or "phrase" and after "is" or a colon."""
    for match in _QUOTED.compiled.finditer(lower, first, last):
        start, end = match.span("words")
        around = lower[max(first, start - _WINDOW) : min(last, end + _WINDOW)]
        if (
            _KEY_GIVEN.compiled.search(lower, max(0, start - _REACH), start)
            and ("pass" in around or "phrase" in around)
            and is_passphrase(match["words"])
        ):
            yield start, end


def _is_secret(text: str, lower: str, start: int, end: int) -> bool:
    value = text[start:end]
    if is_out_of_place(value):
        return True
    if _LONG_HEX.compiled.search(value):
        sentence = lower[max(0, start - _WINDOW) : start]
        return (
            bool(_KEY_GIVEN.compiled.search(sentence))
            and any(word in sentence for word in _KEY_PIECES)
            and not any(word in sentence for word in _NO_KEY_PIECES)
        )
    if _HYPHENED.compiled.search(value):
        return "phrase" in lower[max(0, start - _WINDOW) : start] and is_passphrase(value.replace("-", " "))
    if is_code_group(value):
        around = lower[max(0, start - _WINDOW) : start]
        return not value.replace("-", "").isdigit() and any(word in around for word in _PRODUCT_PIECES)
    if may_be_named(value):
        return False
    return (is_generated(value) and _is_set_apart(text, lower, start, end)) or (
        len(value) >= _SHORTEST
        and mixes_kinds(value)
        and is_password(value)
        and _is_announced(text, lower, start, end)
    )


def _is_announced(text: str, lower: str, start: int, end: int) -> bool:
    """Whether the value is a clause of its own in a sentence about a password or a login."""
    if not _CLAUSE_BEFORE.compiled.search(text, max(0, start - _REACH), start):
        return False
    around = lower[max(0, start - _WINDOW) : end + _WINDOW // 2]
    return bool(_CLAUSE_AFTER.compiled.match(text, end) and _ANNOUNCING.compiled.search(around)) and (
        sum(map(str.isdigit, text[start:end])) >= _LEAST_DIGITS
    )


def _is_set_apart(text: str, lower: str, start: int, end: int) -> bool:
    """Whether the value stands alone in its line, or after a verb such as "enter"."""
    before = max(0, start - _REACH)
    if _ENTERED.compiled.search(lower, before, start):
        return True
    return bool(_ALONE_BEFORE.compiled.search(text, before, start) and _ALONE_AFTER.compiled.match(text, end))
