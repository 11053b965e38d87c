"""
Shapes of the credentials of well-known services.

Each kind is told by what its issuer put there to tell it by: a prefix, an alphabet, a length. ``needs`` is the
text that every credential of the kind holds. The group ``secret``, where there is one, is what gets redacted.
"""

from __future__ import annotations

from collections.abc import Callable

from clawmem.domain.security.patterns import Pattern

_ALNUM = "[A-Za-z0-9]"
_URLSAFE = r"[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"
_STARTS = r"(?<![A-Za-z0-9_])"
_ENDS = r"(?![A-Za-z0-9_])"
_ENDS_URLSAFE = r"(?![A-Za-z0-9_-])"


class SecretRule(Pattern):
    """A kind of secret and how to find it. ``random`` asks that what was found looks drawn by lot."""

    def __init__(self, kind: str, needs: str, source: str, *, random: bool = True) -> None:
        super().__init__(source, needs)
        self.kind = kind
        self.random = random


def _is_any(value: str) -> bool:
    return True


class PlacedRule(SecretRule):
    """A kind of secret that is found by its place. ``check`` decides on the value."""

    def __init__(self, kind: str, needs: str, source: str, check: Callable[[str], bool] = _is_any) -> None:
        super().__init__(kind, needs, source, random=False)
        self.check = check


def _prefixed(kind: str, prefix: str, body: str, needs: str = "", ends: str = _ENDS) -> SecretRule:
    return SecretRule(kind, needs or prefix, f"{_STARTS}(?:{prefix}){body}{ends}")


