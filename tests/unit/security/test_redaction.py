"""Redaction of secrets: by the shapes of services, by names that say so, and what must stay."""

from __future__ import annotations

import re
import string
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.security.redaction import redact, redact_part, redact_parts
from clawmem.domain.security.secrets import find_secrets

ROOT = Path(__file__).parents[3]
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "base64": string.ascii_letters + string.digits + "+/",
    "digit": string.digits,
    "digit1": "123456789",
    "digits": string.digits,
    "hex": string.digits + "abcdef",
    "letter": string.ascii_letters,
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase + "234567",
    "urlsafe": string.ascii_letters + string.digits + "_-",
}
KEY = "Rk4plover9xT2mQ8"


def drawn(template: str, seed: int = 20261124) -> str:
    """Return *template* with every ``{alphabet:length}`` drawn by lot."""
    chance = Random(seed)
    text = re.sub(
        r"\{(\w+):(\d+)\}", lambda m: "".join(chance.choices(ALPHABETS[m[1]], k=int(m[2]))), template
    )
    uuid = "-".join("".join(chance.choices(ALPHABETS["hex"], k=length)) for length in (8, 4, 4, 4, 12))
    return text.replace("{uuid}", uuid).replace("{{", "{").replace("}}", "}").replace("¦", "")


def marked(name: str) -> list[tuple[str, list[str]]]:
    """Read the file *name*: kinds, and texts as parts of which every second one is a secret."""
    rows = (ROOT / "tests/data" / name).read_text("utf-8").splitlines()
    texts = (row.partition("\t")[::2] for row in rows)
    return [
        (kind, re.split("[«»]", drawn(text.replace("\\n", "\n").replace("\\t", "\t"), number)))
        for number, (kind, text) in enumerate(texts)
    ]


def recall(name: str) -> dict[str, tuple[int, int]]:
    """Return how many secrets of each kind of file *name* are redacted, and how many there are."""
    found, count = Counter[str](), Counter[str]()
    for kind, parts in marked(name):
        redacted = redact("".join(parts))
        for secret in parts[1::2]:
            count[kind] += 1
            found[kind] += secret not in redacted
    return {kind: (found[kind], count[kind]) for kind in count}


def changed(name: str) -> tuple[list[str], int]:
    """Return the texts of file *name* without a secret that redaction changes, and the number of all of them."""
    clean = [parts[0] for _, parts in marked(name) if len(parts) == 1]
    return [redact(text) for text in clean if find_secrets(text)], len(clean)


def test_recall_in_settings_and_code() -> None:
    """Most secrets that a name announces are found; commands often use flags of one letter."""
    by_kind = recall("secret_scenarios.tsv")
    found, count = (sum(numbers) for numbers in zip(*by_kind.values(), strict=True))

    assert found >= 0.6 * count, by_kind


@pytest.mark.parametrize(("name", "most"), [("secret_scenarios.tsv", 0.012), ("secrets_unread.tsv", 0.008)])
def test_texts_without_secrets_stay(name: str, most: float) -> None:
    """At most one harmless text in a hundred changes, although all of them resemble secrets."""
    alarms, count = changed(name)

    assert len(alarms) <= most * count, alarms


def test_the_page_states_the_figures() -> None:
    """The page on security states what is measured here."""
    page = (ROOT / "docs/security.md").read_text("utf-8")
    for name in ("secret_scenarios.tsv", "secrets_unread.tsv"):
        alarms, clean = changed(name)
        assert f"{len(alarms)} of {clean} change" in page or f"{len(alarms)} of {clean}." in page
    by_kind = recall("secrets_unread.tsv")
    prose = {"prose", "chat", "table", "next_line"}

    assert not [kind for kind, (found, _) in by_kind.items() if kind in prose and found]
    assert f"0 of {sum(count for kind, (_, count) in by_kind.items() if kind in prose)} |" in page
    for kind in by_kind.keys() - prose:
        found, count = by_kind[kind]
        assert f"| {kind} | {found} of {count} |" in page


