"""Descriptions of folders, which apply to every document below them."""

from __future__ import annotations

from collections.abc import Mapping


def path_context(path: str, contexts: Mapping[str, str], global_context: str = "") -> str | None:
    """
    Return *global_context* and the descriptions of all folders above *path*, outermost first; ``None`` without any.

    Args:
        path: The path within the collection.
        contexts: Descriptions by path prefix. A prefix is a folder or a file, with or without a slash at its ends;
            ``/`` is the whole collection.
    """
    place = f"/{path.strip('/')}/"
    prefixes = {prefix: _as_folder(prefix) for prefix in contexts}
    above = sorted(
        (prefix for prefix in contexts if place.startswith(prefixes[prefix])), key=prefixes.__getitem__
    )
    texts = [global_context, *(contexts[prefix] for prefix in above)]
    return "\n\n".join(filter(None, map(str.strip, texts))) or None


def _as_folder(prefix: str) -> str:
    inner = prefix.strip("/")
    return f"/{inner}/" if inner else "/"
