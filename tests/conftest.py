from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from hypothesis import settings

from clawmem.ports.indexes import IndexPlace

# A property is true or false; how long one example takes on a busy machine says nothing about it. Under CI
# hypothesis has its own profile loaded by now, whose other settings stay. For a longer search:
# pytest --hypothesis-profile=thorough
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.register_profile("steady", deadline=None, max_examples=25)
settings.load_profile("steady")

MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes; a container often has next to none there


def _memory_has_room() -> bool:
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return False
    there = os.statvfs(MEMORY)
    return there.f_bavail * there.f_frsize > ROOM and not there.f_flag & os.ST_NOEXEC


# Every commit of every vault is flushed to the disk, which is a good part of the time that thousands of them take.
if _memory_has_room():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Each worker would rewrite the assertions of all tests, which takes longer than importing them.
sys.dont_write_bytecode = False

# Options and parameters of the command line are the same for every call; making them takes a good part of its time.
typer.testing._get_command = cache(typer.testing._get_command)

# No test leaves a server behind; those that test the start in the background delete the variable.
os.environ["CLAWMEM_NO_SERVER"] = "1"

# A shell's background jobs ignore Ctrl-C, and so would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def place(tmp_path: Path) -> IndexPlace:
    """Of an index: a folder that is not there yet."""
    return IndexPlace(str(tmp_path / "index"), "generation-1")


def pytest_configure(config: pytest.Config) -> None:
    """Where files go to several workers: in their order, not those of many tests first, which are the quick ones."""
    config.option.loadscopereorder = False


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Three workers for two processors: almost half of the time a test waits for a process or a time-out."""
    processors = yield
    return processors if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else -(-processors * 3 // 2)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Thousands of tests stay until the end: the garbage collector need not look at them, now and ever again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """At the end of the process everything is looked at once more."""
    gc.unfreeze()
