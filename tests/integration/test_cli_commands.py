"""Every command: help, answers in both forms, and what it says when it cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from command_line import Invoke
from typer.main import get_command

from clawmem.app.interfaces.cli.command_line import cli, hoisted


def every_command() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    root = cast(Any, get_command(cli))
    for verb in root.list_commands(None):
        below = getattr(root.get_command(None, verb), "commands", {})
        found += [(verb,), *((verb, name) for name in below)]
    return found


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_every_command_has_help(invoke: Invoke, command: tuple[str, ...]) -> None:
    """Each verb says what it does, and that the global options may stand behind it."""
    shown = invoke(*command, "--help")

    assert shown.exit_code == 0
    first = shown.output.split("\n\n")[1].strip()
    assert len(first) > 15
    assert "--vault" in shown.output or len(command) == 2


def test_the_root_help_lists_verbs_and_exit_codes(invoke: Invoke) -> None:
    """``clawmem`` alone shows its help."""
    shown = invoke()

    assert shown.exit_code == 0
    assert shown.output == invoke("help").output == invoke("-h").output == invoke("--help").output
    assert invoke("help", "search").output == invoke("search", "-h").output
    assert "Exit codes: 0 done" in shown.output
    assert all(f"  {verb[0]} " in shown.output for verb in every_command())
    assert "..." not in shown.output.partition("First steps")[2]  # no line is cut


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("serch",), 1, "Did you mean: search"),
        (("collection", "ad"), 1, "Did you mean: add"),
        (("search",), 2, "QUESTION"),
        (("search", "x", "--nope"), 2, "--nope"),
        (("search", "x", "-n", "101"), 2, "--limit must be at most 100"),
        (("search", "x", "-n", "many"), 2, "--limit"),
        (("search", " "), 2, "empty"),
        (("search", "x", "--min-score", "2"), 2, "--min-score must be at most 1"),
        (("search", "x", "--unit", "word"), 2, "--unit must be 'document' or 'line'"),
        (("search", "x", "-c", "nope"), 3, "Did you mean: notes"),
        (("search", "x", "--backend", "nope"), 4, "Known are: lancedb, sqlite, tantivy"),
        (("get", "clawmem://notes/../secret"), 2, ".."),
        (("collection", "add", "missing"), 2, "not a folder"),
        (("collection", "add", ".", "--name", "a b"), 2, "letters"),
        (("collection", "add", ".", "--name", "_clawmem"), 2, "reserved"),
        (("collection", "add", ".", "--pattern", "x" * 1001), 2, "1000"),
        (("collection", "remove", "nope"), 3, "Did you mean: notes"),
        (("bench", "retrieval", "."), 2, "no judged collection"),
        (("bench", "retrieval", ".", "--mode", "magic"), 2, "search, vsearch, query"),
    ],
)
def test_a_refusal_is_one_sentence(remembered: Invoke, args: tuple[str, ...], code: int, said: str) -> None:
    """Bad input leaves with its code, one line on stderr that names the way out, and nothing on stdout."""
    done = remembered(*args)

    assert done.exit_code == code, done.output
    assert done.stderr.startswith("clawmem: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert not done.stdout


def test_global_options_stand_anywhere(remembered: Invoke) -> None:
    """``--json`` before the verb, behind it, or behind its words: the same answer."""
    answers = {
        remembered(*args).stdout
        for args in (
            ("--json", "search", "sessions"),
            ("search", "--json", "sessions"),
            ("search", "sessions", "--json"),
        )
    }

    assert len(answers) == 1
    assert json.loads(answers.pop())["results"][0]["collection"] == "notes"


def test_behind_a_double_dash_nothing_is_an_option() -> None:
    """What comes behind ``--`` is a word."""
    assert hoisted(["search", "--vault=x", "--", "--json"]) == ["--vault=x", "search", "--", "--json"]
    assert hoisted(["search", "--vault", "x", "y"]) == ["--vault", "x", "search", "y"]
    assert hoisted(["search", "--vault"]) == ["--vault", "search"]


def test_a_result_says_everything_a_program_needs(remembered: Invoke) -> None:
    """A result in JSON names its document, place, score and snippet; --explain adds how it came about."""
    [first, *_] = json.loads(remembered("search", "redis", "--json").stdout)["results"]
    explained = json.loads(remembered("query", "redis", "--json", "--explain").stdout)

    assert first["file"] == "notes/decisions/2026-02-11-redis.md"
    assert first["docid"].startswith("#")
    assert 0 < first["score"] <= 1
    assert first["start_line"] <= first["end_line"]
    assert "Redis" in first["snippet"]
    assert {"line", "vector"} <= explained["results"][0]["legs"].keys()
    assert [stage["name"] for stage in explained["trace"]["stages"]][-1] == "cut"


def test_explain_shows_legs_terms_and_stages(remembered: Invoke) -> None:
    """--explain is readable, too."""
    shown = remembered("query", "redis", "--explain").stdout

    assert "relevance by leg: " in shown
    assert "score: relevance" in shown
    assert "stage" in shown
    assert "fuse" in shown


def test_nothing_found_is_no_error(remembered: Invoke) -> None:
    """No answer is said in words, or is an empty list that nobody judged; both leave with 0."""
    plain, as_json = remembered("search", "xylophone"), remembered("search", "xylophone", "--json")

    assert (plain.exit_code, as_json.exit_code) == (0, 0)
    assert "Nothing found for: xylophone" in plain.stdout
    assert json.loads(as_json.stdout) == {
        "query": "xylophone",
        "count": 0,
        "answered": None,
        "hidden": 0,
        "results": [],
        "degraded": {},
    }


def test_collections_are_chosen_by_comma_or_repetition(remembered: Invoke, tmp_path: Path) -> None:
    """-c takes several, either way; the others are not seen."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "plan.md").write_text("# Plan\n\nSessions with the team.\n", "utf-8")
    remembered("bootstrap", tmp_path / "work")

    def collections(*args: str) -> set[str]:
        return {
            r["collection"]
            for r in json.loads(remembered("search", "sessions", *args, "--json").stdout)["results"]
        }

    assert collections("-c", "work") == {"work"}
    assert collections("-c", "work,notes") == {"work", "notes"}
    assert collections("-c", "work", "-c", "notes") == {"work", "notes"}


