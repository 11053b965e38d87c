"""The prompt of prompt_toolkit that searches while the user types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText, merge_formatted_text
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VSplit, Window

from clawmem.app.interfaces.cli.prompting import answer_to
from clawmem.app.operations.answer_text import NO_CONFIDENT_ANSWER, is_unlikely, result_parts
from clawmem.app.operations.output import as_lines, printable
from clawmem.ports.errors import ClawmemError

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.operations.answers import FoundDocument, SearchAnswer

PROMPT = "search: "
KEYS = "Up, Down: choose   Enter: open in the editor   Escape: end"


class LiveSearch:
    """
    A prompt with the results of the text so far.

    One thread opens the vault and searches; a text that the user has already changed is not searched for.
    """

    def __init__(self, open_vault: Callable[[], AbstractContextManager[Services]]) -> None:
        self._open_vault = open_vault
        self._searcher = ThreadPoolExecutor(1, thread_name_prefix="prompt")
        self._services: Services | None = None
        self._closing = ExitStack()
        self._text = self._answered = ""
        self._results: Sequence[FoundDocument] = ()
        self._remark = ""
        self._chosen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._searcher.submit(self._closing.close)
        self._searcher.shutdown(cancel_futures=False)

    def run(self) -> FoundDocument | None:
        """Show the prompt; return the result that the user opens, or ``None`` at the end."""
        buffer = Buffer(
            multiline=False, on_text_changed=lambda changed: self._search(application, changed.text)
        )
        field = VSplit(
            [Window(FormattedTextControl(PROMPT), width=len(PROMPT)), Window(BufferControl(buffer))]
        )
        results = Window(FormattedTextControl(self._shown), wrap_lines=True)
        keys = Window(FormattedTextControl([("class:bottom-toolbar", KEYS)]), height=1)
        application: Application[FoundDocument | None] = Application(
            Layout(HSplit([field, results, keys])), key_bindings=self._bindings(), erase_when_done=True
        )
        application.ttimeoutlen = 0.05  # Escape alone ends without a noticeable delay
        buffer.insert_text(self._text)
        return application.run()

    @property
    def is_settled(self) -> bool:
        """Whether the results are those of the text so far."""
        return self._answered == self._text

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        @bindings.add("escape", eager=True)
        @bindings.add("c-c")
        @bindings.add("c-d")
        def _end(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        @bindings.add("enter")
        def _open(event: KeyPressEvent) -> None:
            if self._results:
                event.app.exit(result=self._results[min(self._chosen, len(self._results) - 1)])

        @bindings.add("up")
        def _before(event: KeyPressEvent) -> None:
            self._chosen = max(self._chosen - 1, 0)

        @bindings.add("down")
        def _after(event: KeyPressEvent) -> None:
            self._chosen = max(min(self._chosen + 1, len(self._results) - 1), 0)

        return bindings

    def _search(self, application: Application[FoundDocument | None], text: str) -> None:
        """Search for *text* in the thread, and redraw."""
        self._text = text

        def find() -> None:
            if text != self._text:
                return
            try:
                answer = answer_to(self._opened(), text) if text.strip() else None
            except ClawmemError as error:
                answer, self._remark = None, printable(str(error))
            else:
                self._remark = _remark(answer)
            self._results, self._chosen = answer.results if answer else (), 0
            self._answered = text
            application.invalidate()

        self._searcher.submit(find)

    def _opened(self) -> Services:
        if self._services is None:
            self._services = self._closing.enter_context(self._open_vault())
        return self._services

    def _shown(self) -> AnyFormattedText:
        lines: list[AnyFormattedText] = [f"{self._remark}\n"] if self._remark else []
        for number, result in enumerate(self._results):
            mark = "> " if number == self._chosen else "  "
            text = as_lines(result_parts(result)).rstrip().replace("\n", f"\n{mark}")
            lines.append(ANSI(f"{mark}{text}\n\n"))
        return merge_formatted_text(lines)


def _remark(answer: SearchAnswer | None) -> str:
    if answer is None:
        return ""
    if not answer.results:
        return "Nothing found."
    return NO_CONFIDENT_ANSWER if is_unlikely(answer) else ""
