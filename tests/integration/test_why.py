"""Why an answer was given: ``--explain``, the receipts that are kept, ``clawmem why``, and forgetting."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from command_line import Invoke, ask_json, kept_receipts
from hook_process import ask_inside

Run = Callable[..., Any]
MOST_BYTES = 2000  # of ten answers by words and meaning


def test_what_was_let_go_is_told(many: Invoke) -> None:
    """A stage says how many it dropped and why, and names the first of them."""
    found = ask_json(many, "search", "redis", "sessions", "--explain", "-n", "3")
    strict = ask_json(many, "search", "redis", "sessions", "--explain", "--min-score", "0.99")

    *_, scored, _, _, cut, _ = found["trace"]["stages"]
    score = next(stage for stage in strict["trace"]["stages"] if stage["name"] == "score")
    assert cut["dropped"] == {"beyond the limit": cut["came_in"] - 3}
    assert {drop["reason"] for drop in cut["drops"]} == {"beyond the limit"}
    assert len(cut["drops"]) == 5 < cut["came_in"] - 3
    assert scored["came_in"] == scored["went_out"]
    assert sum(score["dropped"].values()) == score["came_in"] - score["went_out"]
    assert score["dropped"]["below the minimum score"] > 0


@pytest.mark.parametrize("unit", ["document", "line"])
def test_a_receipt_is_small(many: Invoke, vault_file: Path, unit: str) -> None:
    """Ten answers by words and meaning, with ranks in every leg, take less than two kilobytes."""
    found = ask_json(many, "query", "redis", "sessions", "in", "the", "store", "--explain", "--unit", unit)

    assert len(found["results"]) == 10
    [(number, size)] = kept_receipts(vault_file)
    assert number == found["receipt"]
    assert 300 < size <= MOST_BYTES


def test_the_receipt_says_what_explain_said(many: Invoke) -> None:
    """What ``why`` shows later is what ``--explain`` showed at once."""
    found = ask_json(
        many, "query", "redis", "sessions", "--explain", "-n", "4", "-c", "notes", "--since", "2026-01-01"
    )
    kept = ask_json(many, "why", found["receipt"])

    assert kept == found["trace"]
    assert [item["file"] for item in kept["items"]] == [result["file"] for result in found["results"]]
    assert kept["answered"] == found["answered"] > 0
    assert all(item["confidence"] > 0 for item in kept["items"])
    assert (kept["verb"], kept["question"]) == ("query", "redis sessions")
    assert kept["asked"] == {
        "limit": 4,
        "scope": {"collections": ["notes"], "authored_from": "2026-01-01T00:00:00.000Z"},
        "days": ["2026-01-01", ""],
    }
    assert kept["model"] and kept["version"]


def test_the_last_ten(many: Invoke) -> None:
    """Without an id ``why`` lists the last receipts, newest first."""
    assert "No receipts" in many("why").stdout

    for number in range(12):
        many("search", "redis", str(number))

    listed = ask_json(many, "why")["receipts"]
    assert [one["id"] for one in listed] == [*range(12, 2, -1)]
    assert listed[0]["question"] == "redis 11"
    assert "redis 11" in many("why").stdout


@pytest.mark.parametrize("name", ["99", "#99", "redis", "-1", "1.5", "9" * 30, "²"])
def test_no_such_receipt(many: Invoke, name: str) -> None:
    """An unknown id is not found, and the latest ones are named."""
    many("search", "redis")

    done = many("why", "--", name)

    assert done.exit_code == 3
    assert "No receipt matches" in done.stderr
    assert "Did you mean: 1?" in done.stderr
    assert many("why", "").exit_code == 2
    assert many("why", "#1").exit_code == 0


def test_a_receipt_that_cannot_be_read(many: Invoke, vault_file: Path) -> None:
    """One that is damaged, foreign or of a later version is not listed, refused, and leaves the others alone."""
    many("search", "redis")
    many("search", "postgres")
    with closing(apsw.Connection(str(vault_file))) as db:
        [(content,)] = db.execute("select content from receipts where recall_id = 1")
        later = zlib.compress(json.dumps({**json.loads(zlib.decompress(content)), "new": 1}).encode())
        for other in (b"\0\xff", b"", zlib.compress(b"\xff"), zlib.compress(b"[1]"), content[:-4], later):
            db.execute("update receipts set content = ? where recall_id = 1", (other,))
            assert [one["question"] for one in ask_json(many, "why")["receipts"]] == ["postgres"]
            assert many("why", "1").exit_code == 2
    assert many("why", "2").exit_code == 0


def test_a_receipt_of_a_hook(remembered: Invoke, run: Run, environ: dict[str, str], home: Path) -> None:
    """The receipt of a prompt names its profile, its answer and the confidence."""
    prompt = "Where do login sessions live, and for how many days?"
    given = ask_inside(environ, "context-surfacing", {"session_id": "s1", "prompt": prompt})
    assert "Redis for 14 days" in given.context

    [listed] = ask_json(remembered, "why")["receipts"]
    kept, shown = ask_json(remembered, "why", listed["id"]), run("why", listed["id"]).stdout
    assert (kept["verb"], kept["question"]) == ("context-surfacing", prompt)
    assert kept["items"][0]["file"] == "notes/decisions/2026-02-11-redis.md"
    assert kept["items"][0]["confidence"] > 0.2
    assert "profile balanced" in shown and "confidence that anything found here answers: " in shown
    assert ask_json(remembered, "why")["count"] == 1