def test_without_vectors_query_answers_by_words_and_vsearch_says_why(invoke: Invoke, notes: Path) -> None:
    """What is missing is named, with the command that makes it."""
    invoke("bootstrap", notes, "--skip-embed")

    by_words, by_meaning = invoke("query", "redis"), invoke("vsearch", "redis")

    assert by_words.exit_code == 0
    assert "2026-02-11-redis.md" in by_words.stdout
    assert "degraded: vector: the vault holds no vectors yet. Run: clawmem embed" in by_words.stderr
    assert by_meaning.exit_code == 6
    assert "clawmem embed" in by_meaning.stderr
    assert json.loads(invoke("query", "redis", "--json").stdout)["results"]


def test_vsearch_keeps_back_what_is_far_off(remembered: Invoke) -> None:
    """By default a score below 0.15 is no answer by meaning; the threshold can be lowered."""
    few = json.loads(remembered("vsearch", "sessions", "--json").stdout)["results"]
    all_of_them = json.loads(remembered("vsearch", "sessions", "--min-score", "0", "--json").stdout)[
        "results"
    ]

    assert all(result["score"] >= 0.15 for result in few)
    assert len(all_of_them) == 3


def test_update_sees_changes_and_removals(remembered: Invoke, notes: Path) -> None:
    """One pass reads the new, drops the gone, and says that vectors are due."""
    (notes / "new.md").write_text("# New\n\nSomething about gardening.\n", "utf-8")
    (notes / "people/haruka.md").unlink()

    done = remembered("update")

    assert "notes: 1 added, 0 updated, 1 removed, 2 unchanged" in done.stdout
    assert "clawmem embed" in done.stdout
    assert "Vectors: " in remembered("update", "--embed").stdout
    assert json.loads(remembered("search", "haruka", "--json").stdout)["results"] == []


def test_reindex_by_force_reads_everything(remembered: Invoke) -> None:
    """--force reads files that look unchanged; without it they are left."""
    assert "3 unchanged" in remembered("reindex").stdout
    assert "3 updated" in remembered("reindex", "-f").stdout


