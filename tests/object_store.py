"""An object store on loopback that answers, hangs, fails or is gone; skips what needs it where moto is missing."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest


class ObjectStore:
    """A server that speaks S3, while it is in the mood."""

    def __init__(self) -> None:
        moto = pytest.importorskip("moto.server", reason="needs an S3 server: pip install 'moto[server]'")
        self._store = moto.DomainDispatcherApplication(moto.create_backend_app)
        self._port = 0
        self._hold = Event()
        self.mood = "refusing"
        self.be("open")

    def be(self, mood: str) -> None:
        """Be ``open``, ``failing`` with an error of the server, ``hanging`` without a word, or ``refusing`` to listen."""
        was, self.mood = self.mood, mood
        if mood == "hanging":
            self._hold.clear()
        else:
            self._hold.set()
        if mood == "refusing" and was != mood:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
        elif was == "refusing" and was != mood:
            self._listen()

    def options(self, timeout: str = "30s") -> dict[str, str]:
        """Return the options of an index in a bucket of its own."""
        bucket = uuid4().hex  # the store is one for the whole process
        urlopen(Request(f"http://127.0.0.1:{self._port}/{bucket}", method="PUT")).close()
        return {
            "uri": f"s3://{bucket}/indexes",
            "endpoint": f"http://127.0.0.1:{self._port}",
            "region": "us-east-1",
            "access_key_id": "anyone",
            "secret_access_key": "anything",
            "timeout": timeout,
        }

    def _listen(self) -> None:
        from werkzeug.serving import make_server

        self._server = make_server("127.0.0.1", self._port, self._answer, threaded=True)
        self._server.daemon_threads = True
        self._port = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def _answer(self, environ: dict[str, Any], start: Callable[..., object]) -> Any:
        if self.mood == "hanging":
            self._hold.wait(60)
        if self.mood == "open":
            return self._store(environ, start)
        start("500 Internal Server Error", [("Content-Length", "0")])
        return [b""]
