"""Seed phrases, seeds of one-time codes, codes of cards, and secrets that a text repeats."""

from __future__ import annotations

import pytest

from clawmem.domain.security.redaction import redact

WORDS = "ripple marble cactus tunnel orbit velvet harvest copper mirror saddle pencil anchor"
FREQUENT = (
    "about velvet any tunnel orbit ripple harvest copper mirror saddle pencil always"  # of BIP 39 as well
)
BASE32 = "JBSWY3DP" + "EHPK3PXP"
GROUPS = "jbsw y3dp ehpk 3pxp"


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("seed phrase: ", WORDS, ""),
        ("seed phrase: ", FREQUENT, ""),
        ("The recovery phrase of the ledger is ", WORDS, "."),
        ("Backup words:\n\n", WORDS, "\n\nKeep them."),
        ("Seed: ", " ".join(f"{n}. {word}" for n, word in enumerate(WORDS.split(), 1)), ""),
        ("mnemonic = ", WORDS.replace(" ", ", "), ""),
        ("2FA seed ", BASE32, " for the registrar"),
        ("The TOTP seed ", GROUPS, ", for the registrar"),
        ("TOTP key for the registrar: ", BASE32 * 2, "."),
        ("card 4556 7375 8689 9855, cvc ", "8317", ""),
        ("Visa of the office, CVV: ", "831", "."),
        ("The JCB card is ", "3530 1113 3330 0000", "."),
        ("card of the office: ", "6240008631401148", ""),
        ("openssl enc -aes-256-cbc -in a.tar -k ", "harbourlight", " -out a.enc"),
        ("openssl enc -d -pbkdf2 -in a -k ", "kolibri-fernweh", ""),
        ("openssl enc -aes-128-cbc -K ", "00112233445566778899aabbccddeeff", " -iv 0"),
        ("login on the NAS: nora, and then ", "Marble7Gate", ""),
        ("Log in on printer.local: admin, then ", "harbour12", "."),
        ("Login auf dem NAS: nora, und dann ", "Marble7Gate", ""),
    ],
)
def test_it_is_redacted(before: str, secret: str, after: str) -> None:
    """The secret goes, and nothing else but other secrets."""
    said = redact(before + secret + after).text

    assert "[redacted: " in said
    assert secret not in said
    assert said.startswith(before.split("4556")[0]) and said.endswith(after)
    assert redact(said).text == said


@pytest.mark.parametrize(
    "text",
    [
        "The seed phrase: write down every single word that the wallet shows you and then keep paper somewhere dry.",
        "The mnemonic: twelve words drawn from the list, which nobody else should ever have seen anywhere before today",
        "random seed: 42",
        "The 2FA seed is shown once; save it with the AUTHENTICATOR application of your phone.",
        "MFA is required for accounts of the group ADMINISTRATORS with SHA256 hashes.",
        "The cvc is three digits, the cvv 3 or 4 of them.",
        "A syllable is CVC, 120 of them are in the list.",
        "openssl enc takes the password after -k argument or from a file",
        "Login to staging: open the page, then step2.",
        "Log in on the NAS: nora, and then ask for the key.",
    ],
)
def test_talk_stays(text: str) -> None:
    """Sentences about such secrets hold none."""
    assert redact(text).text == text


def test_a_repeated_secret_is_redacted_everywhere() -> None:
    """Also where nothing announces it; a password that is a word stays where it is a word."""
    said = redact("Open it with Marble7Gate! (keytool -storepass Marble7Gate)").text
    assert "Marble7Gate" not in said

    said = redact('The door opens at ten. The password is "harbour", and the harbour is closed.').text
    assert "the harbour is closed" in said


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The wifi word is marmalade.", "marmalade"),
        ("Use marmalade to log in.", "marmalade"),
        ("To get past the login page, type marmalade.", "marmalade"),
        ("The shed camera uses marmalade as its password.", "marmalade"),
        ("Password for the shed camera?\n> marmalade", "marmalade"),
        ("Password for the shed camera:\nmarmalade", "marmalade"),
        ("| Wi-Fi password | marmalade |", "marmalade"),
        ("Login for the choir: ida and marmalade.", "marmalade"),
        ("Passphrase of the disk is violet spoon harbour gravel.", "violet spoon harbour gravel"),
        ("Das Passwort vom Drucker lautet Marmelade.", "Marmelade"),
    ],
)
def test_an_announced_word_is_redacted(text: str, word: str) -> None:
    """Whatever the value looks like; nothing else of the text changes, and a second pass changes nothing."""
    said = redact(text).text

    assert said == text.replace(word, "[redacted: password]")
    assert redact(said).text == said


@pytest.mark.parametrize(
    "text",
    [
        "The password is in the safe.",
        "The password was changed, the login page too.",
        "The key point is trust.",
        "The code is reviewed by two people.",
        "Use your badge to open the lab.",
        "Sign in with Google or Apple.",
        "Password:\nMust have twelve characters.",
        "| field | type |\n|---|---|\n| user password | required |",
        "Plate RK 30 512. The left bearing is new.",
    ],
)
def test_what_is_said_of_secrets_stays(text: str) -> None:
    """Pointers, states, ways to log in and number plates are no values."""
    assert redact(text).text == text
