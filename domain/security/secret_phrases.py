"""Secrets with an alphabet of their own: the words of a wallet, the seed of one-time codes, the code of a card."""

from __future__ import annotations

import re

from clawmem.domain.security.secret_rules import PlacedRule
from clawmem.domain.security.secret_values import is_common_word

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
