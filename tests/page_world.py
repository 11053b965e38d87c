"""A browser without a window: it enters the pages of a server by their one-time address, and fills in their forms."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import NamedTuple
from urllib.parse import urlencode

from server_process import Heard, ServerProcess


class Page(NamedTuple):
    """A page as a browser gets it."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def csrf(self) -> str:
        return unescape(re.search(r'name="csrf" value="([^"]*)"', self.text)[1])  # type: ignore[index]


class Browser:
    """A browser with the session of a one-time address."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.entrance = json.loads(server.ask("POST", "/ui-address", {}).body)["path"]
        entered = server.ask("GET", self.entrance, Authorization=None)
        assert (entered.status, entered.headers["location"]) == (303, "/ui/")
        self.cookie = entered.headers["set-cookie"]

    def get(self, path: str = "/", **query: object) -> Page:
        place = f"/ui{path}" + (f"?{urlencode(query)}" if query else "")
        return _page(self.server.ask("GET", place, Authorization=None, Cookie=self.cookie.partition(";")[0]))

    def post(self, path: str, csrf: str, headers: dict[str, str | None] | None = None, **fields: str) -> Page:
        usual = {"Authorization": None, "Cookie": self.cookie.partition(";")[0]}
        usual |= {"Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode({"csrf": csrf, **fields}).encode()
        return _page(self.server.ask("POST", f"/ui{path}", body, **{**usual, **(headers or {})}))


def _page(heard: Heard) -> Page:
    return Page(heard.status, heard.headers, heard.body.decode())