def test_enriching_goes_on_where_it_was(remembered: Invoke) -> None:
    """What is new is enriched once, by --all and ``reindex --enrich`` as well; get and status show what came of it."""
    assert "3 documents wait; run: clawmem enrich" in remembered("status").stdout
    first = json.loads(remembered("enrich", "--limit", "1", "--json").stdout)
    then = remembered("enrich", "--no-model").stdout

    assert (first["by_rules"], first["waiting"], first["costs"]) == (1, 2, [])
    assert "2 documents by rules, 0 by a model" in then
    assert json.loads(remembered("enrich", "--json").stdout)["by_rules"] == 0
    assert json.loads(remembered("enrich", "--all", "--json").stdout)["by_rules"] == 0
    assert json.loads(remembered("reindex", "--enrich", "--json").stdout)["enrich"]["by_rules"] == 0
    assert "Nothing to do: no note has changed" in remembered("reindex", "--enrich").stdout
    shown = json.loads(remembered("get", "notes/people/haruka.md", "--json").stdout)
    assert "haruka" in shown["note"]["keywords"]
    assert shown["note"]["origin"] == "rules"
    assert isinstance(shown["entities"], list)
    assert json.loads(remembered("status", "--json").stdout)["notes"]["notes"] == 3


def test_enriching_warns_if_no_document_has_a_name(invoke: Invoke, tmp_path: Path) -> None:
    """Twenty documents without any name are reported on stderr and as ``warnings``, because a cause may lie behind it."""
    for number in range(20):
        (tmp_path / f"{number}.md").write_text(f"the rain of day {number} was warm\n", "utf-8")
    assert invoke("bootstrap", tmp_path).exit_code == 0

    done = invoke("enrich", "--all", "--json")

    [warning] = json.loads(done.stdout)["warnings"]
    assert warning == "No name was found in 20 documents."
    assert done.stderr == f"clawmem: {warning}\n"


def test_embed_by_force_begins_anew(remembered: Invoke) -> None:
    """--force makes every vector again."""
    first = json.loads(remembered("embed", "--json").stdout)
    forced = json.loads(remembered("embed", "--force", "--json").stdout)

    assert first["embedded"] == 0
    assert forced["embedded"] == 3


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a Unix shell")
def test_pull_runs_the_command_in_the_folder(remembered: Invoke, notes: Path, home: Path) -> None:
    """--pull runs what the config says before reading; a failure skips that collection and leaves with 1."""
    config = home / ".config/clawmem/config.yaml"
    told = config.read_text("utf-8")
    config.write_text(told + "    update: echo '# Pulled' > pulled.md\n", "utf-8")
    good = remembered("update", "--pull")
    config.write_text(told + "    update: echo gone wrong >&2; exit 3\n", "utf-8")
    bad = remembered("update", "--pull")

    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert "1 added" in good.stdout
    assert "notes: skipped: " in bad.stdout
    assert "ended with 3: gone wrong" in bad.stdout


def test_a_folder_that_is_gone_loses_nothing(remembered: Invoke, notes: Path) -> None:
    """An update without its folder reports it; its documents are still found."""
    notes.rename(notes.with_name("moved"))

    assert "is not there" in remembered("update").stdout
    assert json.loads(remembered("search", "redis", "--json").stdout)["results"]


def test_a_removed_collection_is_no_longer_found(remembered: Invoke, notes: Path) -> None:
    """remove strikes it from the config and out of the answers; added again, it is back."""
    assert "3 of its documents" in remembered("collection", "remove", "notes").stdout
    assert json.loads(remembered("collection", "list", "--json").stdout)["count"] == 0
    assert json.loads(remembered("search", "redis", "--json").stdout)["results"] == []

    remembered("bootstrap", notes)

    assert json.loads(remembered("search", "redis", "--json").stdout)["results"]


def test_a_collection_inside_another_has_its_files(remembered: Invoke, notes: Path) -> None:
    """Each file is one document; when the inner one is no collection any more, the outer one has them again."""

    def files() -> set[str]:
        return {
            one["file"] for one in json.loads(remembered("list", "-n", "100", "--json").stdout)["documents"]
        }

    before = files()
    assert remembered("collection", "add", notes / "people").exit_code == 0
    assert remembered("update").exit_code == 0
    assert files() == before - {"notes/people/haruka.md"} | {"people/haruka.md"}
    assert remembered("verify").exit_code == 0

    remembered("collection", "remove", "people")
    remembered("update")
    assert files() == before


