"""The pages of the server over HTTP: who gets in, what each shows, and what its forms change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_process import run_process
from page_world import Browser
from process_environ import process_environ
from rest_world import POSTGRES, World, world_at
from server_process import serving


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

    assert browser.post("/act/rebuild", csrf, **fields).status == 404
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


def test_an_empty_vault_says_how_to_begin(tmp_path: Path) -> None:
    environ = process_environ(tmp_path)
    run_process("vault", "init", environ=environ, cwd=tmp_path, check=True)
    with serving(environ, tmp_path) as server:
        browser = Browser(server)
        assert "clawmem bootstrap ~/notes" in browser.get().text


def test_the_command_prints_an_address_that_works(world: World) -> None:
    record = json.loads(run_process("ui", "--print", "--json", environ=world.environ, cwd=world.home).stdout)
    _, _, path = record["url"].partition(f":{world.server.port}")

    assert not record["opened"]
    assert world.server.ask("GET", path, Authorization=None).status == 303
