"""Run ``clawmem`` in a child of the fork server whose socket is the first argument, with the streams of this process."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys

STATUS = struct.Struct("i")


def main() -> int:
    os.umask(mask := os.umask(0))
    told = {"arguments": sys.argv[2:], "environ": dict(os.environ), "cwd": os.getcwd(), "umask": mask}  # noqa: PTH109
    request, content = os.pipe()
    status, reported = os.pipe()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        socket.send_fds(server, [b"."], [request, reported, 0, 1, 2])
    os.close(request)
    os.close(reported)
    with os.fdopen(content, "w", encoding="utf-8") as file:
        json.dump(told, file)
    (child,) = STATUS.unpack(os.read(status, STATUS.size))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    code = os.waitstatus_to_exitcode(STATUS.unpack(os.read(status, STATUS.size))[0])
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os._exit(main())
