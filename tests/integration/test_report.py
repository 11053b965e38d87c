"""What an owner learns of a memory: questions are recorded as they are asked, and ``clawmem report`` answers."""

from __future__ import annotations

import sys
from pathlib import Path

import apsw
import duckdb
import pytest
from command_line import Invoke, ask_json, assert_refused, configure

from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.maintenance.status import read_since
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.recalls import Recalls, query_hash
from clawmem.app.services.retrieval.work import Trace
from clawmem.ports.errors import InvalidInput, VaultLocked
from clawmem.ports.telemetry import Recall, RecallHit

PNG = b"\x89PNG\r\n\x1a\n"
PICTURES = ["growth", "recalled", "questions", "speed"]


@pytest.fixture
def vault_file(home: Path) -> Path:
    return home / ".cache" / "clawmem" / "index.sqlite"


@pytest.fixture
def read(invoke: Invoke, notes: Path) -> Invoke:
    """``invoke`` over a vault that holds the notes, without vectors."""
    assert invoke("bootstrap", notes, "--skip-embed").exit_code == 0
    return invoke


# -- what is recorded -----------------------------------------------------------------------------------


def test_questions_are_recorded_as_they_are_asked(remembered: Invoke) -> None:
    """Each door's questions count, with what they found and how long it took."""
    remembered("search", "redis")
    remembered("search", "REDIS ")
    remembered("search", "xylophone")
    remembered("query", "redis")

    found = ask_json(remembered, "report")

    assert (found["documents"], found["recalls"]) == (3, 4)
    [query, search] = found["tables"]["speed"]
    assert (query["verb"], query["recalls"], query["unanswered"]) == ("query", 1, 0)
    assert (search["verb"], search["recalls"], search["unanswered"]) == ("search", 3, 1)
    assert 0 < search["p50_ms"] <= search["p95_ms"] <= search["slowest_ms"]
    [first, *_] = found["tables"]["most_recalled"]
    assert first["document"] == "notes/decisions/2026-02-11-redis.md"
    assert (first["recalls"], first["questions"], first["best_rank"]) == (3, 1, 1)


def test_an_answer_is_the_same_recorded_or_not(read: Invoke, home: Path) -> None:
    """Recording changes nothing of what is shown."""
    recorded = read("search", "sessions", "--json")
    configure(home, "telemetry: off")
    unrecorded = read("search", "sessions", "--json")

    assert recorded.output == unrecorded.output
    assert ask_json(read, "report")["recalls"] == 1


def test_of_a_question_only_its_fingerprint_is_kept(read: Invoke, home: Path, vault_file: Path) -> None:
    """Without receipts what was asked is not to be found in the vault; that the same was asked again is."""
    configure(home, "receipts: off")
    read("search", "Marmalade", "postgres")

    vault = open_vault(str(vault_file))
    [recall] = vault.telemetry.recalls()
    vault.close()
    assert recall.query_hash == query_hash(" marmalade POSTGRES\n") != query_hash("marmalade")
    assert (recall.verb, recall.limit) == ("search", 10)
    assert recall.hits[0].rank == 1
    assert b"marmalade" not in vault_file.read_bytes().lower()
    assert apsw.Connection(str(vault_file)).execute("select count(*) from receipts").fetchone() == (0,)


def test_a_busy_vault_answers_without_recording(read: Invoke, vault_file: Path) -> None:
    """While somebody writes, a question is answered as ever, and there is a gap in the diary."""
    writer = apsw.Connection(str(vault_file))
    writer.execute("begin immediate")
    asked = read("search", "redis")
    writer.execute("rollback")
    writer.close()

    assert (asked.exit_code, asked.stderr) == (0, "")
    assert ask_json(read, "report")["recalls"] == 0


def test_a_missing_leg_is_remembered(read: Invoke) -> None:
    """A question by words and meaning in a vault without vectors counts as degraded."""
    read("query", "redis")
    read("search", "redis")

    [degraded] = ask_json(read, "report")["tables"]["degraded"]

    assert (degraded["verb"], degraded["leg"], degraded["recalls"], degraded["share"]) == (
        "query",
        "vector",
        1,
        1,
    )
    assert "vector" in read("report").stdout