STRUCTURED = (
    SecretRule(
        "private key",
        "-----BEGIN & PRIVATE KEY",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----BEGIN)[\s\S])*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:\\n|[\s>|\"']){0,60}(?:[A-Za-z0-9+/=:,.-]{16,}(?:\\n|[\s>|\"']){0,60})*)",
        random=False,
    ),
    _prefixed("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    _prefixed("aws access key", "AKIA|ASIA|ABIA|ACCA", "[A-Z2-7]{16}"),
    _prefixed("github token", "gh[pousr]_", f"{_ALNUM}{{36,255}}", "ghp_|gho_|ghu_|ghs_|ghr_"),
    _prefixed("github token", "github_pat_", r"\w{60,255}"),
    _prefixed("gitlab token", "gl(?:pat|dt|rt|cbt|ptt|ft|soat)-", f"{_URLSAFE}{{20,}}", "gl", _ENDS_URLSAFE),
    _prefixed("slack token", "xox[abeoprs]-|xapp-", f"{_URLSAFE}{{20,}}", "xox|xapp-", _ENDS_URLSAFE),
    SecretRule(
        "slack webhook",
        "hooks.slack.com",
        r"(?<=hooks\.slack\.com/)(?P<secret>(?:services|workflows)/T[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,})",
    ),
    SecretRule(
        "discord webhook", "api/webhooks/", rf"(?<=/api/webhooks/)(?P<secret>\d{{17,20}}/{_URLSAFE}{{60,80}})"
    ),
    SecretRule(
        "discord token",
        ".",
        rf"{_STARTS}[MNO]{_URLSAFE}{{23,27}}\.{_URLSAFE}{{6}}\.{_URLSAFE}{{27,38}}{_ENDS_URLSAFE}",
    ),
    _prefixed("stripe key", "[sr]k_(?:live|test)_|whsec_", f"{_ALNUM}{{16,}}", "_live_|_test_|whsec_"),
    _prefixed("google api key", "AIza", f"{_URLSAFE}{{35}}", ends=_ENDS_URLSAFE),
    _prefixed("google token", r"ya29\.|GOCSPX-", f"{_URLSAFE}{{20,}}", "ya29.|GOCSPX-", _ENDS_URLSAFE),
    _prefixed("anthropic key", "sk-ant-", f"{_URLSAFE}{{30,}}", ends=_ENDS_URLSAFE),
    _prefixed("openrouter key", "sk-or-v1-", f"{_HEX}{{40,}}"),
    _prefixed(
        "openai key",
        "sk-",
        rf"(?:(?:proj|svcacct|admin|None)-{_URLSAFE}{{16,}}|{_URLSAFE}{{32,}})",
        "",
        _ENDS_URLSAFE,
    ),
    _prefixed("groq key", "gsk_", f"{_ALNUM}{{40,}}"),
    _prefixed("xai key", "xai-", f"{_ALNUM}{{60,}}"),
    _prefixed("perplexity key", "pplx-", f"{_ALNUM}{{40,}}"),
    _prefixed("replicate token", "r8_", f"{_ALNUM}{{37}}"),
    _prefixed("hugging face token", "hf_", f"{_ALNUM}{{34,}}"),
    _prefixed("npm token", "npm_", f"{_ALNUM}{{36}}"),
    _prefixed("pypi token", "pypi-", f"{_URLSAFE}{{50,}}", ends=_ENDS_URLSAFE),
    _prefixed("rubygems key", "rubygems_", f"{_HEX}{{48}}"),
    _prefixed("docker token", "dckr_pat_", f"{_URLSAFE}{{27,}}", ends=_ENDS_URLSAFE),
    _prefixed("sendgrid key", r"SG\.", rf"{_URLSAFE}{{22}}\.{_URLSAFE}{{43}}", "SG.", _ENDS_URLSAFE),
    _prefixed("mailgun key", "key-", f"{_HEX}{{32}}"),
    SecretRule("mailchimp key", "-us", rf"{_STARTS}{_HEX}{{32}}-us\d{{1,2}}{_ENDS}"),
    _prefixed("twilio key", "SK", f"{_HEX}{{32}}"),
    SecretRule("telegram token", ":AA", rf"{_STARTS}\d{{8,10}}:AA{_URLSAFE}{{33}}{_ENDS_URLSAFE}"),
    _prefixed("digitalocean token", "do[opr]_v1_", f"{_HEX}{{64}}", "_v1_"),
    _prefixed("shopify token", "shp(?:at|ca|pa|ss)_", "[0-9a-fA-F]{32}", "shp"),
    _prefixed("square token", "sq0[a-z]{3}-|EAAA", f"{_URLSAFE}{{22,64}}", "sq0|EAAA", _ENDS_URLSAFE),
    _prefixed("databricks token", "dapi", rf"{_HEX}{{32}}(?:-\d)?"),
    _prefixed("linear key", "lin_api_", f"{_ALNUM}{{40}}"),
    _prefixed("notion token", "ntn_", f"{_ALNUM}{{40,50}}"),
    _prefixed("figma token", "fig[do]_", f"{_URLSAFE}{{36,}}", "figd_|figo_", _ENDS_URLSAFE),
    _prefixed("airtable token", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    _prefixed("atlassian token", "ATATT3", r"[A-Za-z0-9_=-]{60,}", ends=r"(?![A-Za-z0-9_=-])"),
    _prefixed("dropbox token", r"sl\.", f"{_URLSAFE}{{60,}}", "sl.", _ENDS_URLSAFE),
    _prefixed("grafana token", "glc_|glsa_", "[A-Za-z0-9_+/=]{32,}"),
    _prefixed("sentry token", "sntry[su]_", "[A-Za-z0-9_+/=]{40,}", "sntry"),
    _prefixed("new relic key", "NRAK-", "[A-Z0-9]{27}"),
    _prefixed("vault token", r"hv[sbr]\.", f"{_URLSAFE}{{24,}}", "hvs.|hvb.|hvr.", _ENDS_URLSAFE),
    SecretRule("terraform token", ".atlasv1.", rf"{_STARTS}{_ALNUM}{{14}}\.atlasv1\.{_URLSAFE}{{60,}}"),
    _prefixed("doppler token", r"dp\.(?:pt|st|ct|sa|scim)\.", r"[A-Za-z0-9_.]{40,}", "dp."),
    _prefixed("postman key", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    _prefixed("pulumi token", "pul-", f"{_HEX}{{40}}"),
    _prefixed("fly token", "fo1_", f"{_URLSAFE}{{40,}}", ends=_ENDS_URLSAFE),
    _prefixed("supabase key", "sbp_|sb_secret_", f"{_URLSAFE}{{30,}}", "sbp_|sb_secret_", _ENDS_URLSAFE),
    _prefixed(
        "planetscale token", "pscale_(?:tkn|oauth|pw)_", f"{_URLSAFE}{{32,}}", "pscale_", _ENDS_URLSAFE
    ),
    _prefixed("tailscale key", "tskey-", f"{_URLSAFE}{{20,}}", ends=_ENDS_URLSAFE),
    SecretRule(
        "password hash",
        "$1$|$2|$5$|$6$|$7$|y$|$apr1$|SHA}|SHA2|SHA5|CRYPT}|MD5}",
        r"(?<![\w$])(?:\$(?:1|2[abxy]|5|6|7|y|gy|apr1)\$[A-Za-z0-9./$=]{16,200}|\{(?:S?SHA\d{0,3}|CRYPT|MD5)\}[A-Za-z0-9+/$.=]{16,200})",
    ),
    SecretRule("jwt", "eyJ", rf"{_STARTS}eyJ{_URLSAFE}{{10,}}\.eyJ{_URLSAFE}{{10,}}\.{_URLSAFE}{{16,}}"),
    SecretRule(
        "azure storage key", "AccountKey=|SharedAccessKey=", r"(?<=Key=)(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"
    ),
    SecretRule(
        "signed url",
        "sig=|Signature=",
        r"(?:[?&](?:sig|X-Amz-Signature|Signature)=)(?P<secret>[A-Za-z0-9%+/_-]{32,}=*)",
    ),
)
