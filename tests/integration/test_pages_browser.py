"""The pages in the Chromium of the system: no report of the policy, no error, names, keys, contrast, live search."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import configure, write_notes
from command_process import run_process
from process_environ import process_environ
from rest_world import World
from server_process import serving

playwright = pytest.importorskip("playwright.sync_api", reason="make ui-test installs Playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: make ui-test installs it")

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "build" / "ui"
OLD, NEW = "notes/decisions/2026-04-02-quiet-room.md", "notes/progress/2026-10-05-quiet-room.md"
NOTES = {
    "decisions/2026-04-02-quiet-room.md": "# Quiet room\n\nThe quiet room on Spindle Street opens at nine in the morning. The key is at the front desk.\n",
    "progress/2026-10-05-quiet-room.md": "# Quiet room, from October\n\nHaruka asked for earlier hours: the quiet room on Spindle Street opens at half past seven.\n",
    "decisions/2026-05-05-badges.md": "# Badges for visitors\n\nVisitors get paper badges at the door.\n",
    "journal/2026-10-09.md": "# New badges\n\nWe reverse the decision on badges for visitors: no longer paper, but cards.\n",
    "people/visits.md": "---\nreview_by: 2026-09-01\ntags: [office]\n---\n# Visits\n\nAsk [[Nobody Known]] first.\n\n- [ ] Order the badges \U0001f4c5 2026-10-20\n",
}
PROMPT = "When does the quiet room on Spindle Street open?"
PLACES = {
    "home": "/",
    "search": "/search?q=how+long+is+a+booking+slot+held",
    "latest": "/search?tag=office",
    "note": f"/note?file={OLD}",
    "beside": f"/note?file={NEW}&beside={OLD}",
    "supersede": f"/supersede?file={OLD}",
    "prompts": "/prompts",
    "prompt": "/prompt?id=1",
    "timeline": "/timeline?at=2026",
    "inbox": "/inbox",
    "health": "/health",
    "graph": "/graph?file=notes/decisions/2026-06-09-postgres-sessions.md",
    "entity": "/graph?entity=Haruka+Mori",
    "start": "/graph",
    "nowhere": "/nowhere",
}
# The smallest contrast of any visible text with the ground that it stands on.
CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => { for (let e = element; e; e = e.parentElement) {
    const color = rgba(getComputedStyle(e).backgroundColor); if (color[3] === 255) return color; } return [255, 255, 255]; };
  let worst = [21, ""];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!text || element.closest("svg, option, [hidden]") || !element.offsetParent) continue;
    const [a, b] = [rgba(getComputedStyle(element).color), ground(element)].map(luminance).sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst[0]) worst = [ratio, `${element.tagName}.${element.className}: ${text.slice(0, 40)}`];
  }
  return worst;
}"""


@contextmanager
def served(home: Path, *commands: str, notes: bool = True) -> Iterator[World]:
    """The server of a vault with the example notes and some more, after *commands*."""
    if notes:
        shutil.copytree(ROOT / "examples" / "notes", home / "notes")
        write_notes(home / "notes", NOTES)
    environ = process_environ(home)
    for command in commands:
        run_process(*command.split(), environ=environ, cwd=home, check=True)
    with serving(environ, home, "--port", "0", "--no-watch") as server:
        yield World(home, environ, server)


def asked(world: World, prompt: str, session: str = "s1") -> str:
    event = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt}
    return json.dumps(world.post("/hooks/context-surfacing", **event)[1])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    commands = ("bootstrap notes", "maintain enrich", "maintain graph")
    with served(tmp_path_factory.mktemp("home"), *commands) as world:
        asked(world, PROMPT)
        asked(world, "Please rename this variable to total")
        yield world


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = started.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


def opened(chromium: Any, world: World, **options: Any) -> tuple[Any, list[str]]:
    """Return a page with a session, and the list to which it adds its errors."""
    page, errors = chromium.new_context(**options).new_page(), list[str]()
    page.on("console", lambda message: errors.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "request",
        lambda asked: errors.append(asked.url) if f":{world.server.port}/ui" not in asked.url else None,
    )
    entrance = json.loads(world.server.ask("POST", "/ui-address", {}).body)["path"]
    page.goto(f"http://127.0.0.1:{world.server.port}{entrance}")
    return page, errors


