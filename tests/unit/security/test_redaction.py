from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.security.redaction import find_secrets, luhn, redact, redact_part, redact_parts
from clawmem.domain.security.secret_values import entropy

ROOT = Path(__file__).parents[3]
LABELLED = ROOT / "tests" / "data" / "secrets_labelled.tsv"
PRECISION_AT_LEAST = 0.95
RECALL_AT_LEAST = 0.98


class Line(NamedTuple):
    """A labelled line: the kind of its secret or ``-``, and what stands before, in and after the secret."""

    kind: str
    before: str
    secret: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after


def _read(row: str) -> Line:
    kind, _, marked = row.replace("¦", "").replace("\\n", "\n").partition("\t")
    before, _, rest = marked.partition("«")
    secret, _, after = rest.partition("»")
    return Line(kind, before, secret, after)


LINES = [_read(row) for row in LABELLED.read_text("utf-8").split("\n") if row]
SECRET = [line for line in LINES if line.secret]
CLEAN = [line for line in LINES if not line.secret]


def test_secrets_are_gone() -> None:
    """Of labelled secrets, 98 of 100 are gone whole."""
    left = [line for line in SECRET if line.secret in redact(line.text).text]

    assert len(left) <= (1 - RECALL_AT_LEAST) * len(SECRET), left


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("密码：", "x7Kq92LmPz", "，不要告诉别人"),
        ("The password — ", "x7Kq92LmPz", " — is for the router"),
        ("token 🙂", "x7Kq92LmPz", "🙂 password"),
        ("the alarm code：", "４７１１", ""),
        ("The pin is ", "꧑꧒꧓꧔", "."),
    ],
)
def test_a_secret_between_signs_beyond_latin(before: str, secret: str, after: str) -> None:
    """Punctuation and letters of other scripts end a secret, and their digits count as digits."""
    assert secret not in redact(before + secret + after).text


@pytest.mark.parametrize(
    "value",
    [
        "sk-proj-" + "abcd1234567890abcdef",
        "sk-" + "abcdef1234567890" * 2,
        "sk-proj-" + "abcdefghijklmnopqrstuvwxyz1234567890abcdef",
        "ghp_" + "1234567890abcdefghijklmnopqrstuvwxyz",
        "1234567890abcdef" * 2,
    ],
)
def test_a_key_that_counts_is_a_secret(value: str) -> None:
    """People try redaction with such keys; a row of digits in order makes no placeholder."""
    assert value[4:] not in redact(f"api_key={value}").text


def test_nothing_else_is_gone() -> None:
    """Of all that is redacted, 95 of 100 are labelled secrets."""
    right = wrong = 0
    for line in LINES:
        start, end = len(line.before), len(line.before) + len(line.secret)
        hits = [start < found.end and found.start < end for found in find_secrets(line.text)]
        right, wrong = right + sum(hits), wrong + len(hits) - sum(hits)

    assert right >= PRECISION_AT_LEAST * (right + wrong), (right, wrong)


def test_the_rest_of_a_line_stays() -> None:
    """The secret gives way to its kind, and what stands before and after it is untouched."""
    kept = [f"{line.before}[redacted: {line.kind}]{line.after}" == redact(line.text).text for line in SECRET]

    assert sum(kept) >= RECALL_AT_LEAST * len(kept)


def test_there_is_enough_to_measure() -> None:
    """Four hundred lines, half of them clean, of forty kinds and more."""
    assert len(LINES) >= 400
    assert len(CLEAN) >= 200
    assert len(Counter(line.kind for line in SECRET)) >= 40


def test_the_lines_come_from_their_script() -> None:
    """The file is what the seeded script writes, byte for byte."""
    script = runpy.run_path(str(LABELLED.with_name("make_secrets.py")))

    assert script["labelled"]() == LABELLED.read_text("utf-8")


def test_the_page_tells_the_figures() -> None:
    """The page on security says how many lines were read, and how many of them wrongly."""
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    left = sum(line.secret in redact(line.text).text for line in SECRET)
    alarms = sum(bool(find_secrets(line.text)) for line in CLEAN)

    assert f"{len(SECRET) - left} of {len(SECRET)} secrets" in page
    assert f"{alarms} of {len(CLEAN)} clean lines" in page


@pytest.mark.parametrize("line", SECRET, ids=range(len(SECRET)))
def test_redacting_twice_changes_nothing_more(line: Line) -> None:
    """What stands for a secret is no secret."""
    once = redact(line.text).text

    assert redact(once) == (once, [])


def test_a_whole_file_is_redacted_line_by_line_or_at_once() -> None:
    """All lines together lose the same secrets as each alone."""
    single = [line for line in LINES if "\n" not in line.text and "PRIVATE KEY" not in line.text]
    together = redact("\n".join(line.text for line in single)).text

    assert together.split("\n") == [redact(line.text).text for line in single]


