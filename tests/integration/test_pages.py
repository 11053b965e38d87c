"""The pages of the server over HTTP: who gets in, what each shows, and what its forms change."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic

import pytest
from command_line import write_file, write_notes
from command_process import run_process
from page_world import Browser
from process_environ import process_environ
from rest_world import NOTES, POSTGRES, REDIS, World, world_at
from server_process import serving

HIDDEN = re.compile(r'type="hidden" name="([^"]*)" value="([^"]*)"')


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_at(tmp_path_factory.mktemp("home")) as served:
        yield served


@pytest.fixture(scope="module")
def browser(world: World) -> Browser:
    return Browser(world.server)


def test_an_address_works_once_and_leaves_a_strict_cookie(world: World, browser: Browser) -> None:
    again = world.server.ask("GET", browser.entrance, Authorization=None)

    assert again.status == 401
    assert "set-cookie" not in again.headers
    assert {"HttpOnly", "SameSite=strict", "Path=/ui"} <= {*browser.cookie.split("; ")}


def test_only_the_token_gets_an_address(world: World) -> None:
    assert world.server.ask("POST", "/ui-address", {}, Authorization=None).status == 401


def test_without_a_session_there_is_only_the_way_in(world: World) -> None:
    assert world.server.ask("GET", "/ui", Authorization=None).status == 307  # to /ui/
    for path in ("/ui/", "/ui/enter/guess", "/ui/nowhere"):
        heard = world.server.ask("GET", path, Authorization=None, Cookie="clawmem-1=x")
        assert heard.status == 401
        assert b"clawmem ui" in heard.body
        assert b"Redis" not in heard.body


def test_the_headers_keep_scripts_and_frames_of_others_out(browser: Browser) -> None:
    page = browser.get()
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))

    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["cache-control"] == "no-store"
    assert "access-control-allow-credentials" not in page.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),  # another program of this machine
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_other_places_get_nothing(browser: Browser, headers: dict[str, str], status: int) -> None:
    cookie = browser.cookie.partition(";")[0]
    heard = browser.server.ask("GET", "/ui/", **{"Authorization": None, "Cookie": cookie, **headers})

    assert heard.status == status


def test_the_session_opens_nothing_but_pages(browser: Browser) -> None:
    cookie = browser.cookie.partition(";")[0]

    assert browser.server.ask("GET", "/status", Authorization=None, Cookie=cookie).status == 401


def test_a_form_needs_the_secret_of_its_session(world: World, browser: Browser) -> None:
    fields = {"query": POSTGRES, "back": "/ui/"}
    for csrf in ("", "guess", Browser(world.server).get().csrf):
        assert browser.post("/act/memory_pin", csrf, **fields).status == 403
    csrf = browser.get().csrf
    for headers in ({"Origin": "http://localhost:3000"}, {"Content-Type": "text/plain"}):
        assert browser.post("/act/memory_pin", csrf, headers, **fields).status in (403, 415)

    assert browser.post("/act/repair", csrf, **fields).status == 404
    assert not world.cli("archive", "--status")["pinned"]


def test_a_session_can_be_ended(world: World) -> None:
    browser = Browser(world.server)

    assert browser.post("/leave", browser.get().csrf).status == 303
    assert browser.get().status == 401


def test_the_first_page_is_small_and_complete(browser: Browser) -> None:
    page = browser.get()

    assert page.status == 200
    assert len(page.text.encode()) < 50_000
    assert "Keep sessions in Redis" in page.text
    assert "Move sessions to Postgres" in page.text
    assert "http" not in page.text.replace("http-equiv", "")  # nothing comes from elsewhere


@pytest.mark.parametrize(
    "place",
    ["/", "/advice", "/inbox/corrections", "/health", "/health/findings", "/health/charts", "/search"],
)
def test_each_page_has_one_title(browser: Browser, place: str) -> None:
    assert browser.get(place).text.count("<h1") == 1


def test_search_shows_places_marks_and_reasons(browser: Browser) -> None:
    page = browser.get("/search", q="where do login sessions live", mode="words")

    assert f"{REDIS}:3" in page.text
    assert "Terms of the score" in page.text
    assert browser.get("/search", q="tickets", collection="nowhere").status == 404
    assert browser.get("/search", q="tickets", since="no day").status == 400
    assert "Haruka Mori" in browser.get("/search").text  # without a question: the latest notes
    decisions = browser.get("/search", content_type="decision").text
    assert POSTGRES in decisions
    assert "Haruka Mori" not in decisions
    assert "No note meets this" in browser.get("/search", until="2001-01-01").text
    assert browser.get("/search", q="tickets", where="project=nowhere").status == 404  # no note has a project


def test_what_is_typed_is_not_recorded_and_what_is_sent_is(world: World, browser: Browser) -> None:
    before = world.cli("status")["recalls"]

    typed = browser.get("/search", q="ticket machines", part="results", typed="yes").text
    assert "Haruka" in typed
    assert "<nav" not in typed
    assert world.cli("status")["recalls"] == before
    browser.get("/search", q="ticket machines")
    assert world.cli("status")["recalls"] == before + 1


def test_a_note_is_changed_and_that_is_undone(world: World, browser: Browser) -> None:
    place = "notes/people/haruka.md"
    csrf = browser.get("/note", file=place).csrf
    for action, fields, mark in (
        ("memory_pin", {}, "pinned</span>"),
        ("memory_snooze", {"until": "7d"}, "snoozed until"),
        ("make_private", {}, "private</span>"),
        ("supersede_note", {"newer": REDIS}, "superseded</span>"),
        ("lifecycle_archive", {}, "archived"),
    ):
        done = browser.post(f"/act/{action}", csrf, query=place, back=f"/ui/note?file={place}", **fields)
        assert (done.status, done.headers["location"]) == (303, f"/ui/note?file={place}")
        shown = browser.get("/note", file=place)
        assert mark in shown.text or shown.status in (400, 404)
        if shown.status == 200:
            [act] = re.findall(r'name="act" value="(\d+)"', shown.text)
        else:  # an archived note is not served
            act = str(world.cli("undo")["acts"][0]["id"])
        assert browser.post("/act/undo_act", csrf, act=act).status == 303
        assert mark not in browser.get("/note", file=place).text
    assert world.cli("undo", "-n", "1")["acts"][0]["by"] == "web"
    for unpin in ("false", "true"):  # the second time nothing changes, and an undo would undo something else
        for buttons in (1, 0):
            browser.post("/act/memory_pin", csrf, query=place, unpin=unpin)
            assert browser.get().text.count(">Undo ") == buttons


def test_a_person_chooses_what_supersedes_a_note_and_what_is_private(world: World, browser: Browser) -> None:
    """Decisions outlast a new reading of the files, hold for every interface, and can be taken back."""
    page = browser.get("/supersede", file=REDIS, q="one database")
    assert f'value="{POSTGRES}"' in page.text
    assert browser.get("/supersede", file=REDIS).text.count("This one") == 3
    browser.post("/act/supersede_note", page.csrf, query=REDIS, newer=POSTGRES)
    browser.post("/act/make_private", page.csrf, query=REDIS)
    (world.home / "notes/decisions/redis.md").write_text(NOTES["decisions/redis.md"] + "\nSince 2024.\n")
    world.cli("update")
    note = world.cli("get", REDIS)
    assert note["superseded_by"]["file"] == POSTGRES
    assert "Private" in note["context"]
    assert "side by side" in browser.get("/note", file=POSTGRES).text
    assert browser.post("/act/supersede_note", page.csrf, query=REDIS, newer=REDIS).status == 303
    assert "cannot supersede" in browser.get().text
    browser.post("/act/supersede_note", page.csrf, query=REDIS)
    browser.post("/act/make_private", page.csrf, query=REDIS, private="false")
    note = world.cli("get", REDIS)
    assert (note["superseded_by"], note["context"]) == (None, "")
    assert [act["act"] for act in world.cli("undo", "-n", "2")["acts"]] == ["public", "reinstate"]


@pytest.mark.parametrize(
    "back", ["//evil.example/", "https://evil.example", "/ui/\r\nX: y", "/status", "/ui/\\x"]
)
def test_a_form_leads_back_to_pages_alone(browser: Browser, back: str) -> None:
    done = browser.post("/act/memory_snooze", browser.get().csrf, query=REDIS, back=back)

    assert (done.status, done.headers["location"]) == (303, "/ui/")


def test_forgetting_shows_a_preview_asks_and_proves(tmp_path: Path) -> None:
    with world_at(tmp_path) as world:
        browser = Browser(world.server)
        note = browser.get("/note", file="notes/markup.md")
        docid = re.search(r"<code>(#\w+)</code>", note.text)[1]  # type: ignore[index]
        asked = browser.post("/act/memory_forget", note.csrf, query=docid)
        assert asked.status == 200
        assert "This would forget notes/markup.md" in asked.text
        assert browser.get("/note", file="notes/markup.md").status == 200

        fields = {unescape(name): unescape(text) for name, text in HIDDEN.findall(asked.text)}
        fields.pop("csrf")
        assert browser.post("/act/memory_forget", note.csrf, **fields, prove="true").status == 303
        pages = [
            browser.get(),
            browser.get(),
            browser.get("/note", file="notes/markup.md"),
            browser.get("/timeline"),
        ]
        assert "The note is forgotten" in pages[0].text
        assert [page.status for page in pages] == [200, 200, 404, 200]
        assert not any("markup.md" in page.text for page in pages)


def test_a_prompt_shows_what_it_received_and_becomes_a_case(world: World, browser: Browser) -> None:
    prompt = "Where do login sessions live, in Redis or in Postgres?"
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": prompt}
    world.post("/hooks/context-surfacing", **event)
    world.post("/hooks/context-surfacing", **event | {"prompt": "Please rename this variable to total"})
    reminder = world.cli("remember", "Tell Haruka first.", "--when", "dentist")["file"]
    world.post("/hooks/context-surfacing", **event | {"prompt": "Who books dentists?", "session_id": ""})
    world.post("/hooks/context-surfacing", **event | {"prompt": "Book the dentist for Tuesday at nine"})

    listed = browser.get("/prompts").text
    assert prompt in listed and "Who books dentists?" not in listed  # a preview is of no session
    reminded = re.search(
        r"/ui/prompt\?id=(\d+)[^>]*>Book the dentist.*?<td[^>]*>1 note</td>", listed, re.DOTALL
    )
    assert reminder in browser.get("/prompt", id=reminded[1]).text  # type: ignore[index]
    assert "nothing</span>" in listed
    number = re.search(r"/ui/prompt\?id=(\d+)[^>]*>Where do login", listed)[1]  # type: ignore[index]
    page = browser.get("/prompt", id=number)
    assert POSTGRES in page.text
    assert "sessions left Redis." in page.text
    for file, wanted in ((POSTGRES, "true"), ("notes/people/haruka.md", "true"), (REDIS, "false")):
        assert (
            browser.post("/act/add_own_case", page.csrf, prompt=prompt, file=file, wanted=wanted).status
            == 303
        )
    cases = world.cli("bench", "own")["cases"]
    assert [case["holds"] for case in cases[:2]] == [True, False]
    assert cases[2]["file"] == REDIS


def test_the_inbox_offers_what_a_person_decides(tmp_path: Path) -> None:
    text = "confidence: 0.2\n---\n# Draft about tickets\n\nThe ticket machine counts every printed ticket twice a day.\n"
    copy = text.replace("# Draft", "# Old draft")
    late = "---\nreview_by: 2020-01-02\n---\n# Rota\n\nSee [[Nobody]].\n"
    hours = "---\ndate: 2026-01-02\n---\n# Hours of the kiosk\n\nThe kiosk on the quay opens at nine.\n"
    later = "---\ndate: 2026-02-03\n---\n# The kiosk\n\nWe reverse the hours of the kiosk: it no longer opens at nine but at eight.\n"
    notes = {"a.md": f"---\n{text}", "b.md": f"---\n{copy}", "late.md": late}
    write_notes(tmp_path / "notes", {**notes, "decisions/hours.md": hours, "later.md": later})
    with world_at(tmp_path) as world:
        browser = Browser(world.server)
        page = browser.get("/inbox")
        assert "2020-01-02" in page.text
        assert "<code>Nobody</code>" in page.text
        assert "Notes that repeat another" in page.text
        corrections = browser.get("/inbox/corrections").text
        assert "notes/decisions/hours.md" in corrections
        assert 'name="newer" value="notes/later.md"' in corrections
        assert (
            browser.post("/act/lifecycle_archive", page.csrf, query="notes/late.md", why="old").status == 303
        )
        assert "2020-01-02" not in browser.get("/inbox").text


def test_tasks_show_their_days_and_no_sign(tmp_path: Path) -> None:
    tasks = "- [ ] Pay \N{SPIRAL CALENDAR PAD}\N{VARIATION SELECTOR-16} 2020-01-03\n- [ ] Call [due:: 2020-01-04]\n"
    tasks = "- [ ] Look\n" * 12 + tasks
    write_notes(tmp_path / "notes", {"tasks.md": f"# Tasks\n\n{tasks}"})
    with world_at(tmp_path) as world:
        page = Browser(world.server).get().text
        assert "All 14 open tasks" in page and "Written last" in page  # the folder may be a copy of today
        write_notes(tmp_path / "notes", {"new.md": "Painted.\n"})
        world.cli("update")
        assert "This week" in Browser(world.server).get().text
        assert Browser(world.server).get(tasks="all").text.count(">Look</a>") == 12
        assert re.findall(r"#L\d+\">(\w+)</a>\s*<time class=\"due late\" datetime=\"([\d-]+)", page) == [
            ("Pay", "2020-01-03"),
            ("Call", "2020-01-04"),
        ]


def test_health_shows_findings_and_charts_and_makes_vectors(world: World, browser: Browser) -> None:
    page = browser.get("/health")
    assert "sqlite-vec" in page.text
    assert "integrity check passed" in browser.get("/health/findings").text
    assert "Notes by month of writing" in browser.get("/health/charts").text
    done = browser.post("/act/embed", page.csrf, back="/ui/health")
    assert (done.status, done.headers["location"]) == (303, "/ui/health")
    assert 'role="status"' in browser.get("/health").text


def test_the_graph_draws_notes_names_and_facts(browser: Browser) -> None:
    note = browser.get("/graph", file=REDIS)
    assert re.search(r"<title>Keep sessions in Redis led to Move sessions to Postgres</title>", note.text)
    assert '<td class="quiet word">names</td>' in note.text
    entity = browser.get("/graph", entity="Postgres")
    assert "Postgres replaced Redis" in entity.text
    assert "Postgres replaced Redis" not in browser.get("/graph", entity="Postgres", as_of="2025-01-01").text
    assert browser.get("/graph", entity="nobody at all").status == 404
    assert "Begin with a note" in browser.get("/graph").text


def test_the_timeline_leads_from_years_to_a_day(browser: Browser) -> None:
    periods = [""]
    while len(periods) < 4:
        page = browser.get("/timeline", at=periods[-1])
        periods += re.findall(r'href="/ui/timeline\?at=([\d-]+)" aria-label', page.text)[-1:]
    assert [len(period) for period in periods] == [0, 4, 7, 10]
    assert "Haruka Mori" in browser.get("/timeline", at=periods[-1]).text
    assert browser.get("/timeline", at="2026'").status == 400


def test_open_streams_of_events_do_not_delay_the_end_of_the_server(tmp_path: Path) -> None:
    with world_at(tmp_path) as world:
        browser = Browser(world.server)
        stream = HTTPConnection("127.0.0.1", world.server.port, timeout=20)
        stream.request("GET", "/ui/events", headers={"Cookie": browser.cookie.partition(";")[0]})
        events = stream.getresponse()
        assert events.readline() == b"retry: 2000\n"
        browser.get("/search", q="tickets")
        assert next(line for line in events if line.startswith(b"data"))

        began = monotonic()
        world.server.end()
        assert monotonic() - began < 6
        stream.close()


def test_an_empty_vault_says_how_to_begin(tmp_path: Path) -> None:
    environ = process_environ(tmp_path)
    run_process("vault", "init", environ=environ, cwd=tmp_path, check=True)
    with serving(environ, tmp_path) as server:
        browser = Browser(server)
        assert "clawmem bootstrap ~/notes" in browser.get().text
        assert "clawmem setup hooks" in browser.get("/prompts").text
        assert "None is known yet" in browser.get("/graph").text
        assert "Nothing waits for you" in browser.get("/inbox").text
        assert browser.get("/health").status == browser.get("/health/charts").status == 200
        assert "Nothing was written then" in browser.get("/timeline").text


@pytest.mark.slow
def test_30_000_notes_take_little_of_the_processor(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    words = "harbour ticket queue garden invoice session printer bridge lamp contract river rota".split()
    for number in range(30_000):
        chosen = " ".join(words[number // 12**place % 12] for place in range(4))
        body = f"# Note {number} on {chosen}\n\nThe {chosen} was moved on day {number}.\n\n- [ ] Look at {number}\n"
        write_file(
            tmp_path / f"notes/{number % 97}/{number}.md", f"---\ndate: 20{number % 25:02}-03-04\n---\n{body}"
        )
    environ = process_environ(tmp_path)
    run_process("bootstrap", "notes", environ=environ, cwd=tmp_path, check=True, timeout=1800)
    with serving(environ, tmp_path, "--port", "0", "--no-watch") as server:
        browser = Browser(server)

        def spent(path: str, *questions: str) -> float:
            """Return the milliseconds of the processor for one page, the first of which is not counted."""
            started = 0.0
            for question in ("", *questions):
                browser.get(path, **({"q": question} if question else {}))
                stat = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
                started = started or float(sum(map(int, stat[11:13])))
                ended = float(sum(map(int, stat[11:13])))
            return (ended - started) * 1000 / os.sysconf("SC_CLK_TCK") / len(questions)

        first_page = spent("/", *[""] * 20)
        search = spent("/search", *(f"who moved the {word} in spring" for word in words))
        record_property("milliseconds", {"first page": first_page, "search": search})
        assert first_page < 60
        assert search < 300


def test_the_command_prints_an_address_that_works(world: World) -> None:
    record = json.loads(run_process("ui", "--print", "--json", environ=world.environ, cwd=world.home).stdout)
    _, _, path = record["url"].partition(f":{world.server.port}")

    assert not record["opened"]
    assert world.server.ask("GET", path, Authorization=None).status == 303