def goto(page: Any, world: World, path: str) -> None:
    page.goto(f"http://127.0.0.1:{world.server.port}/ui{path}")


def press(page: Any, key: str) -> None:
    """Press a key when the scripts of the page are loaded: before that it reads none."""
    page.wait_for_load_state()
    page.keyboard.press(key)


# `make ui-test` also takes the other pictures, and opens more pages.
@pytest.mark.parametrize(
    ("scheme", "width"),
    [("light", 1280), ("dark", 390), ("dark", 1280), ("light", 390)][: None if "UI_ALL" in os.environ else 1],
)
def test_pages_are_readable_and_report_nothing(chromium: Any, world: World, scheme: str, width: int) -> None:
    page, errors = opened(chromium, world, color_scheme=scheme, viewport={"width": width, "height": 850})
    SHOTS.mkdir(parents=True, exist_ok=True)
    for name, place in PLACES.items():
        goto(page, world, place)
        if name == "health":
            page.get_by_text("integrity check passed").wait_for()
            page.get_by_role("heading", name="Notes by month of writing").wait_for()
        if name in ("home", "inbox"):
            page.locator("[data-load] :is(.hints, .quiet, table)").first.wait_for()
        page.screenshot(path=SHOTS / f"{name}-{scheme}-{width}.png", full_page=True)
        assert not errors or name == "nowhere", (name, errors)
        assert page.title().endswith("clawmem")
        assert page.locator("h1").count() == page.get_by_role("main").count() == 1
        assert page.get_by_role("navigation", name="Pages").is_visible() or name == "nowhere"
        unnamed = page.locator("input:visible, select:visible, button:visible").evaluate_all(
            "all => all.filter(e => !(e.labels?.length || e.ariaLabel || e.innerText)).map(e => e.outerHTML)"
        )
        assert not unnamed, (name, unnamed)
        ratio, where = page.evaluate(CONTRAST)
        assert ratio >= 4.5, (name, ratio, where)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, (name, wide)


def test_search_follows_the_typing_and_keys_lead_to_a_note(chromium: Any, world: World) -> None:
    page, errors = opened(chromium, world)
    press(page, "/")
    page.keyboard.type("ticket machines")
    press(page, "Enter")
    page.wait_for_url("**/ui/search?q=ticket+machines")
    field = page.get_by_role("searchbox")
    field.fill("half past seven")
    page.wait_for_url("**/ui/search?q=half+past*")
    page.locator(".results li:first-child a", has_text="Quiet room, from October").wait_for()
    field.press("ArrowDown")
    press(page, "j")
    press(page, "k")
    press(page, "Enter")
    page.get_by_role("heading", name="Quiet room, from October", level=1).wait_for()
    press(page, "p")
    page.get_by_role("button", name="Unpin").wait_for()
    press(page, "u")
    page.get_by_role("button", name="Pin", exact=True).wait_for()
    press(page, "g")
    page.get_by_role("heading", name="Decisions that hold").wait_for()
    assert not errors


def test_the_inbox_works_by_keyboard(chromium: Any, tmp_path: Path) -> None:
    late = "---\nreview_by: 2020-01-0{0}\n---\n# Rota {0}\n\nRota of week {0}: {1}.\n"
    people = ("Haruka counts tickets", "Ann waters roses", "the harbour office closes early")
    write_notes(tmp_path / "notes", {f"rota{n}.md": late.format(n, people[n - 1]) for n in (1, 2, 3)})
    with served(tmp_path, "bootstrap notes", notes=False) as world:
        page, errors = opened(chromium, world)
        goto(page, world, "/inbox")
        titles = page.locator("#stale ~ table td:first-child a")
        assert titles.all_inner_texts() == ["Rota 1", "Rota 2", "Rota 3"]
        for key in ("j", "j", "a"):
            press(page, key)
        page.get_by_role("status").get_by_text("Archived: notes/rota2.md").wait_for()
        assert page.evaluate("document.activeElement.innerText") == "Rota 3"
        press(page, "s")
        page.get_by_text("snoozed until").wait_for()
        press(page, "u")
        page.get_by_text("Undone: snooze of notes/rota3.md").wait_for()
        assert not errors


