"""What everyday prompts of a coding agent carry, over the example notes and the owner's notes; through the hook."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import write_notes

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.hooks.handlers import HookContext, context_surfacing
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.settings.model import Settings
from clawmem.domain.text.words import token_count

TESTS = Path(__file__).parents[1]
NOTES = {"examples": TESTS.parent / "examples/notes", "ownervault": TESTS / "data/ownervault"}
PROMPTS = [json.loads(line) for line in (TESTS / "data/coding_prompts.jsonl").read_text("utf-8").splitlines()]
LEAST_SILENT, LEAST_NAMED = 0.92, 0.9
ALL = pytest.mark.slow
PROFILES = pytest.mark.parametrize(  # and of how many prompts one is asked
    ("profile", "every"),
    [
        ("balanced", 2),
        ("speed", 4),
        *(pytest.param(profile, 1, marks=ALL) for profile in ("balanced", "speed")),
    ],
)

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Call the hook over one of the vaults, open all the time: its name, a prompt, a session, and further variables."""
    home, opened = tmp_path_factory.mktemp("home"), dict[str, Services]()
    (home / "config.yaml").write_text("profile: balanced\n", "utf-8")

    def called(vault: str, prompt: str, session: str = "", **variables: str) -> str:
        places = dict.fromkeys(("HOME", "CLAWMEM_CONFIG_DIR", "XDG_CACHE_HOME"), str(home))
        environ = {"INDEX_PATH": str(home / f"{vault}.sqlite"), **places, **variables}
        here = HookContext(environ, services=partial(nullcontext, opened[vault]))
        return context_surfacing(HookEvent("UserPromptSubmit", session, prompt=prompt), here)

    with ExitStack() as stack:
        for name, folder in NOTES.items():
            places = {"vault": home / f"{name}.sqlite", "config_file": home / "config.yaml"}
            settings = Settings.model_validate({**places, "embedder": "static"})
            with open_services(settings) as services:
                services.update(Folder("notes", str(folder)))
                services.embed()
            opened[name] = stack.enter_context(open_services(settings, read_only=True))
        yield called


def names_gold(block: str, prompt: dict[str, Any]) -> bool:
    """Whether *block* shows one of the notes that answer *prompt*."""
    return any(f" notes/{path}:" in block for path in prompt["gold"])


class TestTheDevelopmentPrompts:
    """Those of the half "report" were not fitted on."""

    @PROFILES
    def test_silence_where_nothing_answers(self, ask: Ask, profile: str, every: int) -> None:
        """At least 92 of 100 carry nothing."""
        silent = [one for one in PROMPTS if not one["gold"]][::every]

        loud = [one for one in silent if ask(one["vault"], one["prompt"], CLAWMEM_PROFILE=profile)]

        assert 1 - len(loud) / len(silent) >= LEAST_SILENT, [one["prompt"] for one in loud]

    @PROFILES
    def test_identifiers_are_answered(self, ask: Ask, profile: str, every: int) -> None:
        """At least 90 of 100 prompts with an identifier of the notes show a note that holds it."""
        named = [one for one in PROMPTS if one["kind"] == "identifier"][::every]

        missed = [
            one
            for one in named
            if not names_gold(ask(one["vault"], one["prompt"], CLAWMEM_PROFILE=profile), one)
        ]

        assert 1 - len(missed) / len(named) >= LEAST_NAMED, [one["prompt"] for one in missed]

    @pytest.mark.parametrize("every", [2, pytest.param(1, marks=ALL)])
    def test_most_names_lookups_and_questions_are_answered(self, ask: Ask, every: int) -> None:
        """At least 85 of 100."""
        others = [one for one in PROMPTS if one["gold"] and one["kind"] != "identifier"][::every]

        missed = [one for one in others if not names_gold(ask(one["vault"], one["prompt"]), one)]

        assert len(missed) / len(others) <= 0.15, [one["prompt"] for one in missed]


@pytest.mark.parametrize("prompt", ["which airline did we book?", "send an email with python"])
def test_what_is_hardly_an_answer_is_short(ask: Ask, prompt: str) -> None:
    """A block has four fifths of the tokens where no note is likely to answer."""
    assert token_count(ask("examples", prompt)) <= 640


