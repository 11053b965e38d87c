from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError

from clawmem.ports.errors import ClawmemError, IndexDamaged, IndexUnavailable, InvalidInput

# tantivy says everything by ValueError, what was asked wrongly included; these are about its files.
_FILES = re.compile(
    "Failed to open|does not exist|Failed to acquire|IO error|in a thread|Data corrupted|Schema error|compatible|FastField error"
)
# What the system refused can pass; what it did not find is gone.
_REFUSED = re.compile(r'Os \{ code: (?!2,)\d{1,9}.{0,200}?message: "(?P<reason>[^"]+)"')
_OTHER_SCHEMA = "schema does not match"


@contextmanager
def translated(place: str) -> Iterator[None]:
    """What goes wrong with the index at *place*, in our own errors."""
    try:
        yield
    except ClawmemError:
        raise
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "INVALID_INPUT", "The text holds half a character. Give it as valid Unicode."
        ) from error
    except (JSONDecodeError, UnicodeDecodeError) as error:
        raise IndexDamaged(place, "a file of it is no JSON") from error
    except ValueError as error:
        if not _FILES.search(str(error)):
            raise
        raise _explained(place, str(error)) from error
    except FileNotFoundError as error:
        raise IndexDamaged(place, "a file of it is missing") from error
    except OSError as error:
        raise IndexUnavailable(place, error.strerror or str(error)) from error
    except BaseException as error:
        # A panic of the engine over bytes that make no sense, which is not derived from Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise _explained(place, str(error)) from error


def _explained(place: str, said: str) -> ClawmemError:
    if refused := _REFUSED.search(said):
        return IndexUnavailable(place, refused["reason"])
    if _OTHER_SCHEMA in said:
        return IndexDamaged(place, "it is laid out as another version of clawmem does")
    first_line, _, _ = said.partition("\n")
    return IndexDamaged(place, f"its files make no sense ({first_line[:200]})")