def test_collections_are_listed_with_their_documents(remembered: Invoke, notes: Path) -> None:
    """list names folder, pattern and count."""
    [row] = json.loads(remembered("collection", "list", "--json").stdout)["collections"]

    assert row.pop("updated")
    assert row == {"name": "notes", "documents": 3, "pattern": "**/*.md", "path": str(notes), "trust": "user"}
    assert "notes" in remembered("collection", "list").stdout


def test_two_folders_of_one_name_need_a_name(remembered: Invoke, tmp_path: Path) -> None:
    """A made name that another folder has is refused, with the option that helps."""
    other = tmp_path / "elsewhere" / "Notes"
    other.mkdir(parents=True)

    refused = remembered("collection", "add", other)

    assert refused.exit_code == 2
    assert "--name" in refused.stderr
    assert remembered("collection", "add", other, "--name", "more").exit_code == 0


def test_status_counts(remembered: Invoke) -> None:
    """status says what the vault holds, in both forms."""
    report = json.loads(remembered("status", "--json").stdout)

    assert report["documents"] == 3
    assert report["embeddings"]["pending"] == 0
    assert report["info"]["backend"] == "sqlite"
    assert "sqlite" in remembered("status").stdout


def test_doctor_and_verify_are_content(remembered: Invoke) -> None:
    """On a healthy vault both leave with 0."""
    examined, compared = remembered("doctor"), remembered("verify", "--json")

    assert (examined.exit_code, compared.exit_code) == (0, 0), examined.output
    assert json.loads(compared.stdout) == {"differences": [], "skipped": []}


def test_verify_finds_a_changed_file(remembered: Invoke, notes: Path) -> None:
    """A file that is not what the vault holds is named, exit 7."""
    (notes / "people/haruka.md").write_text("# Somebody else\n", "utf-8")

    compared = remembered("verify")

    assert compared.exit_code == 7
    assert "people/haruka.md" in compared.stdout


def test_doctor_names_a_missing_folder(remembered: Invoke, notes: Path) -> None:
    """A check that fails makes the exit code 1."""
    notes.rename(notes.with_name("moved"))

    examined = remembered("doctor")

    assert examined.exit_code == 1
    assert "FAIL" in examined.stdout


def test_list_shows_the_latest(remembered: Invoke) -> None:
    """list is cut to -n and kept to -c."""
    assert len(json.loads(remembered("list", "-n", "2", "--json").stdout)["documents"]) == 2
    assert len(json.loads(remembered("list", "-c", "notes", "--json").stdout)["documents"]) == 3
    assert "Haruka Mori" in remembered("list").stdout


def test_get_gives_the_lines_of_a_document(remembered: Invoke) -> None:
    """get finds a document by path or docid, and can cut."""
    [haruka] = json.loads(remembered("search", "ticket", "--json").stdout)["results"]

    assert "Counts seconds." in remembered("get", "people/haruka.md").stdout
    by_docid = json.loads(remembered("get", haruka["docid"], "--from", "2", "--lines", "1", "--json").stdout)
    assert by_docid["file"] == "notes/people/haruka.md"
    assert by_docid["text"].count("\n") <= 1


def test_multi_get_gives_what_it_can(remembered: Invoke) -> None:
    """Documents by glob, the text of each below its name; what does not fit is said on stderr."""
    found = remembered("multi-get", "decisions/*.md")
    nothing = json.loads(remembered("multi-get", "decisions/*.md", "--max-bytes", "1", "--json").stdout)

    assert found.stdout.count("==> notes/decisions/") == 2
    assert nothing["documents"] == []
    assert len(nothing["errors"]) == 2


def test_a_note_cannot_drive_the_terminal(invoke: Invoke, notes: Path) -> None:
    """Escape sequences of a note are shown as what they are."""
    (notes / "evil.md").write_text("# Evil \x1b[2J\n\nxylophone \x1b]0;owned\x07 here\n", "utf-8")
    invoke("bootstrap", notes, "--skip-embed")

    shown = invoke("search", "xylophone").stdout

    assert "xylophone" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_path_names_vault_and_config(invoke: Invoke, home: Path) -> None:
    """path answers whether or not anything exists."""
    places = json.loads(invoke("path", "--json").stdout)

    assert places["vault"] == str(home / ".cache/clawmem/index.sqlite")
    assert places["config"] == str(home / ".config/clawmem/config.yaml")
    assert invoke("path").stdout.strip() == places["vault"]


