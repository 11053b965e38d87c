from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError

from clawmem.ports.errors import ClawmemError, IndexDamaged, IndexUnavailable, InvalidInput

# tantivy raises ValueError for everything, including invalid arguments; these messages are about its files.
_FILES = re.compile(
    "Failed to open|does not exist|Failed to acquire|IO error|in a thread|Data corrupted|Schema error|compatible|FastField error"
)
# An error of the operating system may be temporary, except "not found" (code 2).
_REFUSED = re.compile(r'Os \{ code: (?!2,)\d{1,9}.{0,200}?message: "(?P<reason>[^"]+)"')
_OTHER_SCHEMA = "schema does not match"


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise tantivy's errors inside the block as errors of the ports, for the index at *place*."""
    try:
        yield
    except ClawmemError:
        raise
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "INVALID_INPUT", "The text holds half a character. Give it as valid Unicode."
        ) from error
    except (JSONDecodeError, UnicodeDecodeError) as error:
        raise IndexDamaged(place, "one of its files is not valid JSON") from error
    except ValueError as error:
        if not _FILES.search(str(error)):
            raise
        raise _explained(place, str(error)) from error
    except FileNotFoundError as error:
        raise IndexDamaged(place, "one of its files is missing") from error
    except OSError as error:
        raise IndexUnavailable(place, error.strerror or str(error)) from error
    except BaseException as error:
        # A panic of tantivy on invalid bytes, which does not derive from Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise _explained(place, str(error)) from error


def _explained(place: str, said: str) -> ClawmemError:
    if refused := _REFUSED.search(said):
        return IndexUnavailable(place, refused["reason"])
    if _OTHER_SCHEMA in said:
        return IndexDamaged(place, "another version of clawmem wrote it")
    first_line, _, _ = said.partition("\n")
    return IndexDamaged(place, f"its files are damaged ({first_line[:200]})")