def test_a_person_finds_out_why_the_agent_believes_something_and_corrects_it(
    chromium: Any, tmp_path: Path
) -> None:
    """The story of docs/ui.md."""
    with served(tmp_path, "bootstrap notes") as world:
        assert "nine in the morning" in asked(world, PROMPT)
        page, errors = opened(chromium, world)
        page.get_by_role("link", name="Prompts").click()
        page.get_by_role("link", name=PROMPT).click()
        received = page.get_by_role("article").filter(has_text="nine in the morning")
        received.get_by_text("why").click()
        received.get_by_role("heading", name="Terms of the score").wait_for()
        received.get_by_role("link", name="Quiet room", exact=True).click()
        page.get_by_role("link", name="Superseded by …").click()
        page.get_by_role("searchbox", name="The newer note").fill("half past seven")
        press(page, "Enter")
        page.get_by_role("row", name="Quiet room, from October").get_by_role(
            "button", name="This one"
        ).click()
        page.get_by_role("status").get_by_text(f"is superseded by {NEW}").wait_for()
        page.get_by_role("link", name="side by side").first.click()
        page.get_by_label("The other note").get_by_text("half past seven").wait_for()
        assert not errors
    with served(
        tmp_path, "update", notes=False
    ) as world:  # the files were read again, and the server is another
        block = asked(world, PROMPT, "s2")
        assert 0 < block.index("half past seven") < block.index("nine in the morning")
        assert f"superseded by {NEW}" in block
        page, errors = opened(chromium, world)
        goto(page, world, "/prompts")
        page.get_by_role("link", name=PROMPT).first.click()
        page.get_by_role("article").get_by_text("half past seven").wait_for()
        assert not errors


@pytest.mark.skipif("UI_ALL" not in os.environ, reason="make ui-test runs it")
@pytest.mark.parametrize("kind", ["empty", "without models"])
def test_every_page_of_a_vault_that_lacks_much(chromium: Any, tmp_path: Path, kind: str) -> None:
    command = "vault init" if kind == "empty" else "bootstrap --skip-embed notes"
    if kind == "without models":
        configure(tmp_path, "autoEmbed: false")
    with served(tmp_path, command, notes=kind != "empty") as world:
        page, errors = opened(chromium, world)
        SHOTS.mkdir(parents=True, exist_ok=True)
        for name in ("home", "search", "prompts", "timeline", "inbox", "health", "start"):
            goto(page, world, PLACES[name])
            page.wait_for_load_state("networkidle") if name in ("home", "health") else None
            page.screenshot(path=SHOTS / f"{name}-{kind.replace(' ', '-')}.png", full_page=True)
            assert page.locator("h1").count() == 1
            assert not errors, (name, errors)


def test_a_server_that_goes_and_a_session_that_ends(chromium: Any, tmp_path: Path) -> None:
    with served(tmp_path, "vault init", notes=False) as world:
        page, _ = opened(chromium, world)
        goto(page, world, "/search")
        page.context.clear_cookies()
        page.get_by_role("searchbox").fill("ticket")
        page.get_by_role("heading", name="Open it once more").wait_for()
        page, _ = opened(chromium, world)
        goto(page, world, "/search")
        world.server.end()
        page.get_by_role("searchbox").fill("ticket")
        page.get_by_role("alert").get_by_text("The server does not answer").wait_for()
        port = world.server.port
    with serving(world.environ, tmp_path, "--port", str(port), "--no-watch"):
        page.reload()
        page.get_by_role("heading", name="Open it once more").wait_for()


def test_the_first_tab_skips_to_the_content(chromium: Any, world: World) -> None:
    page, _ = opened(chromium, world)
    press(page, "Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    press(page, "Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_new_prompts_appear_and_everything_reads_without_scripts(chromium: Any, world: World) -> None:
    page, errors = opened(chromium, world)
    with page.expect_response("**/ui/events"):
        goto(page, world, "/prompts")
    page.wait_for_timeout(1500)
    asked(world, "Who rolls back the launch of version two?")
    page.get_by_text("Who rolls back the launch").wait_for()
    assert not errors
    plain, _ = opened(chromium, world, java_script_enabled=False)
    for place in (
        (*PLACES.values(), "/advice", "/inbox/corrections")
        if "UI_ALL" in os.environ
        else ("/", "/advice", "/prompt?id=1")
    ):
        goto(plain, world, place)
        assert plain.locator("h1").count() == 1
    goto(plain, world, "/health")
    plain.get_by_role("link", name="Show the findings").click()
    plain.get_by_text("integrity check passed").wait_for()
