from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from clawmem.adapters.sqlite.store import Store, pack, unpack
from clawmem.ports.errors import ModelMismatch
from clawmem.ports.models import Sketch
from clawmem.ports.records import FragmentKey

_MODEL = "sketches_of"
# The tables are joined in loop order, so that the first rows come early.
_PENDING = """
select key from documents cross join fragments on key between id << 20 and (id << 20) | 1048575
 where documents.inactive is null and id >= :after >> 20 and key > :after and kind = 'line'
   and not exists (select 1 from sketches where sketches.key = fragments.key)
 order by id, key limit :limit
"""
_STORE = """
insert into sketches select key, ? from fragments where key = ?
on conflict (key) do update set sketch = excluded.sketch
"""
_OF = "select sketches.key, sketch from json_each(?) as asked join sketches on sketches.key = asked.value"
_WAITING = """
select count(*) - count(sketches.key)
  from documents cross join fragments on fragments.key between id << 20 and (id << 20) | 1048575
  left join sketches using (key)
 where documents.inactive is null and kind = 'line'
"""


class SqliteSketches(Store):
    """``SketchStore`` in a table of blobs by fragment; a trigger deletes sketches with their fragments."""

    def fingerprint(self) -> str | None:
        return self._db.meta(_MODEL)

    def begin(self, fingerprint: str) -> None:
        with self._db.atomic():
            if self.fingerprint() != fingerprint:
                self._db.write("delete from sketches")
                self._db.write("insert or replace into meta values (?, ?)", (_MODEL, fingerprint))

    def pending(self, limit: int, after: FragmentKey | None = None) -> list[FragmentKey]:
        bindings = {"after": pack(after) if after else 0, "limit": max(limit, 0)}
        return [unpack(key) for (key,) in self._db.rows(_PENDING, bindings)]

    def store(self, fingerprint: str, sketches: Mapping[FragmentKey, Sketch]) -> None:
        with self._db.atomic():
            if (stored := self.fingerprint()) != fingerprint:
                raise ModelMismatch(stored or "no model", fingerprint)
            self._db.write_many(_STORE, [(sketch, pack(key)) for key, sketch in sketches.items()])

    def of(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Sketch]:
        rows = self._db.rows(_OF, (json.dumps([pack(key) for key in keys]),))
        return {unpack(key): sketch for key, sketch in rows}

    def waiting(self) -> int:
        return int(self._db.value(_WAITING))
