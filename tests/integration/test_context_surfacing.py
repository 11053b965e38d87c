"""The context-surfacing hook, and the verbs around it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from command_process import run_process
from hook_process import ask_inside, transcript
from scripted_server import scripted, well_behaved

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING
from clawmem.ports.telemetry import Recall

Surfaced = Callable[..., str]
QUESTION = "Where do login sessions live, and for how many days?"


SESSIONS = {
    "guests": "Login sessions of guests live in memory for 2 days.",
    "staff": "Login sessions of staff live in Redis for 7 days.",
    "robots": "Login sessions of robots live for days.",
    "phones": "Login sessions on phones live on for weeks.",
}


@pytest.fixture
def hook(environ: dict[str, str]) -> Surfaced:
    def call(prompt: str, session: str = "s1", **extra: Any) -> str:
        variables = {name: value for name, value in extra.items() if name.isupper()}
        fields = {name: value for name, value in extra.items() if not name.isupper()}
        event = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt, **fields}
        return ask_inside({**environ, **variables}, "context-surfacing", event).context

    return call


def surfacings(home: Path) -> list[Recall]:
    """Return the recorded prompts of the usual vault."""
    with open_vault(str(home / ".cache/clawmem/index.sqlite"), read_only=True) as vault:
        return [
            row for row in vault.telemetry.recalls("") if row.verb == CONTEXT_SURFACING and row.session_id
        ]


class TestAPrompt:
    """One event, one answer."""

    @pytest.mark.parametrize(
        ("prompt", "fields"),
        [
            ("hi", {}),
            ("/compact", {}),
            ("git status", {}),
            ("", {}),
            (QUESTION, {"agent_id": "a1"}),
            (QUESTION, {"source": "loop_wakeup"}),
        ],
    )
    def test_silence(
        self, invoke: Invoke, hook: Surfaced, bootstrapped: Path, prompt: str, fields: dict[str, str]
    ) -> None:
        """Greetings, commands, subagents and timers get nothing."""
        assert hook(prompt, **fields) == ""

    def test_turns_are_counted(self, invoke: Invoke, hook: Surfaced, bootstrapped: Path) -> None:
        """``budget`` counts neither prompts nor blocks where a prompt needs no search."""
        for prompt in ("hi", QUESTION, "ok thanks"):
            hook(prompt)

        [use] = json.loads(invoke("report", "--budget", "--json").stdout)["sessions"]

        assert (use["session_id"], use["blocks"]) == ("s1", 1)
        assert 0 < use["tokens"] <= 800
        assert json.loads(invoke("report", "--budget", "--session", "s2", "--json").stdout) == {
            "count": 0,
            "sessions": [],
        }

    def test_a_note_that_is_in_the_conversation_is_only_named(
        self,
        invoke: Invoke,
        hook: Surfaced,
        bootstrapped: Path,
        notes: Path,
        environ: dict[str, str],
        home: Path,
    ) -> None:
        """It is quoted again to another session, after a compaction, and when it was changed."""
        quoted, again = "Login sessions live in Redis for", "How many days do login sessions live?"
        talk = transcript(home / "s1.jsonl", ("Where do sessions live?", "We decided to keep them in Redis."))
        session: dict[str, Any] = {"session_id": "s1", "transcript_path": str(talk)}

        assert quoted in hook(QUESTION, **session)
        assert quoted not in (named := hook(again, **session))
        assert "** (decision) notes/decisions/2026-02-11-redis.md:3, 2026-02-11" in named
        assert quoted in hook(again, session="s2")

        ask_inside(environ, "precompact-extract", {"hook_event_name": "PreCompact", **session})
        assert quoted in hook("Login sessions live where, and for how long?", **session)
        talk.write_text("")  # without a state, or with a failed hook before
        restart = ("postcompact-inject", {"hook_event_name": "SessionStart", "source": "compact", **session})
        for name, event in (("precompact-extract", {**session}), restart):
            ask_inside(environ, name, event)
            assert quoted in hook(f"How long do login sessions live ({name})?", **session)

        note = notes / "decisions/2026-02-11-redis.md"
        note.write_text(note.read_text("utf-8").replace("14 days", "30 days"), "utf-8")
        invoke("update")
        assert "for 30 days" in hook("For how many days do login sessions live now?", **session)


class TestDeep:
    """What only the deep profile does, and what it learns from one turn for the next."""

    def test_the_servers_that_are_named_are_asked(
        self, invoke: Invoke, hook: Surfaced, bootstrapped: Path
    ) -> None:
        """For other words and for an order; other profiles leave them alone."""
        question = "What do we keep sessions in, and who designs the machines?"
        with scripted(well_behaved) as server:
            named = {"CLAWMEM_LLM_URL": server.url, "CLAWMEM_RERANK_URL": server.url}
            assert hook(question, **named)
            assert server.asked == []

            assert hook(question, session="s2", CLAWMEM_PROFILE="deep", **named)

        assert server.questions("/v1/chat/completions")
        assert server.questions("/v1/rerank")

    def test_what_an_answer_used_together_rises_for_the_next(
        self, invoke: Invoke, hook: Surfaced, notes: Path, environ: dict[str, str], home: Path
    ) -> None:
        """One turn's answer names two notes; in another session the second gains a tenth of the first."""
        for name, text in SESSIONS.items():
            (notes / f"{name}.md").write_text(f"# {name}\n\n{text}\n", "utf-8")
        invoke("bootstrap", notes)

        assert hook(QUESTION, CLAWMEM_PROFILE="deep")
        turns = ((QUESTION, "See guests.md and phones.md."), ("Thanks.", "You are welcome."))
        conversation = {"session_id": "s1", "transcript_path": str(transcript(home / "s1.jsonl", *turns))}
        ask_inside(environ, "feedback-loop", {"hook_event_name": "Stop", **conversation})
        assert hook(QUESTION, session="s2", CLAWMEM_PROFILE="deep")

        before, after = (given(home, session) for session in ("s1", "s2"))
        near = partial(pytest.approx, abs=5e-3)  # an access more counts a little as well
        assert after["guests.md"] == near(before["guests.md"])
        assert after["phones.md"] == near(before["phones.md"] + 0.1 * before["guests.md"])


