"""
Detection of secrets by published shapes and by names that say that a value is a secret.

There are no rules for prose: a password in a sentence is not found. A false alarm hides what the user wrote, so a
value that may be a word, a path, an expression or a placeholder is not a secret.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from clawmem.domain.documents.encoding import decode


class SecretSpan(NamedTuple):
    """Detected secret of *kind* at the offsets from ``start`` to ``end`` (exclusive)."""

    start: int
    end: int
    kind: str


_ALNUM = "[A-Za-z0-9]"
_WORD = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"

# Kind, prefixes, and the expression of the rest, as issuers publish them.
_SERVICES: tuple[tuple[str, str, str], ...] = (
    ("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    ("airtable token", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    ("anthropic key", "sk-ant-", f"{_WORD}{{30,}}"),
    ("atlassian token", "ATATT3", "[A-Za-z0-9_=-]{60,}"),
    ("aws access key", "AKIA ASIA ABIA ACCA", "[A-Z2-7]{16}"),
    ("databricks token", "dapi", rf"{_HEX}{{32}}(?:-\d)?"),
    ("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", f"{_HEX}{{64}}"),
    ("docker token", "dckr_pat_ dckr_oat_", f"{_WORD}{{27,}}"),
    ("doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim.", "[A-Za-z0-9_.]{40,}"),
    ("dropbox token", "sl.", f"{_WORD}{{60,}}"),
    ("figma token", "figd_ figo_", f"{_WORD}{{36,}}"),
    ("fly token", "fo1_", f"{_WORD}{{40,}}"),
    ("github token", "ghp_ gho_ ghu_ ghs_ ghr_", f"{_ALNUM}{{36,255}}"),
    ("github token", "github_pat_", r"\w{60,255}"),
    ("gitlab token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent-", rf"{_WORD}{{20,}}(?:\.\w+)*"),
    ("google api key", "AIza", f"{_WORD}{{35}}"),
    ("google token", "ya29. GOCSPX-", f"{_WORD}{{20,}}"),
    ("grafana token", "glc_ glsa_", "[A-Za-z0-9_+/=]{32,}"),
    ("groq key", "gsk_", f"{_ALNUM}{{40,}}"),
    ("hugging face token", "hf_ api_org_", f"{_ALNUM}{{34,}}"),
    ("linear key", "lin_api_", f"{_ALNUM}{{40}}"),
    ("mailgun key", "key-", f"{_HEX}{{32}}"),
    ("new relic key", "NRAK-", "[A-Z0-9]{27}"),
    ("notion token", "ntn_", f"{_ALNUM}{{40,50}}"),
    ("npm token", "npm_", f"{_ALNUM}{{36}}"),
    ("openai key", "sk-", f"{_ALNUM}{{32,}}"),
    ("openai key", "sk-proj- sk-svcacct- sk-admin-", f"{_WORD}{{16,}}"),
    ("openrouter key", "sk-or-v1-", f"{_HEX}{{40,}}"),
    ("perplexity key", "pplx-", f"{_ALNUM}{{40,}}"),
    ("planetscale token", "pscale_tkn_ pscale_oauth_ pscale_pw_", f"{_WORD}{{32,}}"),
    ("postman key", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    ("pulumi token", "pul-", f"{_HEX}{{40}}"),
    ("pypi token", "pypi-", f"{_WORD}{{50,}}"),
    ("replicate token", "r8_", f"{_ALNUM}{{37}}"),
    ("rubygems key", "rubygems_", f"{_HEX}{{48}}"),
    ("sendgrid key", "SG.", rf"{_WORD}{{22}}\.{_WORD}{{43}}"),
    ("sentry token", "sntrys_ sntryu_", "[A-Za-z0-9_+/=]{40,}"),
    ("shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]{32}"),
    ("slack token", "xoxb- xoxp- xoxa- xoxe- xoxe. xoxo- xoxr- xoxs- xapp-", "[A-Za-z0-9_.-]{20,}"),
    ("square token", "sq0atp- sq0csp- sq0idp- EAAA", f"{_WORD}{{22,64}}"),
    ("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", f"{_ALNUM}{{16,}}"),
    ("supabase key", "sbp_ sb_secret_", f"{_WORD}{{30,}}"),
    ("tailscale key", "tskey-", f"{_WORD}{{20,}}"),
    ("twilio key", "SK", f"{_HEX}{{32}}"),
    ("vault token", "hvs. hvb. hvr.", f"{_WORD}{{24,}}"),
    ("xai key", "xai-", f"{_ALNUM}{{60,}}"),
)
_KINDS = sorted(
    ((prefix, kind) for kind, prefixes, _ in _SERVICES for prefix in prefixes.split()),
    key=lambda pair: -len(pair[0]),
)
_SHAPED = re.compile(
    "(?<![A-Za-z0-9_])(?:"
    + "|".join(re.escape(prefix) + rest for _, prefixes, rest in _SERVICES for prefix in prefixes.split())
    + ")(?![A-Za-z0-9_])"
)

_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"[^-]*(?:-(?!----)[^-]*)*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
# Kind and expression; the group ``secret``, where there is one, is what is redacted.
_PLACES = tuple(
    (kind, re.compile(source))
    for kind, source in (
        ("private key", _PRIVATE_KEY),
        ("jwt", rf"eyJ(?<![A-Za-z0-9_]eyJ){_WORD}{{10,}}\.eyJ{_WORD}{{10,}}\.{_WORD}{{16,}}"),
        (
            "discord token",
            rf"[MNO](?<!\w.){_WORD}{{23,27}}\.{_WORD}{{6}}\.(?=\D{{0,30}}\d){_WORD}{{27,38}}(?!{_WORD})",
        ),
        ("telegram token", rf":(?<=\d{{8}}:)(?P<secret>AA{_WORD}{{33}})(?!{_WORD})"),
        ("terraform token", rf"\.atlasv1\.(?P<secret>{_WORD}{{60,}})"),
        ("slack webhook", r"hooks\.slack\.com/(?P<secret>(?:services|workflows)/T\w+/\w+/\w{16,})"),
        ("discord webhook", rf"/api/webhooks/(?P<secret>\d{{17,20}}/{_WORD}{{60,80}})"),
        ("azure storage key", r"Key=(?P<secret>[A-Za-z0-9+/]{40,}={1,2})"),
        ("signed url", r"[?&](?:sig|X-Amz-Signature|Signature)=(?P<secret>[A-Za-z0-9%+/_-]{32,}=*)"),
        ("password", r"://[^\s:/@\"'<>]{0,100}:(?P<secret>[^\s/@\"'<>]{3,200})@(?=[\w\[.-])"),
        (
            "password",
            r"curl\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]{0,3}[\"']?[\w.@-]{0,60}:(?P<secret>(?=\S{0,80}\d)[^\s\"'$:\[]{4,200})",
        ),
        (
            "authorization",
            r"[Aa](?<!\w.)(?i:uthorization)[\"']?\s?[:=]\s{0,3}[\"']?(?:[A-Za-z-]{2,20} )?(?P<secret>(?=\S{0,80}\d)[\w.~+/=:-]{16,4000}+)(?!\()",
        ),
        ("authorization", r"[Bb](?i:earer) (?P<secret>(?=\S{0,80}\d)[A-Za-z0-9._~+/-]{20,4000}+=*)"),
    )
)

_PASSWORD_NAMES = "pass(?:word|wd|phrase|code|wort)?|passw|pwd|psk|requirepass|kennwort|contrase[nñ]a|senha|mdp|mot_de_passe|wachtwoord|(?<=_)pw"
_KEY_NAMES = (
    "secret|(?<!csrf)(?<!csrf[_-])(?<!public)token|credentials?|creds|jwt|(?<![a-z])auth|api[_-]?key"
    "|(?:access|account|app|application|auth|client|deploy|encryption|hmac|jwt|license|master|private|secret|service|session"
    "|shared|storage|subscription|webhook)[_-]?key"
)
_NAME = re.compile(
    rf"(?i:(?P<password>{_PASSWORD_NAMES})|(?P<key>{_KEY_NAMES}))[_-]?\d{{0,3}}$|^[A-Z][A-Z0-9_]*(?<!PUBLIC)_KEY$"
)

_VALUE = (
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\s\"'`]{4,4000}+)(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;<>(){}\[\]&|]{4,4000}+)(?![(\[{]))"
)
_ASSIGNED = re.compile(
    r"(?<![\w.-])(?<!::)(?P<name>[A-Za-z_][\w.-]{1,60}+)(?P<joint>[\"'\]]{0,2}[ \t]{0,20}(?::=|=>|\?=|=|:)[ \t]{0,20}"
    r"|[\"'],[ \t]{0,9}(?=[\"'])|[\"']?,?\s{1,40}[\"']?[Vv]alue[\"']?\s?[=:]\s?|[\"']?>(?:<value>)?)"
    rf"(?={_VALUE})"
)
_FLAG = re.compile(r"-(?<![\w-]-)-?(?P<name>[A-Za-z][\w-]{1,40}+)(?:=|[ \t]{1,4})" rf"(?={_VALUE})")
_BEFORE_SETTING = re.compile(r"(?:^|[\"'{(,]|\n)[ \t>*-]{0,40}\Z")
_AFTER_SETTING = re.compile(r"[ \t]{0,40}(?:[\"',;})\]]|#|//|\r?\n|\Z)")

_PLACEHOLDER = re.compile(
    r"(?i:example|placeholder|change.?me|dummy|sample|your|redacted|replace|insert|secret_?here|x{4,}|\*{3,}|\.{3,}|…|0{8,})"
    r"|^[$%!{@~/.<-]|\$\{|\$\(|\{\{|^ENC|://"
)
_EXPRESSION = re.compile(
    r"\A(?=.{1,100}\Z)(?:[a-z]{2,}(?:[-_.](?:[a-z]+|v?\d{1,4}))+"  # a name with hyphens and a version, such as ``db-credentials-v3``
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+"
    r"|\d{4}-\d\d-\d\d\S*|v?\d+(?:\.\d+)+\S*"
    r"|[a-z0-9_.-]+(?:/[a-z0-9_.-]+)+"
    r"|(?i:(?:[a-z]+[_-]?)?(?:password|passwd|pass|pwd|token|secret|key)[_-]?\d{0,3}))\Z"
)
# ``RS256-signed``
_JOINED_WORDS = re.compile(r"\A[A-Za-z]{2,}\d{0,4}(?:[-_./:](?:[A-Za-z]+\d{0,4}|v?\d{1,4}))+\Z")
_SHORTEST_PASSWORD, _SHORTEST_KEY, _SHORTEST_VAGUE, _SHORTEST_REPEATED = 5, 10, 20, 8
_LONGEST_EXPRESSION = 100


def find_secrets(text: str) -> list[SecretSpan]:
    """
    Return the secrets in *text*, in order and without overlaps.

    A secret that is recognised at one place is also found where the text repeats it.
    """
    spans = [*_shaped(text), *_named(text)]
    kinds = {text[start:end]: kind for start, end, kind in spans if end - start >= _SHORTEST_REPEATED}
    for value, kind in islice(kinds.items(), 100):
        if _is_mixed(value):
            spans += (SecretSpan(*match.span(), kind) for match in re.finditer(re.escape(value), text))
    spans.sort(key=lambda span: (span.start, -span.end))
    apart: list[SecretSpan] = []
    for span in spans:
        if not apart or span.start >= apart[-1].end:
            apart.append(span)
    return apart


def _shaped(text: str) -> Iterator[SecretSpan]:
    for match in _SHAPED.finditer(text):
        if not _is_stand_in(match[0]) and len(set(match[0])) > 8:
            kind = next(kind for prefix, kind in _KINDS if match[0].startswith(prefix))
            yield SecretSpan(*match.span(), kind)
    for kind, pattern in _PLACES:
        for match in pattern.finditer(text):
            group = "secret" if "secret" in pattern.groupindex else 0
            is_other = (kind == "password" and _EXPRESSION.match(match[group])) or (
                kind == "authorization" and _JOINED_WORDS.match(match[group])
            )
            if kind == "private key" or not (is_other or _is_stand_in(match[group])):
                yield SecretSpan(*match.span(group), kind)


def _named(text: str) -> Iterator[SecretSpan]:
    for pattern in (_ASSIGNED, _FLAG):
        for match in pattern.finditer(text):
            name = _NAME.search(match["name"])
            if not name:
                continue
            if pattern is _ASSIGNED and not match["quoted"] and match["joint"].strip(" \t\"']") == ":":
                before = _BEFORE_SETTING.search(text, max(0, match.start() - 48), match.start())
                if not before or not _AFTER_SETTING.match(text, match.end("bare")):
                    continue  # ``name: value`` in the middle of a sentence
            value, group = match["quoted"] or match["bare"], "quoted" if match["quoted"] else "bare"
            shortest = _SHORTEST_KEY if name["key"] else _SHORTEST_VAGUE
            if len(value) < (_SHORTEST_PASSWORD if name["password"] else shortest) or _is_stand_in(value):
                continue
            is_sign = _is_mixed(value) and not _EXPRESSION.match(value)
            if name["password"]:  # letters alone are one only if a shell sets a variable
                if is_sign or (match["name"].isupper() and text[match.end("name")] == "="):
                    yield SecretSpan(*match.span(group), "password")
            elif is_sign and not _JOINED_WORDS.match(value):
                yield SecretSpan(*match.span(group), "secret")


def _is_stand_in(value: str) -> bool:
    """Whether *value* is a placeholder, a variable or a path instead of a secret."""
    return _PLACEHOLDER.search(value, 0, _LONGEST_EXPRESSION) is not None


def _is_mixed(value: str) -> bool:
    """Whether *value* has letters, and digits or signs between them."""
    return any(map(str.isalpha, value)) and any(sign.isdigit() or sign in "!#$%&*+=?@^~" for sign in value)


# -- files that consist of credentials: private keys, databases, password lists ---------------------------

READ_CHARS = 64_000  # characters read from the beginning of a file
MOSTLY = 0.8  # minimum share of credential lines in a list of credentials
COVERED = 0.3  # a line is a credential if secrets fill more than this share of it


def key_material_in(data: bytes) -> str | None:
    """
    Return the kind of key material that *data* consists of, such as "a private key"; ``None`` for other files.

    A note that quotes a key or a password in its text is not key material; such secrets are redacted when the note
    is read.
    """
    if data.startswith(b"SQLite format 3\0"):
        return "an SQLite database"
    try:
        text = decode(data[:READ_CHARS])[0].strip()
    except ValueError:
        text = data[:READ_CHARS].decode("utf-8", "replace").strip()
    secrets = find_secrets(text)
    keys = sum(secret.end - secret.start for secret in secrets if secret.kind == "private key")
    if text.startswith(("PuTTY-User-Key-File-", "AGE-SECRET-KEY-1", "openssh-key-v1")) or 2 * keys > len(
        text
    ):
        return "a private key"
    lines = credentials = end = 0
    for line in text.splitlines(keepends=True):
        start, end, content = end, end + len(line), line.strip()
        if content and not content.startswith(("#", ";", "//")):
            lines += 1
            covered = sum(max(0, min(end, secret.end) - max(start, secret.start)) for secret in secrets)
            credentials += covered > COVERED * len(content)
    return "a list of credentials" if lines and credentials >= MOSTLY * lines else None
