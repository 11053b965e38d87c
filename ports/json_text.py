"""JSON of other programs, which can escape half of a character (a lone surrogate); UTF-8 and a vault cannot hold it."""

import json
from typing import Any


def whole_text(text: str) -> str:
    """Return *text* with pairs of surrogates joined, and U+FFFD for each lone one."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def read_json(text: str | bytes) -> Any:
    """Return the value of *text*, see `whole_text`. Raises `ValueError` or `RecursionError` for other text than JSON."""
    if isinstance(text, str):  # `json.loads` takes a mark of the byte order from bytes only
        text = text.removeprefix("\ufeff")
    value = json.loads(text)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if b"\\u" in data or b"\xed" in data:  # the beginning of an escape, and of a surrogate in bytes
        value = json.loads(whole_text(json.dumps(value, ensure_ascii=False)))
    return value
