"""Ids and questions that nobody should type, at the command line: an answer or one sentence, always."""

from __future__ import annotations

import json
from itertools import product

import pytest
from command_line import Invoke, assert_refused, read_json

VERBS = ("search", "query --mode=vectors", "query")

SYNTAX = [
    "redis OR days NEAR(",
    '"redis',
    'redis "" "',
    "redis*",
    "^redis",
    "title:redis",
    "{title text}: redis",
    "redis AND NOT",
    "(redis",
    "redis; drop table documents; --",
    "' or 1=1 -- redis",
    "redis\n\tdays",
    "redis\u2028days",
    "ＲＥＤＩＳ",
    "redis %_ ?1 :name $x @y",
    "rowid redis",
    "redis \U0001f389",
    "redis\0days",
]


class TestIds:
    @pytest.mark.parametrize(
        ("name", "code", "said"),
        [
            ("../secret.md", 2, "'..'"),
            ("people\\..\\haruka.md", 2, "'..'"),
            ("people/haruka.md\0.txt", 2, "NUL"),
            ("a" * 1001, 2, "over 1000 characters"),
            ("a" * 1000, 3, "No document matches"),
            ("", 2, "NOTE is empty."),
            ("#", 2, "docid"),
            ("#" + "a" * 65, 2, "docid"),
            ("#%_%_%_", 2, "docid"),
            ("%", 3, "No document matches"),
            ("/etc/passwd", 3, "No document matches"),
            ("a\udcff.md", 2, "is not UTF-8"),
            ("people/haruka.md:0", 2, "There is no line 0"),
        ],
    )
    def test_get(self, remembered: Invoke, name: str, code: int, said: str) -> None:
        """What is no id of ours reads nothing, and says what is wrong with it."""
        assert_refused(remembered("get", "--", name), said, code)


class TestBounds:
    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("limit", ["0", "-1", "101", "99999999999999999999"])
    def test_limits(self, remembered: Invoke, verb: str, limit: str) -> None:
        """Below 1 or above 100 is a mistake, not an empty or an endless answer."""
        assert_refused(remembered(verb, "redis", "--limit", limit), "--limit must be ", 2)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("list", "-n", "0"), "must be greater than or equal to 1"),
            (("list", "-n", "x"), "-n/--limit must be a whole number"),
            (("query", "--vault"), "--vault has no value."),
            (("--vault", "bootstrap", "notes"), "--vault took 'bootstrap' as its value."),
            (("serve", "--port", "99999999"), "must be less than or equal to 65535"),
            (("diary", "read", "-n", "0"), "--limit must be greater than or equal to 1."),
            (("undo", "-n", "101"), "--limit must be less than or equal to 100."),
            (("pin", ""), "NOTE is empty. Run: clawmem pin --help"),
            (("diary", "write", ""), "TEXT must have at least 1 character."),
        ],
    )
    def test_values_are_refused_in_plain_words(
        self, remembered: Invoke, words: tuple[str, ...], said: str
    ) -> None:
        """Every command says what a value must be, and nothing of how that was found out."""
        done = remembered(*words)

        assert_refused(done, said, 2)
        assert not any(phrase in done.stderr for phrase in ("Input should", "String should", "Value error"))

    @pytest.mark.parametrize("score", ["-0.1", "1.1", "nan", "inf"])
    def test_scores(self, remembered: Invoke, score: str) -> None:
        """A minimum score is a number from 0 to 1."""
        assert_refused(remembered("search", "redis", "--min-score", score), "--min-score must be ", 2)

    @pytest.mark.parametrize("verb", VERBS)
    def test_the_length_of_a_question(self, remembered: Invoke, verb: str) -> None:
        """10 000 characters are answered, 10 001 refused."""
        question = ("redis " * 2000)[:10_000]

        assert read_json(remembered(verb, question, "--min-score", "0", "--json"))["results"]
        assert_refused(remembered(verb, question + "x"), "must have at most 10000 characters", 2)


class TestWords:
    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("question", ["???", "--- … ¿?", "'\"'", "\u200b", "🎉", "\0", "_"])
    def test_not_a_word(self, remembered: Invoke, verb: str, question: str) -> None:
        """A question without a word has an answer, be it that there is nothing."""
        plain = remembered(verb, "--", question)

        assert plain.exit_code == 0, plain.output
        assert plain.stderr == ""
        assert "Nothing found for:" in plain.stdout or "notes/" in plain.stdout
        read_json(remembered(verb, "--json", "--", question))

    def test_syntax_is_only_words(self, remembered: Invoke) -> None:
        """What an engine would take for an operator, a column or a statement is text; the words are found."""
        for question, verb in [*product(SYNTAX, ["search"]), *product(SYNTAX[::5], ["query"])]:
            found = read_json(remembered(verb, "--json", "--", question))["results"]
            assert found[0]["file"] == "notes/decisions/2026-02-11-redis.md", (question, verb)

        assert len(json.loads(remembered("list", "--json").stdout)["documents"]) == 3

    @pytest.mark.parametrize("verb", [("list",), ("search", "redis"), ("query", "redis")], ids=" ".join)
    @pytest.mark.parametrize("name", ["", " ", ","])
    def test_a_collection_without_a_name(self, remembered: Invoke, verb: tuple[str, ...], name: str) -> None:
        """An empty text, such as an unset variable, does not stand for every collection."""
        assert_refused(remembered(*verb, "-c", name), "--collection is empty.", 2)