@pytest.mark.parametrize(
    ("kind", "secret"),
    [
        ("age key", "AGE-SECRET-KEY-1{upper:58}"),
        ("anthropic key", "sk-ant-api03-{urlsafe:93}AA"),
        ("aws access key", "AKIA{base32:16}"),
        ("discord token", "M{alnum:23}.{alnum:6}.{alnum:37}1"),
        ("github token", "ghp_{alnum:36}"),
        ("github token", "github_pat_{alnum:22}_{alnum:59}"),
        ("gitlab token", "glpat-{alnum:20}"),
        ("google api key", "AIza{alnum:35}"),
        ("hugging face token", "hf_{letter:34}"),
        ("jwt", "eyJ{alnum:33}.eyJ{alnum:70}.{urlsafe:42}x"),
        ("npm token", "npm_{alnum:36}"),
        ("openai key", "sk-proj-{alnum:48}"),
        ("openrouter key", "sk-or-v1-{hex:64}"),
        ("pypi token", "pypi-AgEIcHlwaS5vcmc{urlsafe:80}x"),
        ("sendgrid key", "SG.{alnum:22}.{alnum:43}"),
        ("slack token", "xoxb-{digit:12}-{digit:12}-{alnum:24}"),
        ("stripe key", "sk_live_{alnum:24}"),
        ("twilio key", "SK{hex:32}"),
        ("vault token", "hvs.{alnum:90}"),
    ],
)
@pytest.mark.parametrize("text", ["{}", "pasted {}, rotate it", 'a = "{}"', "https://example.org/{}?x=1"])
def test_tokens_of_services(kind: str, secret: str, text: str) -> None:
    """A token is found wherever it stands, and replaced by its kind."""
    assert redact(text.format(drawn(secret))) == text.format(f"[redacted: {kind}]")


PEM = "-----BEGIN RSA PRIVATE {0}-----\n{1}\n-----END RSA PRIVATE {0}-----".format("KEY", "aB3/" * 40)


def test_private_keys() -> None:
    """A key goes as a whole; a part of it too, and one without its end up to the end of the text."""
    text = f"before\n{PEM}\nafter"

    assert redact(text) == "before\n[redacted: private key]\nafter"
    assert redact(PEM[:-40]) == "[redacted: private key]"
    start = text.index("aB3/") + 40
    assert redact_part(text, start, len(text)) == "[redacted: private key]\nafter"
    assert redact_part(text, 0, 6) == "before"


def test_a_part_is_redacted_by_the_text_around_it() -> None:
    """The name of a value stands before the part; offsets are those of the whole text."""
    text = f"{'harbour crane ' * 5_000}\nDB_PASSWORD={KEY}\nend"
    start = text.index(KEY)

    assert redact_part(text, start, len(text)) == "[redacted: password]\nend"
    assert redact_part(text, start + 3, start + 9) == "[redacted: password]"


def test_parts_are_redacted_together() -> None:
    """A secret of one message is redacted in the others, and parts without secrets stay."""
    parts = [f"API_TOKEN={KEY}", "Thanks.", "", f"so {KEY} it is"]

    assert redact_parts(parts) == [
        "API_TOKEN=[redacted: secret]",
        "Thanks.",
        "",
        "so [redacted: secret] it is",
    ]
    assert redact_parts([]) == []


@given(st.text(max_size=200) | st.text(alphabet="abcP =:'\"\n-./_9", max_size=80).map("password{}".format))
def test_redaction_of_any_text(text: str) -> None:
    """Findings are in order, not empty and apart; a second pass finds nothing."""
    findings = find_secrets(text)
    ends = [0, *(found.end for found in findings)]
    once = redact(text)

    assert all(end <= found.start < found.end for end, found in zip(ends, findings, strict=False))
    assert ends[-1] <= len(text)
    assert redact(once) == once


def test_a_passage_of_a_very_long_line_is_read_with_a_little_around_it() -> None:
    """A line of a megabyte full of assignments takes no longer than its passage."""
    text = "token=abc1234567 " * 60_000
    begun = time.process_time()

    assert redact_part(text, 900_000, 900_500).count("[redacted: secret]") >= 25
    assert time.process_time() - begun < 0.1