@pytest.mark.parametrize("error", [VaultLocked("vault.sqlite"), RuntimeError("a bug")])
def test_a_broken_diary_never_breaks_an_answer(error: Exception) -> None:
    """Whatever telemetry raises stays behind the answer."""

    def record(recall: Recall, receipt: bytes | None = None) -> int:
        raise error

    answer, broken = Answer("redis", (), Trace()), open_vault(":memory:").telemetry
    broken.record = record  # type: ignore[method-assign]

    assert not Recalls(broken, ManualClock()).record(answer, "search", 1.0, limit=10)


def test_a_diary_that_is_switched_off() -> None:
    """Where nothing may be recorded nothing is even tried; else the moment of the answer is the clock's."""
    answer, kept = Answer("redis", (), Trace()), open_vault(":memory:").telemetry

    assert not Recalls(kept, ManualClock(), enabled=False).record(answer, "search", 1.0, limit=10)
    assert Recalls(kept, ManualClock()).record(answer, "search", 1.0, limit=10)
    assert [recall.asked_at for recall in kept.recalls()] == ["2023-11-14T22:13:20.000Z"]


# -- what is answered -----------------------------------------------------------------------------------


def test_an_empty_vault(invoke: Invoke, tmp_path: Path) -> None:
    """Before anything is indexed the report says so, draws nothing, and is no failure."""
    invoke("init")

    shown = invoke("report", "--plots", tmp_path / "plots")

    assert shown.exit_code == 0
    assert "0 documents, 0 recorded questions so far." in shown.stdout
    assert "Next: clawmem update" in shown.stdout
    assert not list((tmp_path / "plots").iterdir())
    assert not any(ask_json(invoke, "report")["tables"].values())


def test_a_vault_that_nobody_asked(read: Invoke) -> None:
    """Without a question the documents are reported; that all of them were never recalled is no news."""
    shown = read("report").stdout

    assert "3 documents, 0 recorded questions so far." in shown
    assert "Nothing can be said of recalls" in shown
    assert "Growth, by the month written" in shown
    assert "2026-06" in shown
    assert "Never recalled" not in shown


def test_everything_is_shown(read: Invoke) -> None:
    """Each section has its heading, columns and figures in words that people use."""
    read("search", "redis")

    shown = read("report").stdout

    for title in (
        "Recalled most, Never recalled, By collection and type, Documents by age, Speed by day"
    ).split(", "):
        assert f"\n{title}" in shown
    assert "notes/people/haruka.md" in shown.partition("Never recalled")[2].partition("By collection")[0]
    assert " B " in shown  # sizes have units
    assert "without vectors" in shown
    assert "_" not in shown


def test_long_tables_are_cut(read: Invoke) -> None:
    """--top bounds the tables, which then say how much is left."""
    read("search", "redis")

    shown = read("report", "--top", 1).stdout
    found = ask_json(read, "report", "--top", 1)

    assert "Growth, by the month written (1 of " in shown
    assert shown.count("2026-02-11-redis.md") == 1
    assert len(found["tables"]["never_recalled"]) == 1
    assert len(found["tables"]["growth"]) > 1


def test_since_leaves_earlier_questions_out(read: Invoke, vault_file: Path) -> None:
    """Only what was asked in the period counts; the documents are those of today."""
    read("search", "redis")  # first: a question lets go what is older than it may get
    vault = open_vault(str(vault_file))
    for at in ("2020-05-01T00:00:00.000Z", "2020-05-02T00:00:00.000Z"):
        vault.telemetry.record(Recall(at, "search", "0" * 12, 5.0, 10, hits=(RecallHit(1, 1, 0.5),)))
    vault.close()

    assert ask_json(read, "report")["recalls"] == 3
    assert ask_json(read, "report", "--since", "2020-05-02")["recalls"] == 2
    found = ask_json(read, "report", "--since", "1d")
    assert (found["recalls"], found["documents"]) == (1, 3)


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("2023-11-01", "2023-11-01T00:00:00.000Z"),
        ("2023-11-01T10:00:00+02:00", "2023-11-01T08:00:00.000Z"),
        ("0d", "2023-11-14T22:13:20.000Z"),
        ("30d", "2023-10-15T22:13:20.000Z"),
        ("999999d", "1970-01-01T00:00:00.000Z"),
    ],
)
def test_a_beginning_is_a_day_or_a_number_of_days(text: str, since: str) -> None:
    """--since reads dates, times with a zone, and days back from now; before 1970 is as good as then."""
    assert read_since(text, START_MS) == since


