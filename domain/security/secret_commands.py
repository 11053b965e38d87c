"""Secrets given away by their place in a command line, an address or a file format, or by their own alphabet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_rules import PlacedRule
from clawmem.domain.security.secret_talk import is_word_password
from clawmem.domain.security.secret_values import (
    Span,
    is_common_word,
    is_generated,
    is_key,
    is_password,
    is_placeholder,
    is_uuid,
    mixes_kinds,
)

_LONG_SLUG = 12
_REST = r"[^\n|;]{0,200}?"
_VALUE = r"[\"']?(?P<secret>[^\s\"'$<-][^\s\"']{3,500})"


def _is_mixed(value: str) -> bool:
    return mixes_kinds(value) or is_key(value)


def _is_strong(value: str) -> bool:
    return is_password(value) or is_key(value) or is_uuid(value)


def _is_cipher_password(value: str) -> bool:
    return is_word_password(value) or _is_strong(value) or ("-" in value and len(value) >= _LONG_SLUG)


def _ends_in_key(value: str) -> bool:
    return is_key(value.rstrip("/").rpartition("/")[2], 16)


PLACED = (
    PlacedRule(
        "password",
        "://&@",
        r"(?<=://)[^\s:/@?#\"'<>]{0,200}:(?P<secret>[^\s/\"'<>]{2,200})@(?=[A-Za-z0-9\[.-])",
    ),
    PlacedRule(
        "password",
        "@&:",
        r"(?<![\w/:.@%-])[A-Za-z][\w.-]{0,40}:(?P<secret>[^\s:@/\"'<>]{5,80})@(?=[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})",
        _is_strong,
    ),
    PlacedRule(
        "authorization",
        "earer|EARER",
        r"\b(?:Bearer|bearer|BEARER)\s{1,4}(?P<secret>[A-Za-z0-9._~+/-]{20,4000}=*)",
    ),
    PlacedRule(
        "authorization",
        "asic ",
        r"\b[Bb]asic\s{1,4}(?P<secret>(?=\S{0,400}[0-9=])[A-Za-z0-9+/]{12,400}={0,2})(?![A-Za-z0-9])",
    ),
    PlacedRule(
        "authorization",
        "uthorization",
        r"[Aa]uthorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:[A-Za-z-]{2,20}\s{1,3})?(?:[a-z_]{2,12}=\"?)?(?P<secret>[\w.~+/=:-]{16,2000})",
        is_key,
    ),
    PlacedRule(
        "password",
        "login&password|machine&password",
        r"\b(?:machine\s{1,40}\S{1,200}|default)\s{1,40}login\s{1,40}\S{1,100}\s{1,40}password\s{1,40}(?P<secret>\S{4,200})",
    ),
    PlacedRule(
        "password",
        "curl|wget|http",
        rf"\b(?:curl|wget|https?|xh)\b{_REST}\s(?:-u|-a|--user|--auth)[ =]?[\"']?[\w.@-]{{1,60}}:(?P<secret>[^\s\"':]{{3,200}})",
    ),
    PlacedRule(
        "password",
        "--",
        r"--(?:[a-z]{1,15}-){0,3}[a-z]{0,10}(?:password|passwd|passphrase|passcode|pass|token|secret|api-?key|pwd|authkey|secret-key|access-key|private-key|psk)"
        r"[ =][\"']?(?:(?<=[\"'])(?P<quoted>[^\"'\n$]{4,300})(?=[\"'])|(?P<secret>[^\s\"'$<=-][^\s\"']{3,500}))",
        _is_mixed,
    ),
    PlacedRule(
        "password", "pass", rf"\s-[a-z]{{0,12}}pass(?:word|wd|phrase)?[ =:]{_VALUE}", _is_mixed
    ),
    PlacedRule(
        "password",
        " -u| -U| -D| --user",
        rf"\s(?:-[uUD]|--user(?:name)?)[ =]?[^\s,]{{1,60}}\s{_REST}(?<=\s)-(?:[pPwWk]|pw)[ =]?{_VALUE}",
        is_generated,
    ),
    PlacedRule(
        "password",
        " -u &,",
        rf"\s-u\s{{1,3}}[\w.@-]{{1,60}},{_VALUE}",
        is_generated,
    ),
    PlacedRule("password", "openssl", rf"\bopenssl\b{_REST}\s-k {_VALUE}", is_generated),
    PlacedRule("password", "openssl enc", rf"\bopenssl enc\b{_REST}\s-k {_VALUE}", _is_cipher_password),
    PlacedRule("secret", "openssl", rf"\bopenssl\b{_REST}\s-K (?P<secret>[0-9A-Fa-f]{{16,64}})\b"),
    PlacedRule(
        "password",
        "add_user|adduser|add-user|useradd|create_user|createuser|e_password|t_password|e-password|t-password",
        rf"\b(?:(?:add|create|change|set|mod|reset)[_ -]?(?:user|password|passwd|pwd)|useradd|adduser)\s(?:[\w.@-]{{1,60}}\s)?{_VALUE}",
        is_generated,
    ),
    PlacedRule("password", "net use", rf"\bnet use\s{_REST}\s(?P<secret>[^\s/\\\"'][^\s\"']{{4,100}})\s{{1,3}}/user:", _is_strong),
    PlacedRule(
        "password",
        "sqlplus|sqlldr|expdp|impdp",
        rf"\b(?:sqlplus|sqlldr|expdp|impdp)\s{_REST}[\w.-]{{1,60}}/(?P<secret>[^\s@/\"']{{4,100}})(?=@|\s|$)",
        _is_mixed,
    ),
    PlacedRule("secret", "://", r"(?<=://)(?P<secret>[0-9a-f]{32})@(?=[a-z0-9])"),  # the DSN of an error tracker
    PlacedRule(
        "secret", "rtmp", r"\brtmps?://[^\s/\"']{1,200}/[^\s/\"']{1,60}/(?P<secret>[^\s\"'<>]{8,200})", is_key
    ),
    PlacedRule(
        "password",
        "ssh-keygen",
        rf"\bssh-keygen\b{_REST}\s-[NP]\s{{0,2}}(?:\"(?P<quoted>[^\"\n$]{{4,200}})\"|'(?P<secret>[^'\n]{{4,200}})')",
    ),
    PlacedRule(
        "password",
        "wpa_passphrase=|wpa_psk=|psk=|PSK=",
        r"\b(?:wpa_passphrase|wpa_psk|psk|WPA_PSK|PSK)=(?P<secret>(?!\d{1,3} )[^\s\"'#$<]{1,63}(?: [^\s\"'#$<]{1,40}){1,7})(?=[ \t]{0,3}(?:\n|$))",
    ),
    PlacedRule("token", "<<<", rf"<<<\s{{0,3}}{_VALUE}", is_generated),
    PlacedRule(
        "webhook", "hook", r"https?://[^\s/\"']{0,80}hooks?\b[^\s/\"']{0,80}/(?P<secret>[^\s\"'<>)]{20,300})", _ends_in_key
    ),
    PlacedRule("password", "rcon|mqtt", rf"\b(?:mcrcon|rcon|mosquitto_[a-z]{{3}}|mqtt)\b{_REST}\s-[pP] {_VALUE}", _is_mixed),
    PlacedRule("secret", "appid=|app_id=", r"[?&]app_?id=(?P<secret>[0-9a-f]{32})\b"),
    PlacedRule("password", "sshpass", rf"\bsshpass\s{{1,3}}-p\s{{0,2}}{_VALUE}"),
    PlacedRule(
        "password",
        "mysql|mariadb|mycli",
        rf"\b(?:mysql|mariadb|mycli)[a-z-]{{0,12}}\b{_REST}\s-p{_VALUE}",
        _is_mixed,
    ),
    PlacedRule("password", "zip", rf"\b(?:un)?zip\b{_REST}\s-P ?{_VALUE}"),
    PlacedRule("password", "7z|rar", rf"\b(?:7z[azr]?|(?:un)?rar)\b{_REST}\s-h?p{_VALUE}", _is_mixed),
    PlacedRule(
        "password",
        " -p| -P| -a| -w",
        rf"\b(?:redis-cli\b{_REST}\s(?:-a|--pass)|ldap[a-z]{{3,8}}\b{_REST}\s-w"
        rf"|(?:docker|podman|helm|skopeo|buildah|oras|crane|nerdctl|az|oc|cf|twine|registry|kubelogin)\b{_REST}\s-p|mongo[a-z]{{0,8}}\b{_REST}\s-p"
        rf"|(?:sqlcmd|bcp|isql|influx|clickhouse-client|cqlsh|impacket-\w{{1,20}}|useradd|snmpwalk)\b{_REST}\s-[pPa])[ =]{_VALUE}",
        _is_strong,
    ),
    PlacedRule(
        "password",
        "%",
        rf"\b(?:smbclient|rpcclient|net|mount\.cifs|wmic?|winexe)\b{_REST}\s(?:-U|--user)[ =]?[\"']?[\w.\\-]{{1,60}}%(?P<secret>[^\s\"']{{4,100}})",
    ),
    PlacedRule("password", "pass:", r"\s-(?:pass\w{0,4}|k)\s{1,3}[\"']?pass:(?P<secret>[^\s\"']{4,200})"),
    PlacedRule(
        "password",
        "chpasswd",
        r"[\"']?[\w.-]{1,60}:(?P<secret>[^\s\"']{4,100})[\"']?\s{0,3}\|\s{0,3}(?:sudo\s{1,3})?chpasswd",
    ),
    PlacedRule(
        "password",
        "echo|printf",
        rf"\b(?:echo|printf)\s{{1,3}}(?:-[ne]\s{{1,3}}|[\"']?%s[\"']?\s{{1,3}})?{_VALUE}[\"']?\s{{0,3}}\|\s{{0,3}}"
        r"(?:sudo\s{1,3}-[a-zA-Z]{0,4}S|[^\n|]{0,120}(?:--(?:password|pass)-stdin|passwd --stdin|--with-token|--passphrase-fd))",
    ),
    PlacedRule("password", "htpasswd", rf"\bhtpasswd\s{{1,3}}-\w{{0,4}}b\w{{0,4}}\s{_REST}\s[\w.@-]{{1,60}}\s{{1,3}}{_VALUE}\s{{0,3}}$"),
    PlacedRule("password", "/u", rf"/u(?:ser)?:[\w.\\@-]{{1,60}}\s{{1,3}}(?:/p(?:assword)?:)?{_VALUE}", _is_strong),
    PlacedRule("password", "/p:", r"\s/p(?:assword)?:[\"']?(?P<secret>[^\s\"']{4,200})", _is_strong),
    PlacedRule("token", "vault login", r"\bvault login (?:-[\w=-]{1,40} )?(?P<secret>[\w.-]{16,200})", is_key),
    PlacedRule(
        "password",
        "IDENTIFIED|identified|ASSWORD '|assword '",
        r"\b(?:IDENTIFIED (?:WITH \w{1,40} )?(?:BY|AS)|identified by|(?:WITH|LOGIN|ENCRYPTED|with) PASSWORD|PASSWORD|password)\s{1,3}[\"'](?P<secret>[^\"'\n]{4,200})[\"']",
    ),
    PlacedRule(
        "password",
        ":",
        r"(?m:^)(?:export )?[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w.*-]{1,64}:(?:\*|[A-Za-z_][\w.@-]{0,63}):(?P<secret>[^\s:]{4,200})(?m:\r?$)",
    ),
    PlacedRule("secret", "dockerc", r"dockerc(?:onfigjson|fg)[\"']?\s{0,3}:\s{0,3}[\"']?(?P<secret>[A-Za-z0-9+/=]{20,8000})"),
    PlacedRule(
        "password",
        "auth",
        r"\bauth\s{0,2}=\s{0,2}(?:HTTPBasicAuth)?\(\s{0,3}[\"'][^\"'\n]{1,60}[\"']\s{0,3},\s{0,3}[\"'](?P<secret>[^\"'\n]{4,200})[\"']",
    ),
    PlacedRule(
        "password",
        "login(|Login(|logon(|ignin(|ign_in(|uthenticate(|redential(|redentials(|uth(|onnect(",
        r"(?i:(?:log_?[io]n|sign_?in|authenticate|credentials?|auth)\(|connect\((?=[^,\n]{1,80},[^,\n]{1,80},))"
        r"(?:\s{0,3}[\"'][^\"'\n]{1,80}[\"']\s{0,3},){1,3}\s{0,3}[\"'](?P<secret>[^\"'\n]{5,200})[\"']\s{0,3}[,)]",
        _is_strong,
    ),
    PlacedRule(
        "password",
        "btoa|b64encode|Buffer|base64",
        r"(?:btoa|b64encode|Buffer(?:\.from)?|base64\w{0,10})\(\s{0,3}b?[\"'`][\w.@-]{1,60}:(?P<secret>[^\s\"'`:]{4,200})[\"'`]",
    ),
    PlacedRule("secret", "ASP.NET|SESSID|sessionid|connect.sid|SESSIONID", r"(?:ASP\.NET_SessionId|PHPSESSID|J?SESSIONID|sessionid|connect\.sid)[\"']?\s{0,2}[=:]\s{0,2}[\"']?(?P<secret>[^\s;,\"'&}]{12,4000})", is_key),
    PlacedRule(
        "password",
        "SecureString|encrypt_string",
        r"(?:ConvertTo-SecureString\s(?:-String\s)?|\bencrypt_string\s)\s{0,3}[\"'](?P<secret>[^\"'\n$]{4,300})[\"']",
    ),
    PlacedRule(
        "azure storage key", "AccountKey=|SharedAccessKey=", r"(?<=Key=)(?P<secret>[A-Za-z0-9+/]{40,200}={0,2})"
    ),
)  # fmt: skip

_COOKIES = Pattern(
    r"\b(?:set-)?cookies?\b(?: header)?[\"']?(?:\s{0,3}[:=]\s{0,3}|\s)[\"'{]{0,2}|\bcurl\b[^\n|;]{0,200}?\s-b\s{0,2}[\"']?"
)
_COOKIE = Pattern(r"(?P<name>[\w.%-]{1,60})[\"']?\s{0,2}[=:]\s{0,2}[\"']?(?P<secret>[^\s;,\"'}]{8,4000})")
_COOKIE_SETTINGS = frozenset(
    "path expires domain max-age samesite secure httponly priority partitioned".split()
)
_COOKIE_LINE = 4000


def placed(text: str) -> Iterator[tuple[int, int, str]]:
    """Find secrets by their place; start, end and kind of each."""
    for rule in (*PLACED, *PHRASES):
        if rule.may_match(text):
            for match in rule.compiled.finditer(text):
                group = "quoted" if match.groupdict().get("quoted") else "secret"
                value = match[group]
                if not is_placeholder(value) and rule.check(value):
                    yield *match.span(group), rule.kind


def cookies(text: str, lower: str) -> Iterator[Span]:
    """Find the values of cookies in headers, command lines and calls."""
    if "cookie" not in lower and " -b" not in text:
        return
    done = 0
    for match in _COOKIES.compiled.finditer(lower):
        if match.end() < done:
            continue
        stop = text.find("\n", match.end(), match.end() + _COOKIE_LINE)
        done = min(len(text), match.end() + _COOKIE_LINE) if stop < 0 else stop
        for pair in _COOKIE.compiled.finditer(text, match.end(), done):
            if pair["name"].lower() not in _COOKIE_SETTINGS and is_key(pair["secret"], 16):
                yield pair.span("secret")


_SEED_LENGTHS = range(12, 25)
_MOST_COMMON = (
    4  # the list of BIP 39 has a few words of everyday sentences; half of a sentence are such words
)
_JOINT = r"[^\n:=]{0,40}?(?:[ \t]{0,2}[:=→]|[ \t](?:is|are|reads?|ist|lautet|lauten|est|es|son|e|sono)\b)[ \t]{0,3}\n{0,2}[ \t>\"'`*]{0,6}"


def _is_seed_phrase(value: str) -> bool:
    words = re.findall("[a-z]+", value)
    return (
        len(words) in _SEED_LENGTHS
        and sum(map(is_common_word, words)) * _MOST_COMMON <= len(words)
        and len(set(words)) * 2 > len(words)
    )


def _has_digit(value: str) -> bool:
    return any(character.isdigit() for character in value)


PHRASES = (
    PlacedRule(
        "seed phrase",
        "hrase|HRASE|ords|ORDS|nemonic|NEMONIC|eed|EED",
        r"\b(?i:(?:seed|recovery|backup|wallet|mnemonic|secret recovery)[ -]?(?:phrase|words)|mnemonic|(?:wallet )?seed|wiederherstellungs(?:phrase|wörter))\b"
        rf"{_JOINT}(?P<secret>(?:(?:\d{{1,2}}[.)] ?)?[a-z]{{3,8}}(?:,[ \n]|[ \n])){{11,23}}(?:\d{{1,2}}[.)] ?)?[a-z]{{3,8}}\b)",
        _is_seed_phrase,
    ),
    PlacedRule(
        "otp seed",
        "2fa|2FA|mfa|MFA|otp|OTP|wo-factor|wo factor|uthenticator",
        r"\b(?i:2fa|mfa|h?otp|totp|two[- ]factor|authenticator)\b(?:[^\n]{0,40}?\b(?i:seed|secret|key|code|token)\b)?[^\n]{0,40}?(?<![A-Za-z0-9])"
        r"(?P<secret>[A-Z2-7]{16,128}|[a-z2-7]{32}|(?:[A-Z2-7]{4}[ -]){3,31}[A-Z2-7]{2,4}|(?:[a-z2-7]{4}[ -]){7}[a-z2-7]{4}|(?:[a-z2-7]{4}[ -]){3}[a-z2-7]{4})"
        r"(?![A-Za-z0-9])",
        _has_digit,
    ),
    PlacedRule(
        "card code",
        "cvc|cvv|CVC|CVV|Cvc|Cvv",
        r"(?<![\w-])(?i:cvc2?|cvv2?)(?:[ -](?i:code|number|nummer))?[ \t]{0,2}(?:[:=]|(?i:is|ist|est|es)\b)?[ \t]{0,2}(?P<secret>\d{3,4})(?!\w|[.,-]\d)",
    ),
)
