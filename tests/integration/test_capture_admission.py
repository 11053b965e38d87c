"""What a session leaves behind when it ends, hook by hook: decided by what was said and written, not by how much."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json
from hook_process import ask_inside, transcript

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.domain.retrieval.relevance import LIKELY

DAY = ("--since", "2026-03-01", "--until", "2026-03-01")
AT_STOP = ("decision-extractor", "handoff-generator", "feedback-loop")
DECIDED = "We decided to keep the audit trail in S3 because the disk is too small."


class SessionHome:
    """A home with a vault, where sessions come to an end."""

    def __init__(self, home: Path, environ: dict[str, str], invoke: Invoke) -> None:
        self.home, self.environ, self.invoke = home, environ, invoke
        self.vault_file = home / ".cache/clawmem/index.sqlite"

    def hook(self, name: str, happening: str, **fields: Any) -> str:
        """What a hook puts before the model."""
        event = {"hook_event_name": happening, "cwd": "/", **fields}
        return ask_inside(self.environ, name, event).context

    def end(self, session_id: str, *turns: tuple[str, str], wrote: str = "") -> None:
        """Let a session with these turns stop; *wrote* is a file that the assistant wrote in it."""
        file = transcript(self.home / f"projects/{session_id}.jsonl", *turns)
        if wrote:
            written = {"file_path": wrote, "content": "x"}
            tool = {"type": "tool_use", "id": "t1", "name": "Write", "input": written}
            message = {"role": "assistant", "id": "w1", "content": [tool]}
            line = {"type": "assistant", "uuid": "w1", "message": message}
            file.write_text(file.read_text("utf-8") + json.dumps(line) + "\n", "utf-8")
        for name in AT_STOP:
            self.hook(name, "Stop", session_id=session_id, transcript_path=str(file))

    def kept(self) -> dict[str, str]:
        """The texts that machines stored and that are served, by path; not the profile that is made of them."""
        vault = open_vault(str(self.vault_file), read_only=True)
        try:
            own = vault.documents.sources("_clawmem").values()
            served = [one for one in own if one.inactive is None and one.path.startswith("agent/")]
            return {one.path: vault.documents.body(one.id) or "" for one in served}
        finally:
            vault.close()

    def handoff(self) -> str:
        [text] = [text for path, text in self.kept().items() if "/handoffs/" in path]
        return text

    def started(self, session_id: str = "eeee0000") -> str:
        return self.hook("session-bootstrap", "SessionStart", session_id=session_id, source="startup")


@pytest.fixture
def sessions(remembered: Invoke, home: Path, environ: dict[str, str]) -> SessionHome:
    return SessionHome(home, environ, remembered)


def section(handoff: str, heading: str) -> list[str]:
    text = handoff.partition(f"## {heading}\n\n")[2].partition("\n\n")[0]
    return [line.removeprefix("- ") for line in text.strip().splitlines()]


def test_a_session_of_one_prompt_is_kept(sessions: SessionHome) -> None:
    """A decision said in the only turn becomes a note, and with the file that was written a handoff."""
    sessions.end("aaaa0000", (DECIDED, "Noted."), wrote="/work/audit/trail.py")

    kept = sessions.kept()
    assert [path for path in kept if "-decision-" in path]
    assert section(sessions.handoff(), "What Was Done") == [DECIDED]
    assert section(sessions.handoff(), "Files Changed") == ["/work/audit/trail.py"]


def test_a_decision_answers_its_question(sessions: SessionHome) -> None:
    """It has the words of the question and vectors at once, so that it precedes the handoff that repeats the question."""
    question = "The website build is slow. Which static site generator should we use?"
    sessions.end("aaaa0000", (question, "We decided to use Hugo, because Eleventy needed 40 seconds."))

    [text] = [text for path, text in sessions.kept().items() if "-decision-" in path]
    assert "In answer to: Which static site generator should we use?" in text
    assert json.loads(sessions.invoke("status", "--json").stdout)["embeddings"]["pending"] == 0
    found = ask_json(sessions.invoke, "query", "which site generator do we use", "--all")["results"]
    order = [one["content_type"] for one in found]
    assert order.index("decision") < order.index("handoff")


@pytest.mark.parametrize(
    "turn",
    [
        ("Make the export faster.", "The export hangs because the lock is held while the file is sent."),
        ("Never answer in more than ten lines please.", "Fine."),
        ("Draft the migration.", "Here it is.\n\nNext step: run it against the staging copy."),
    ],
)
def test_a_cause_a_wish_and_a_next_step_are_worth_a_handoff(
    sessions: SessionHome, turn: tuple[str, str]
) -> None:
    """Each of them alone, in a session of one prompt."""
    sessions.end("aaaa0000", turn)

    assert sessions.handoff()


def test_small_talk_is_not_kept_however_long(sessions: SessionHome) -> None:
    """Eight messages in which nothing was done, decided, changed or left open leave nothing."""
    sessions.end("aaaa0000", *(("Hello.", "Hello there."), ("How are you?", "Fine, thanks.")) * 2)

    assert sessions.kept() == {}


SUMMED_UP = """The importer reads CSV now.

