"""The prompt that searches while the user types, and the one that answers line by line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from command_line import Invoke, ask_json
from typer.testing import CliRunner
from waiting import eventually

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.interfaces.cli.command_line import CommandLine, cli
from clawmem.app.settings.model import load_settings

REDIS, POSTGRES = "notes/decisions/2026-02-11-redis.md", "notes/decisions/2026-06-09-postgres.md"
DOWN, ESCAPE, ENTER, DELETE = "\x1b[B", "\x1b", "\r", "\x7f"


@contextmanager
def typing(steps: list[tuple[str, Callable[[str], bool]]]) -> Iterator[object]:
    """Yield a prompt; a thread types each text of *steps* when the prompt before it shows what it has to show."""
    toolkit = pytest.importorskip("prompt_toolkit")
    from prompt_toolkit.formatted_text import to_plain_text
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    from clawmem.app.interfaces.cli.live_search import LiveSearch

    failed: list[str] = []

    def type_all() -> None:
        for text, is_ready in steps:
            try:
                eventually(lambda ready=is_ready: live.is_settled and ready(to_plain_text(live._shown())))
            except (AssertionError, ValueError):
                failed.append(f"{text!r} after: {to_plain_text(live._shown())}")
                keys.send_text(ESCAPE)
                return
            keys.send_text(text)

    with (
        create_pipe_input() as keys,
        toolkit.application.create_app_session(input=keys, output=DummyOutput()),
        LiveSearch(lambda: open_services(load_settings(), read_only=True)) as live,
    ):
        user = Thread(target=type_all)
        user.start()
        yield live
        user.join()
    assert not failed, failed


def test_results_follow_the_text(remembered: Invoke) -> None:
    """Each change is searched for; Down and Enter open the second result, and nothing is recorded."""
    before = ask_json(remembered, "why")
    steps = [
        ("Haruka tickets", lambda shown: True),
        (DELETE * 14, lambda shown: "> notes/people/haruka.md" in shown),
        ("sessions", lambda shown: shown == ""),
        (DOWN, lambda shown: REDIS in shown and POSTGRES in shown),
        (ENTER, lambda shown: "> " in shown and not shown.startswith("> ")),
    ]
    with typing(steps) as live:
        chosen = live.run()

    assert chosen.file in (REDIS, POSTGRES)
    assert ask_json(remembered, "why") == before


def test_an_empty_prompt_ends(remembered: Invoke) -> None:
    """Enter without a result does nothing; Escape ends, also after a text that nothing answers."""
    steps = [(ENTER, lambda shown: True), ("football cup", lambda shown: shown == ""),
             (ESCAPE, lambda shown: "No confident answer" in shown)]  # fmt: skip
    with typing(steps) as live:
        assert live.run() is None


def test_line_by_line_without_the_library(remembered: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named on a terminal; a number opens that result, and an empty line ends."""
    opened: list[str] = []
    for name in {"prompt_toolkit", *(one for one in sys.modules if one.startswith("prompt_toolkit"))}:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "clawmem.app.interfaces.cli.live_search", raising=False)
    monkeypatch.setattr(
        "clawmem.app.interfaces.cli.prompting.edit_first", lambda ctx, chosen: opened.append(chosen[0].file)
    )

    in_a_pipe = CliRunner().invoke(cli, ["--json", "prompt"], input="ticket machines\n")
    monkeypatch.setattr("clawmem.app.interfaces.cli.dialogues.may_ask", lambda ctx: True)
    done = CliRunner().invoke(
        cli, ["prompt"], input="who designs ticket machines\n1\nfootball cup\n7\n\nunread\n"
    )

    assert done.exit_code == 0, done.output
    assert json.loads(in_a_pipe.stdout)["results"][0]["file"] == "notes/people/haruka.md"
    assert in_a_pipe.stderr == ""
    assert "pip install 'clawmem[prompt]'" in done.stderr
    assert "1  notes/people/haruka.md:" in done.stdout
    assert "No confident answer" in done.stdout
    assert "unread" not in done.stdout
    assert opened == ["notes/people/haruka.md"]


@pytest.mark.parametrize(("terminal", "vault", "words"), [
    (True, True, ["prompt"]), (True, False, ["--help"]), (False, True, ["--help"]),
])  # fmt: skip
def test_clawmem_alone(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    vault: bool,
    words: list[str],
) -> None:
    """It is the prompt on a terminal with a vault, and the list of commands in a pipe or without one."""
    request.getfixturevalue("remembered" if vault else "invoke")
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    given: list[list[str]] = []
    monkeypatch.setattr(
        "typer.core.TyperGroup.parse_args", lambda self, ctx, args: given.append(args) or args
    )

    CommandLine(name="clawmem").parse_args(None, [])

    assert given == [words]