def test_the_question_of_a_long_prompt(ask: Ask) -> None:
    """It is found before and after a log, a picture and in quotation marks; the error in the log, if it names no topic."""
    log = "\n".join(
        f"2026-11-30T10:{n:04} worker[{n}]: processed job {n} in 4 ms status=200" for n in range(300)
    )
    question, path = "How many days do login sessions live?", "decisions/2026-06-09-postgres-sessions.md"
    picture = f"![](data:image/png;base64,{'iVBORw0K' * 9000}) {question}"
    marked = f'"{question}"', f"„{question}“"
    for prompt in (f"{log}\n\n{question}", f"{question}\n```\n{log}\n```", *marked, picture):
        assert ask("examples", prompt).split(" notes/", 2)[1].startswith(path)
    error = (
        f"{log}\nredis.exceptions.ConnectionError: login sessions_lost after restart\n\nwhy does this fail?"
    )
    assert "sessions.md" in ask("examples", error)


def test_a_request_for_any_list_or_string_is_no_question(ask: Ask) -> None:
    assert not ask("examples", "reverse a linked list in python")


def test_the_note_that_a_prompt_means_comes_first(ask: Ask) -> None:
    """A former version, if the prompt asks for it."""
    block = ask("ownervault", "what dose of blood pressure medicine did Mama take before her fall?")
    assert block.split(" notes/", 2)[1].startswith("home/family/mama-medicine-2025.md:")


def test_small_vaults_of_a_person_are_silent(tmp_path: Path) -> None:
    """Ten unrelated lines each, in four voices: 90 of 100 everyday prompts carry none; half of what a line answers does."""
    *people, everyday = (TESTS / "data/everyday_vaults.txt").read_text("utf-8").split("\n= ")[1:]
    prompts = [line[2:] for line in everyday.splitlines() if line.startswith("! ")]
    places = dict.fromkeys(("HOME", "CLAWMEM_CONFIG_DIR", "XDG_CACHE_HOME"), str(tmp_path))
    loud, found = list[str](), list[bool]()
    (tmp_path / "config.yaml").write_text("telemetry: off\nembedder: static\n", "utf-8")
    for number, person in enumerate(people):
        memories = [line[2:] for line in person.splitlines() if line.startswith("- ")]
        write_notes(
            tmp_path / str(number), {f"{place}.md": text for place, text in enumerate(memories, start=1)}
        )
        vault = tmp_path / f"{number}.sqlite"
        settings = {"vault": vault, "config_file": tmp_path / "config.yaml", "embedder": "static"}
        with open_services(Settings.model_validate(settings)) as services:
            services.update(Folder("notes", str(tmp_path / str(number))))
            services.embed()
            environ = {"INDEX_PATH": str(vault), **places}
            context = HookContext(environ, services=partial(nullcontext, services))
            for prompt in prompts[number % 2 :: 2]:
                if context_surfacing(HookEvent("UserPromptSubmit", prompt=prompt), context):
                    loud.append(f"{number}: {prompt}")
            for line in (line for line in person.splitlines() if line.startswith("? ")):
                prompt, place = line[2:].split(" > ")
                block = context_surfacing(HookEvent("UserPromptSubmit", prompt=prompt), context)
                found.append(memories[int(place) - 1] in block)

    assert (len(people), len(prompts), len(found)) == (4, 40, 8)
    assert len(loud) <= 0.1 * len(people) * len(prompts) / 2, loud
    assert sum(found) >= 4, found


class TestASession:
    """Two prompts in a row."""

    FIRST = "How long is a booking slot held during checkout?"

    @pytest.mark.parametrize(
        ("vault", "first", "then"),
        [
            ("examples", FIRST, "where do we keep login sessions these days?"),
            ("examples", FIRST, "auth_session"),
            (
                "ownervault",
                "Where are backups written to these days?",
                "who repaired the shower and what did it cost?",
            ),
            ("ownervault", "Where is the boat moored now?", "¿Para qué cueva quiere Amparo más sondas?"),
            (
                "ownervault",
                "Where is the boat moored now?",
                "Welche Feuchte will Zeller im ersten Keller mindestens haben?",
            ),
        ],
    )
    def test_a_self_contained_question_is_answered_as_in_a_fresh_session(
        self, ask: Ask, vault: str, first: str, then: str
    ) -> None:
        """The block is the same, whatever was asked before."""
        session = f"one {hash((vault, first, then))}"

        assert ask(vault, first, session)
        after = ask(vault, then, session)

        assert after == ask(vault, then, f"fresh {session}")
        assert after

    def test_a_question_that_depends_on_the_one_before(self, ask: Ask) -> None:
        """It finds nothing by itself, and what was shown for the one before it is not shown again."""
        before = ask("ownervault", "Where do the nightly backups of the servers go?", "two")
        after = ask("ownervault", "and who else?", "two")

        assert ask("ownervault", "and who else?", "two fresh") == ""
        assert "decisions/2026-02-17-backup-storage-box.md" in before
        texts = {
            line for line in before.splitlines() if line and not line.startswith(("<", "**", "-", ".", "|"))
        }
        assert not texts & set(after.splitlines())