**Next steps:**
- Wire the importer to the queue.
- [x] Write the parser
- [ ] Document the *column* order

That is all for today."""


@pytest.mark.parametrize(
    ("speaker", "said", "expected"),
    [
        ("user", "TODO: rotate the signing key", ["rotate the signing key"]),
        ("assistant", SUMMED_UP, ["Wire the importer to the queue.", "Document the *column* order"]),
    ],
)
def test_next_steps_reach_the_handoff(
    sessions: SessionHome, speaker: str, said: str, expected: list[str]
) -> None:
    """However they are set, said by the user or the assistant, in a session of one prompt."""
    turn = (said, "Fine.") if speaker == "user" else ("Go on with the importer.", said)

    sessions.end("aaaa0000", turn)

    assert section(sessions.handoff(), "Next Session Should") == expected
    assert expected[0] in sessions.started()


def test_a_useful_handoff_is_not_hidden(sessions: SessionHome) -> None:
    """Nor by a session of small talk."""
    sessions.end("aaaa0000", (DECIDED, "Next step: wire the exporter."))
    sessions.end("cccc0000", ("Hello.", "Hello."), ("Thanks, bye.", "Bye."))

    assert "wire the exporter" in sessions.started()
    found = json.loads(sessions.invoke("query", "--mode", "auto", "Where did we leave off?", "--json").stdout)
    assert found["mode"] == "timeline"
    assert found["sessions"][0]["id"] == "aaaa0000"


def test_a_prompt_where_work_stopped(sessions: SessionHome) -> None:
    """It brings the last handoff of this project, and nothing else."""
    prompts = (
        "where did we leave off (last time)?",
        "continue where we stopped yesterday",
        "what is in the last hand-off?",
        "Guten Morgen, wo sind wir gestern stehen geblieben?",
        "Was stand in der letzten Übergabe?",
        "Let's pick up where we left off.",
        "give me a recap of the previous session",
        "Good morning! Remind me where we were.",
        "what was I doing?",
        "wo waren wir gerade?",
        "Woran haben wir zuletzt gearbeitet?",
        "let's continue from yesterday",
        "weiter mit gestern",
        "where did we leave off with the exporter",
        "where did we leave off with the attic",
    )

    def blocks(session: str) -> list[str]:
        return [
            sessions.hook("context-surfacing", "UserPromptSubmit", session_id=f"{session}{n}", prompt=prompt)
            for n, prompt in enumerate(prompts)
        ]

    assert not any(blocks("bbbb"))
    sessions.end("aaaa0000", (DECIDED, "Next step: wire the exporter."))
    answers = blocks("cccc")

    assert ["wire the exporter" in block for block in answers] == [True] * 14 + [False]
    assert not any("<facts>" in block for block in answers)
    assert sessions.invoke("surface", prompts[0]).stdout == ""  # in a folder of another project
    own = {"session_id": "aaaa0000", "prompt": prompts[0]}
    assert sessions.hook("context-surfacing", "UserPromptSubmit", **own) == ""
    found = ask_json(sessions.invoke, "query", "--mode", "auto", "wo waren wir stehengeblieben")["results"]
    assert found[0]["content_type"] == "handoff"


def test_a_step_that_remains_is_handed_on(sessions: SessionHome, notes: Path) -> None:
    """Though the session was told of it; not by a mere recap. Of a day, the handoff until then; its own, it knows."""

    def where(session_id: str, prompt: str = "where were we?") -> str:
        return sessions.hook("context-surfacing", "UserPromptSubmit", session_id=session_id, prompt=prompt)

    steps = "Next steps:\n- Wire the exporter.\n- Document the columns."
    sessions.end("aaaa0000", (DECIDED, steps))
    assert "Document the columns." in where("bbbb0000")
    turns = [("where were we?", steps)]
    sessions.end("bbbb0000", *turns)
    assert len([path for path in sessions.kept() if "/handoffs/" in path]) == 1

    turns += [
        ("Wire it.", steps.replace("- Wire the exporter.", "- Tag it.")),
        ("Thanks!", "You're welcome."),
    ]
    sessions.end("bbbb0000", *turns[:2])
    sessions.end("bbbb0000", *turns)

    [handoff] = [text for text in sessions.kept().values() if "Wire it." in text]
    assert section(handoff, "Next Session Should") == ["Tag it.", "Document the columns."]
    assert section(handoff, "Request") == ["Wire it."]
    assert "Tag it." in where("cccc0000") and where("bbbb0000") == ""
    assert "Wire the exporter." in where("bbbb0000", "what was the last handoff?")
    assert where("cccc0000", "where did we leave off in March 2020?") == ""
    shed = "---\ntype: handoff\ndate: 2026-03-09\nproject: shed\n---\n# Shed\n\nNext: paint it.\n"
    (notes / "shed.md").write_text(shed, "utf-8")
    sessions.invoke("update")
    assert "Tag it." in where("dddd0000")  # not what was left in another project


def test_what_a_session_stored_does_not_answer_what_was_done(sessions: SessionHome) -> None:
    """Statements of the user in a session come after notes, and are not likely, where a time is asked for."""
    sessions.end("aaaa0000", ("I prefer short commit messages.", "Noted."))
    [stored] = [path for path in sessions.kept() if "preference" in path]

    for question in (("what did I do", *DAY), ("what did I do on 1 March 2026?",)):
        found = ask_json(sessions.invoke, "query", *question, "--all")["results"]

        assert [one["confidence"] < LIKELY for one in found if one["path"] == stored] == [True]


def test_a_correction_replaces_a_decision_of_the_session(sessions: SessionHome) -> None:
    """Also one of an earlier turn, and one that had replaced the same words before."""
    answers = ["Let's use Postgres for the cart.", "Actually, let's use MySQL for the cart."]
    for answer in ("", "No, let's use Postgres for the cart.", answers[1]):
        answers += [answer] if answer else []
        sessions.end("aaaa0000", *((text, "Fine.") for text in answers))

        holds = sessions.invoke("profile").stdout.partition("## Lately")[0]
        bases = ["MySQL for the cart" in holds, "Postgres for the cart" in holds]
        assert bases == ["MySQL" in answers[-1], "Postgres" in answers[-1]]


def test_an_assistant_replaces_no_decision_of_the_user(sessions: SessionHome) -> None:
    """Of an earlier turn either; what it says instead is stored next to it."""
    turns = [("We decided to use Postgres for the cart.", "Fine.")]
    sessions.end("aaaa0000", *turns)
    sessions.end("aaaa0000", *turns, ("Go on.", "No, we decided not to use Postgres for the cart."))

    holds = sessions.invoke("profile").stdout.partition("## Lately")[0]
    assert "- We decided to use Postgres" in holds and "- No, we decided not to" in holds
    assert "(project /, _clawmem/" in holds