@pytest.mark.parametrize("text", ["", "soon", "30", "-3d", "2023-13-01", "2023-11-15", "1234567d"])
def test_a_beginning_that_cannot_be_meant(text: str) -> None:
    """What is no time, or has not come yet, is refused."""
    with pytest.raises(InvalidInput, match="--since"):
        read_since(text, START_MS)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--since", "soon"), "such as 30d"),
        (("--since", "2999-01-01"), "future"),
        (("--top", "0"), "--top must be greater than or equal to 1."),
        (("--top", "1001"), "--top must be less than or equal to 1000."),
        (("--format", "gif"), "--format must be 'png' or 'svg'."),
        (("--parquet", "taken/x"), "cannot be written"),
        (("--plots", "taken"), "cannot be written"),
    ],
)
def test_a_refusal_is_one_sentence(read: Invoke, home: Path, args: tuple[str, ...], said: str) -> None:
    """Bad input leaves with 2 and one line on stderr that names the way out."""
    (home / "taken").write_text("a file")

    assert_refused(read("report", *args), said, code=2)


# -- files ----------------------------------------------------------------------------------------------


def test_parquet_can_be_read_back(read: Invoke, tmp_path: Path) -> None:
    """The facts are three files that DuckDB reads, and whose parts belong together."""
    read("search", "redis")
    read("search", "sessions")

    found = ask_json(read, "report", "--parquet", tmp_path / "facts" / "today")

    assert [Path(path).name for path in found["files"]] == [
        "documents.parquet",
        "recalls.parquet",
        "hits.parquet",
    ]
    db = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for path in found["files"]:
        db.execute(f"create view {Path(path).stem} as from '{path}'")
    counted = db.execute(
        "select path, count(*) from hits join documents on documents.id = document_id "
        "join recalls on recalls.id = recall_id where verb = 'search' and took_ms > 0 group by path order by path"
    ).fetchall()
    kinds = dict(db.execute("select column_name, column_type from (describe documents)").fetchall())
    db.close()
    assert ("decisions/2026-02-11-redis.md", 2) in counted
    assert (kinds["authored_at"], kinds["tags"], kinds["bytes"]) == (
        "TIMESTAMP WITH TIME ZONE",
        "VARCHAR[]",
        "BIGINT",
    )


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_plots_are_drawn(read: Invoke, tmp_path: Path, kind: str) -> None:
    """One picture a question, in the format that was asked for; --json names them."""
    read("search", "redis")
    read("query", "redis")

    found = ask_json(read, "report", "--plots", tmp_path / "plots", "--format", kind)

    assert [Path(path).name for path in found["files"]] == [f"{name}.{kind}" for name in PICTURES]
    for path in map(Path, found["files"]):
        content = path.read_bytes()
        assert content.startswith(PNG) if kind == "png" else b"<svg" in content
    if kind == "svg":
        assert "Time to an answer" in (tmp_path / "plots" / "speed.svg").read_text("utf-8")


def test_names_that_a_picture_cannot_spell(invoke: Invoke, tmp_path: Path) -> None:
    """Dollar signs are no formula, and letters that the font lacks are no warning."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("$a_{b$", "日記", "n" * 90):
        (folder / f"{name}.md").write_text("# Budget\n\nThe budget.\n", "utf-8")
    invoke("bootstrap", folder, "--skip-embed")
    invoke("search", "budget")

    drawn = invoke("report", "--plots", tmp_path, "--format", "svg")

    assert (drawn.exit_code, drawn.stderr) == (0, "")
    picture = (tmp_path / "recalled.svg").read_text("utf-8")
    assert "$a_{b$" in picture
    assert f"…{'n' * 44}.md" in picture


@pytest.mark.parametrize("package", ["duckdb", "pyarrow", "matplotlib"])
def test_a_missing_package_is_named(
    read: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """Without the packages of the extra the way out is said, and nothing else happens."""
    ours = ("clawmem.adapters.duckdb.", "clawmem.adapters.matplotlib.")
    for name in [name for name in sys.modules if name.startswith((*ours, f"{package}."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)

    done = read("report", "--plots", tmp_path / "plots")

    assert done.exit_code == 4
    assert "pip install '.[duckdb]'" in done.stderr