@pytest.mark.parametrize("mode", ["search", "vsearch", "query"])
def test_bench_measures_a_judged_collection(invoke: Invoke, tmp_path: Path, home: Path, mode: str) -> None:
    """bench prints figures by category and writes a TREC run; the user's vault is not touched."""
    folder = judged(tmp_path)

    shown = invoke("bench", "retrieval", folder, "--mode", mode, "--run", tmp_path / "run.txt")
    figures = json.loads(invoke("bench", "retrieval", folder, "--mode", mode, "--json").stdout)

    assert shown.exit_code == 0, shown.output
    assert "files/s" in shown.stdout
    assert figures["groups"]["all"]["n"] == 2
    assert figures["groups"]["easy"]["mean"]["recall@5"] == 1.0
    assert (tmp_path / "run.txt").read_text("utf-8").splitlines()[0].split()[:2] == ["q1", "Q0"]
    assert list(home.iterdir()) == []


def test_bench_of_turns(invoke: Invoke, tmp_path: Path) -> None:
    """--unit turn ranks lines and needs the judgements of turns."""
    folder = judged(tmp_path)
    refused = invoke("bench", "retrieval", folder, "--unit", "turn")
    (folder / "turns.tsv").write_text("t1\tcats\t3\nt2\tdogs\t3\n", "utf-8")
    (folder / "qrels_turn.tsv").write_text("q1\tt1\t1\n", "utf-8")

    measured = json.loads(invoke("bench", "retrieval", folder, "--unit", "turn", "--json").stdout)

    assert refused.exit_code == 2
    assert "turns.tsv" in refused.stderr or "qrels_turn.tsv" in refused.stderr
    assert measured["unit"] == "turn"
    assert measured["groups"]["all"]["mean"]["recall@5"] == 1.0


def judged(tmp_path: Path) -> Path:
    folder = tmp_path / "judged"
    (folder / "corpus").mkdir(parents=True)
    (folder / "corpus/cats.md").write_text("# Cats\n\nA cat purrs when it is content.\n", "utf-8")
    (folder / "corpus/dogs.md").write_text("# Dogs\n\nA dog barks at the postman.\n", "utf-8")
    questions = [
        {"qid": "q1", "text": "why does a cat purr", "category": "easy"},
        {"qid": "q2", "text": "who barks", "category": "hard"},
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, questions)), "utf-8")
    (folder / "qrels.tsv").write_text("q1\tcats\t1\nq2\tdogs\t1\n", "utf-8")
    return folder


@pytest.mark.parametrize("verb", ["search", "vsearch", "query"])
def test_a_time_limits_what_is_seen(remembered: Invoke, verb: str) -> None:
    """Both days count as a whole; what was written outside of them is not there, however well it fits."""

    def found(*options: str) -> set[str]:
        done = remembered("--json", verb, "sessions", "redis", "postgres", *options)
        assert done.exit_code == 0, done.stderr
        return {Path(result["path"]).name for result in json.loads(done.stdout)["results"]}

    redis, postgres = "2026-02-11-redis.md", "2026-06-09-postgres.md"
    assert {redis, postgres} <= found()
    assert found("--until", "2026-06-08") == found("--as-of", "2026-02-11") == {redis}
    assert found("--since", "2026-02-12", "--until", "2026-06-09") == {postgres}
    assert found("--until", "2026-02-10") == set()


@pytest.mark.parametrize("verb", ["search", "vsearch", "query", "retrieve", "plan", "intent-search"])
def test_kinds_and_tags_limit_what_is_seen(invoke: Invoke, tmp_path: Path, verb: str) -> None:
    """What is of another type or lacks a tag is not there, however well it fits."""
    notes = tmp_path / "notes"
    notes.mkdir()
    heads = {"a": "content_type: decision\ntags: [Queue]", "b": "content_type: research\ntags: [queue, slow]"}
    for name, head in heads.items():
        (notes / f"{name}.md").write_text(
            f"---\n{head}\n---\n\nThe queue of the press is slow today.\n", "utf-8"
        )
    assert invoke("bootstrap", str(notes)).exit_code == 0

    def found(*options: str) -> set[str]:
        done = invoke("--json", verb, "why is the queue of the press slow", *options)
        assert done.exit_code == 0, done.stderr
        return {Path(result["path"]).stem for result in json.loads(done.stdout)["results"]}

    assert (
        found() == found("--tag", "queue") == found("--type", "decision", "--type", "research") == {"a", "b"}
    )
    assert found("--type", "decision") == {"a"}
    assert found("--tag", "QUEUE", "--tag", "slow") == found("--type", "research") == {"b"}
    assert found("--type", "decision", "--tag", "slow") == set()


