from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from clawmem.adapters.sidecar.manifest import SegmentRecord

# number of segments of one size that merge into one of the next size; each row is written about log8(rows)
# times
_FAN = 8
_SMALLEST = 1024
_MOST_DELETED = 0.25


def due_for_merging(segments: Sequence[SegmentRecord]) -> list[int]:
    """Return the positions of segments to merge now; none if no merge is due."""
    for place, segment in enumerate(segments):
        if segment.deleted > _MOST_DELETED * segment.rows:
            return [place]
    by_size = defaultdict(list)
    for place, segment in enumerate(segments):
        by_size[_size_class(segment.live)].append(place)
    return next((places for _, places in sorted(by_size.items()) if len(places) >= _FAN), [])


def _size_class(rows: int) -> int:
    size_class = 0
    while rows > _SMALLEST:
        rows //= _FAN
        size_class += 1
    return size_class