def given(home: Path, session: str) -> dict[str, float]:
    """The notes that a session was given, with their scores."""
    with closing(open_vault(str(home / ".cache/clawmem/index.sqlite"), read_only=True)) as vault:
        hits = [hit for row in vault.telemetry.recalls(session_id=session) for hit in row.hits]
        documents = vault.documents.many(hit.document_id for hit in hits)
        return {documents[hit.document_id].path: hit.score for hit in hits}


class TestFocus:
    """The topic of a session."""

    def test_set_show_clear(self, invoke: Invoke) -> None:
        """A topic is kept by session until it is cleared."""
        assert (
            invoke("focus", "set", "login", "sessions", "--session-id", "s1").stdout == "s1: login sessions\n"
        )
        assert invoke("focus", "show", "--session-id", "s1").stdout == "s1: login sessions\n"
        assert json.loads(invoke("focus", "show", "--session-id", "s2", "--json").stdout)["topic"] is None
        invoke("focus", "clear", "--session-id", "s1")
        assert "no topic" in invoke("focus", "show", "--session-id", "s1").stdout

    def test_for_every_session(self, invoke: Invoke) -> None:
        """From a terminal, where no session is known."""
        assert invoke("focus", "set", "queues").stdout == "Every session: queues\n"
        invoke("focus", "set", "boats", "--session-id", "s1")
        assert [invoke("focus", "show", "--session-id", name).stdout for name in ("s1", "s2")] == [
            "s1: boats\n",
            "s2: queues\n",
        ]


