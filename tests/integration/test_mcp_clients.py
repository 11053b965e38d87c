"""What richer clients of the protocol offer: a question to the user, and a place for a page."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult
from mcp_home import POSTGRES, QUESTION, REDIS, Home, bootstrapped_home, over_http, text_of
from server_process import serving

from clawmem.app.interfaces.mcp.server import CODE, RESULTS_PAGE, MemoryServer
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.settings.model import load_settings

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return bootstrapped_home(tmp_path / "home")


@pytest.fixture
def memory(home: Home) -> MemoryServer:
    return MemoryServer(Dispatcher(lambda: load_settings(environ=home.environ)))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_user_confirms_what_is_forgotten(memory: MemoryServer, mode: Any) -> None:
    """A client that asks its user does so, whatever the model says; without a yes nothing is forgotten."""
    questions: list[str] = []

    async def session() -> None:
        async def answer(context: Any, params: Any) -> ElicitResult:
            questions.append(params.message)
            return ElicitResult(action=("decline", "cancel", "accept")[len(questions) - 1], content={})

        async with Client(memory, mode=mode, elicitation_callback=answer) as client:
            docid = (await client.call_tool("get", {"file": REDIS})).structured_content["docid"]
            arguments = {"query": docid, "confirm": True}
            for _ in range(2):
                refused = await client.call_tool("memory_forget", arguments)
                assert (refused.is_error, refused.meta[CODE]) == (True, "CONFIRMATION_REQUIRED")
                assert text_of(refused) == "The user declined. Nothing was changed."
            preview = await client.call_tool("memory_forget", {"query": REDIS, "confirm": False})
            assert "This would forget" in text_of(preview) and len(questions) == 2
            assert "forgotten" in text_of(await client.call_tool("memory_forget", {"query": REDIS}))
            assert "already forgotten" in text_of(await client.call_tool("memory_forget", {"query": docid}))
        async with Client(memory, mode=mode) as client:  # one that cannot ask
            refused = await client.call_tool("memory_forget", {"query": POSTGRES})
            assert 'To forget it, repeat with query: "#' in text_of(refused)

    asyncio.run(session())
    assert len(questions) == 3
    assert questions[0].startswith(f"This would forget {REDIS} (#")


def test_the_user_confirms_over_http(home: Home) -> None:
    """An answer is one to the question that was asked: another note needs another one."""

    async def answer(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="decline")

    async def session(server: Any) -> None:
        async with over_http(server, "", elicitation_callback=answer) as client:

            async def forget(query: str, **answers: Any) -> Any:
                return await client.session.call_tool(
                    "memory_forget", {"query": query}, allow_input_required=True, **answers
                )

            [name] = (await forget(REDIS)).input_requests
            yes = {name: ElicitResult(action="accept", content={})}
            assert name not in (await forget(POSTGRES, input_responses=yes)).input_requests
            assert "forgotten" in text_of(await forget(REDIS, input_responses=yes))

    with serving(home.environ, home.folder) as server:
        asyncio.run(session(server))


HOST = """<iframe sandbox="allow-scripts"></iframe><script>
  const frame = document.querySelector("iframe"), sent = [];
  const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const report = (params) => post({ method: "ui/notifications/tool-result", params });
  addEventListener("message", ({ data }) => {
    sent.push(data);
    if (data.method === "ui/initialize") post({ id: data.id, result: { hostContext: { theme: "dark" } } });
  });
  frame.srcdoc = HTML;
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: make ui-test installs it")
def test_a_page_shows_what_a_search_found(memory: MemoryServer) -> None:
    """In a host, it shows the result of the real tool as text; it loads nothing, and runs nothing of a note."""
    playwright = pytest.importorskip("playwright.sync_api", reason="make ui-test installs Playwright")

    async def read() -> tuple[str, dict[str, Any]]:
        async with Client(memory) as client:
            tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
            assert tools["query"] == tools["memory_retrieve"] == {"ui": {"resourceUri": RESULTS_PAGE}}
            assert tools["status"] is None
            [content] = (await client.read_resource(RESULTS_PAGE)).contents
            assert content.mime_type == "text/html;profile=mcp-app"
            result = await client.call_tool("query", QUESTION)
            return content.text, json.loads(result.model_dump_json(by_alias=True, exclude_none=True))

    html, result = asyncio.run(read())
    attack = "<img src=x onerror=\"parent.postMessage('run', '*')\"><script>alert(1)</script>"
    found = result["structuredContent"]["results"]
    found[0] |= {"title": attack, "snippet": attack}
    refusal = {"isError": True, "content": [{"type": "text", "text": "There is no <b>collection</b>."}]}
    with playwright.sync_playwright() as started:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = started.chromium.launch(executable_path=CHROMIUM, args=options)
        page, errors = browser.new_page(), list[str]()
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: errors.append(request.url))
        page.set_content(HOST.replace("HTML", json.dumps(html).replace("<", "\\u003c")))
        page.wait_for_function("sent.some((message) => message.method === 'ui/notifications/initialized')")
        body = page.frame_locator("iframe").locator("body")
        page.evaluate("(result) => report(result)", result)
        body.get_by_role("heading", name=QUESTION["query"]).wait_for()
        items = body.get_by_role("listitem").all_inner_texts()
        assert len(items) == len(found)
        assert items[0].count(attack) == 2 and found[0]["file"] in items[0]
        assert body.locator("img").count() == 0
        assert body.evaluate("() => getComputedStyle(document.body).colorScheme") == "dark"
        page.evaluate("(result) => report(result)", refusal)
        body.get_by_text("There is no <b>collection</b>.").wait_for()
        page.evaluate("() => post({ id: 7, method: 'ui/resource-teardown', params: {} })")
        page.wait_for_function("sent.some((message) => message.id === 7 && message.result)")
        sent = page.evaluate("() => sent")
        assert "run" not in sent
        assert "ui/notifications/size-changed" in {message.get("method") for message in sent}
        assert errors == []
        browser.close()