def test_a_purpose_steers_what_is_shown(invoke: Invoke, tmp_path: Path) -> None:
    """Of lines that answer alike the one that serves the purpose is shown; nothing is looked for by it."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "press.md").write_text(
        "The press: oil it weekly.\n\n\n\n\nThe press: sell it in May.\n", "utf-8"
    )
    (notes / "may.md").write_text("Nothing to sell is left.\n", "utf-8")
    assert invoke("init").exit_code == 0
    assert invoke("collection", "add", str(notes)).exit_code == 0
    assert invoke("update").exit_code == 0

    def shown(*options: str) -> dict[str, str]:
        done = invoke("--json", "query", "about the press", *options)
        assert done.exit_code == 0, done.stderr
        return {Path(found["path"]).stem: found["snippet"] for found in json.loads(done.stdout)["results"]}

    assert ["oil" in text for text in shown().values()] == [True]
    assert ["sell" in text for text in shown("--purpose", "selling: when to sell").values()] == [True]
    assert list(shown("--intent", "sell")) == ["press"]  # the older name


def test_bootstrap_of_a_folder_without_notes_says_that_nothing_was_indexed(
    invoke: Invoke, home: Path
) -> None:
    """It is not called ready, and the next step is named."""
    (home / "empty").mkdir()
    (home / "empty" / "latin1.md").write_bytes(b"caf\xe9")

    done = invoke("bootstrap", home / "empty", "--skip-embed")

    assert "Ready" not in done.stdout
    assert "Nothing was indexed" in done.stdout and "collection remove empty" in done.stdout


def test_a_file_that_cannot_be_read_is_reported_and_is_no_difference(remembered: Invoke, notes: Path) -> None:
    """`verify` says that everything agrees; `verify` and `doctor` name the file and what to do."""
    (notes / "latin1.md").write_bytes(b"# Caf\xe9")
    remembered("update")

    compared, examined = remembered("verify"), remembered("doctor")

    assert compared.exit_code == 0 and "agree" in compared.stdout
    for said in (compared.stderr, examined.stdout):
        assert "1 file is not indexed: notes/latin1.md was skipped: it is not UTF-8 text (byte 5)" in said
        assert "save it as UTF-8" in said


@pytest.mark.parametrize("folder", ["~", "/"])
def test_a_very_broad_folder_gets_a_warning(invoke: Invoke, folder: str) -> None:
    """The home folder and what contains it hold Markdown of other programs too."""
    done = invoke("collection", "add", folder, "--name", "all")

    assert done.exit_code == 0
    assert "warning: " in done.stderr and "home folder" in done.stderr
    assert "collection remove" in done.stderr


def test_a_usual_folder_gets_no_warning(invoke: Invoke, notes: Path) -> None:
    """A folder below the home folder is what a collection should be."""
    assert invoke("collection", "add", notes).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("get", "nothing.md"), "NOT_FOUND", 3),
        (("get", "#zz"), "INVALID_INPUT", 2),
        (("serch", "x"), "UNKNOWN_COMMAND", 1),
        (("search", "x", "-n", "many"), "INVALID_INPUT", 2),
        (("search", "x", "--colour"), "INVALID_INPUT", 2),
    ],
)
def test_an_error_is_json_where_json_was_asked_for(
    remembered: Invoke, arguments: tuple[str, ...], code: str, exit_code: int
) -> None:
    """The sentence stays on stderr; stdout has one object with the same sentence and a code."""
    done = remembered("--json", *arguments)

    record = json.loads(done.stdout)
    assert (record["code"], done.exit_code) == (code, exit_code)
    assert done.stderr.startswith(f"clawmem: {record['error']}")