LABEL = "The password of the depot is:\n\n"
NOTE = f"# Depot\n\n{LABEL}Rk4plover9\n\nSet in May."


def test_a_part_is_redacted_by_what_the_whole_says() -> None:
    """The label of a secret stands above the part; offsets are those of the whole text."""
    start = NOTE.index("Rk4")

    assert redact_part(NOTE, start, len(NOTE)) == "[redacted: password]\n\nSet in May."
    assert redact_part(NOTE, start + 3, len(NOTE)) == "[redacted: password]\n\nSet in May."
    assert redact_part(NOTE, start, start + 4) == "[redacted: password]"
    assert redact_part(NOTE, 0, 7) == "# Depot"


@pytest.mark.parametrize("distance", [0, 19_000, 60_000])
def test_a_part_of_a_long_text_is_redacted(distance: int) -> None:
    """However long a note is, the lines around the part are read with it."""
    text = "harbour crane\n" * (distance // 14) + NOTE
    assert redact_part(text, text.index("Rk4"), len(text)) == "[redacted: password]\n\nSet in May."


@pytest.mark.parametrize("rows", [1, 60, 700])
def test_a_row_is_redacted_by_the_header_of_its_table(rows: int) -> None:
    """The header of a long table is read however far above the row it stands."""
    row = f"| crane | {'worn cables at the drum ' * 3} |\n"
    text = f"| box | password |\n|---|---|\n{row * rows}| nas | Rk4plover9 |"
    assert redact_part(text, text.index("| nas"), len(text)) == "| nas | [redacted: password] |"
    assert redact_part(row * 3, 0, len(row)) == row


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_any_line_end_parts_a_label_from_its_secret(end: str) -> None:
    """Files of Windows are redacted like others."""
    for before in ("Admin password:@@", "db1:5432:shop:app:", "host,user,password@nas,ida,"):
        text = before.replace("@", end) + f"Rk4plover9{end}"
        assert redact(text).text == text.replace("Rk4plover9", "[redacted: password]")


def test_parts_are_redacted_together() -> None:
    """A message that is only a password is known by the message before."""
    parts = ["The password of the depot is:", "Rk4plover9", "", "Thanks, Rk4."]

    assert redact_parts(parts) == [parts[0], "[redacted: password]", "", "Thanks, Rk4."]
    assert redact_parts([]) == []


@given(st.lists(st.text(max_size=30), max_size=6))
def test_parts_keep_their_number(parts: list[str]) -> None:
    """Each part stays a part, and parts without secrets stay as they were."""
    redacted = redact_parts(parts)

    assert len(redacted) == len(parts)
    assert find_secrets("\n\n".join(parts)) or redacted == parts


@given(st.text(max_size=200))
def test_findings_lie_in_the_text_and_apart(text: str) -> None:
    """Any text is read; findings are in order, not empty, and do not overlap."""
    findings = find_secrets(text)
    ends = [0, *(found.end for found in findings)]

    assert all(end <= found.start < found.end for end, found in zip(ends, findings, strict=False))
    assert ends[-1] <= len(text)


@given(st.text(alphabet="abc =:'\"\n-./_9", max_size=80).map(lambda text: f"password{text}"))
def test_redacting_is_idempotent(text: str) -> None:
    """For whatever is assigned to a password, the second pass finds nothing."""
    once = redact(text).text

    assert redact(once).text == once


@pytest.mark.parametrize(
    ("digits", "valid"), [("4539148803436467", True), ("4539148803436468", False), ("0", True), ("18", True)]
)
def test_the_check_digit(digits: str, valid: bool) -> None:
    """Every second digit from the right counts double."""
    assert luhn(digits) is valid


@pytest.mark.parametrize(("token", "bits"), [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0)])
def test_entropy_is_bits_a_character(token: str, bits: float) -> None:
    """One character says nothing, two kinds one bit, four kinds two."""
    assert entropy(token) == pytest.approx(bits)


@pytest.mark.parametrize(
    "piece",
    [
        "password",
        "password=",
        "password: ",
        "password is ",
        "the password for the ",
        "password\n\n",
        "| password |\n",
        "user,password\n",
        "log in with a / ",
        "cookie: a=",
        "mysql -p",
        "--password ",
        'secret" {',
        "a:1:b:c:",
        "A1b2C3d4E5f6G7\n",
        "\uff41",
        "\u200b",
        "pin is ",
        "a.",
        "eyJ",
        "://",
        "4111 ",
        "-----BEGIN PRIVATE KEY-----",
        "M.",
        "curl -u ",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """Thousands of repetitions of what begins a rule are read to the end: nothing backtracks without bound."""
    assert find_secrets(piece * 5_000) is not None
