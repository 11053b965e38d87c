"""Secrets that only their neighbourhood gives away, and values of the same shape that are none."""

from __future__ import annotations

import time

import pytest

from clawmem.domain.security.redaction import find_secrets, redact
from clawmem.domain.security.secret_features import BITS
from clawmem.domain.security.secret_model import weights


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The wine cellar at the vineyard opens with 7291.", "7291"),
        ("I set the number lock of the ski box to 4417.", "4417"),
        ("Kennel gate: press 60418 and wait for the click.", "60418"),
        ("New one for the crate on the terrace: Mistral_Quill83", "Mistral_Quill83"),
        ("Kim: what do I dial at the shed?\nLou: 5520", "5520"),
        ("Das Kästchen am Geländer geht mit 8316 auf.", "8316"),
        ("La barrière du camping se lève avec 40172.", "40172"),
        ("El candado del trastero se abre con 6634.", "6634"),
        ("Il portone sul retro si apre con 91827.", "91827"),
        ("De schuur gaat open met 3862.", "3862"),
        ("ゲスト用Wi-Fiのパスワードは「mikan4482」です", "mikan4482"),
        ("会议室的门禁密码是550912", "550912"),
    ],
)
def test_a_secret_is_told_by_its_neighbourhood(text: str, secret: str) -> None:
    """No rule names these objects, verbs and languages together."""
    assert secret not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "The wine cellar at the vineyard holds 7291 bottles.",
        "The ski box weighs 4417 grams and cost 1299 euros.",
        "Kim: how much was the shed?\nLou: 5520",
        "Error code 5021 of the keypad means low battery.",
        "Das Kästchen am Geländer kostet 8316 Kronen.",
        "La barrière du camping mesure 4000 mm.",
        "El trastero cuesta 6634 euros al año.",
        "Fixed in commit 4f2a91c, released as 2.14.0 on 2026-03-01.",
        "Your order QX-48213 has shipped, parcel 00340434161094042557.",
        "The router is a FritzBox7590 with firmware 7.57.",
        "Password: ask Anna, extension 4021.",
    ],
)
def test_numbers_and_names_of_the_same_shape_stay(text: str) -> None:
    """Amounts, orders, versions, models and extensions are no secrets."""
    assert redact(text).text == text


def test_every_feature_has_a_weight() -> None:
    """The file of weights belongs to the features of this version."""
    assert len(weights()) == 1 << BITS


@pytest.mark.parametrize(
    "piece", ["4821 ", "a4! ", "pass: abcd ", "wifi\n1234\n", "| 1234 ", "ab cd ef ", '"a b" ']
)
def test_time_grows_with_the_length(piece: str) -> None:
    """A candidate costs the same wherever it stands in a text."""

    def seconds(text: str) -> float:
        began = time.thread_time()
        find_secrets(text)
        return time.thread_time() - began

    short, long = piece * (8_000 // len(piece)), piece * (32_000 // len(piece))
    find_secrets(short)
    assert min(seconds(long) for _ in range(2)) < 12 * max(0.02, min(seconds(short) for _ in range(2)))
