"""
Replacement for `typing.NamedTuple` that makes equivalent classes in a third of the time.

``typing`` compiles every annotation, which no code here uses, and a prompt creates eighty such classes in a
cold process. Type checkers see the one of ``typing``.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # instead of importing it from `typing`, which is part of the cost

__all__ = ["NamedTuple"]

_MADE_ANEW = frozenset({"__module__", "__dict__", "__weakref__"})

if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:

    class _Naming(type):
        """Metaclass that turns the annotated names of a class body into the fields of a tuple."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key in body.keys() - fields.keys() - _MADE_ANEW:
                setattr(made, key, body[key])
            return made

    NamedTuple = type.__new__(_Naming, "NamedTuple", (), {})
