"""Commands that ask before they change something, where nobody can answer."""

from __future__ import annotations

import json

import pytest
from command_line import Invoke


@pytest.mark.parametrize("command", [("repair",), ("forget", "people/haruka.md")], ids=["repair", "forget"])
def test_what_nobody_confirms_is_refused(remembered: Invoke, command: tuple[str, ...]) -> None:
    """The refusal names the option that takes the place of the answer; programs get a record."""
    done, as_json = remembered(*command), remembered(*command, "--json")

    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("clawmem: Nothing was ")
    assert "add --yes" in done.stderr
    assert as_json.exit_code == 2
    assert json.loads(as_json.stdout)["code"] == "CONFIRMATION_REQUIRED"
    assert len(json.loads(remembered("list", "--json").stdout)["documents"]) == 3


def test_repair_says_what_would_be_lost(remembered: Invoke) -> None:
    """Before it is confirmed, in words and for programs."""
    record = json.loads(remembered("repair", "--json").stdout)

    assert "Nothing would be lost." in record["error"]
    assert record["would_remove"] == {"lost": {}, "notes": [], "spoilt": [], "reread": [], "nameless": 0}