class TestSurface:
    """The same without a client."""

    def test_for_a_prompt(
        self, invoke: Invoke, hook: Surfaced, bootstrapped: Path, environ: dict[str, str], home: Path
    ) -> None:
        """The block stands on standard output as it is; a greeting prints nothing; neither is anybody's turn."""

        def surfaced(prompt: str | bytes, *options: str) -> subprocess.CompletedProcess[str]:
            words, is_text = ("surface", "--stdin", *options), isinstance(prompt, str)
            return run_process(*words, environ=environ, input=prompt, text=is_text, cwd=home)

        assert surfaced(QUESTION).stdout.startswith("<vault-context>\n")
        assert (surfaced("hi").stdout, surfaced("hi").returncode) == ("", 0)
        assert surfacings(home) == []
        assert surfaced(b"\xff").stderr == b"clawmem: stdin is not UTF-8. Convert it first.\n"
        assert "There is no vault at" in surfaced(QUESTION, "--vault", "./no.sqlite").stderr


class TestPrivate:
    """What the person alone is to find."""

    def test_private_notes(
        self,
        invoke: Invoke,
        hook: Surfaced,
        bootstrapped: Path,
        notes: Path,
        home: Path,
        environ: dict[str, str],
    ) -> None:
        """A property, or a collection, keeps them out of prompts, profile and briefing; a search finds them."""
        prompts = {
            "How much do we pay Tom Berg?": "4200",
            "Who treats the knee?": "Ruth Amsel",
            "What is the present for Alan's fiftieth birthday?": "balloon",
        }
        for name, line in {
            "Helen": "Present: money for a greenhouse",
            "Pjotr": "Birthday 6 December",
        }.items():
            (notes / f"{name}.md").write_text(f"# {name}\n\n{line}.\n\nAlan knows {name}.\n", "utf-8")
        invoke("update")
        blocks = {prompt: hook(prompt) for prompt in prompts}
        text = "# Pay\n\nWe decided to pay Tom Berg 4200 euros.\n"
        (notes / "pay.md").write_text(f"---\ncontent_type: decision\nprivate: true\n---\n{text}", "utf-8")
        balloon = "# Present for Alan's fiftieth\n\nA hot-air balloon ride, booked with Frau Rohde.\n"
        (notes / "present.md").write_text(f"---\nprivate: true\n---\n{balloon}", "utf-8")
        (home / "diary").mkdir()
        (home / "diary" / "knee.md").write_text("# Knee\n\nRuth Amsel treats the knee.\n", "utf-8")
        invoke("collection", "add", home / "diary")
        config = home / ".config/clawmem/config.yaml"
        folder = f"path: {home / 'diary'}\n"
        config.write_text(config.read_text("utf-8").replace(folder, f"{folder}    private: true\n"), "utf-8")
        invoke("update")

        for prompt, answer in prompts.items():
            assert answer in invoke("query", prompt).stdout
            assert hook(prompt, "s2") == blocks[prompt]  # they neither show nor support other notes
        assert "4200" not in invoke("profile").stdout
        start = {"hook_event_name": "SessionStart", "session_id": "s9", "source": "startup"}
        assert "4200" not in ask_inside(environ, "session-bootstrap", start).context
        assert "Private: kept out of prompts" in invoke("get", "diary/knee.md").stdout

        whole = config.read_text("utf-8")
        knee = "Who treats the knee?"
        for rest in (whole.partition("  diary:")[0], "collections: [", None):
            config.unlink() if rest is None else config.write_text(rest, "utf-8")
            assert "Ruth Amsel" not in hook(knee, "s3")  # private also after its settings are lost
        invoke("bootstrap", notes)
        assert "stay private" in invoke("collection", "add", home / "diary").stderr
        invoke("update")
        assert "Ruth Amsel" not in hook(knee, "s4")
        config.write_text(config.read_text("utf-8").replace("private: true", "private: false"), "utf-8")
        assert "Ruth Amsel" in hook(knee, "s5")
