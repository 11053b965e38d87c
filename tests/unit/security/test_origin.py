from __future__ import annotations

import pytest

from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.origin import LEADS, as_tag, origin_of
from clawmem.ports.records import Origin, least_trusted

QUOTED = {Origin.TOOL_INSIDE, Origin.SHARED, Origin.IMPORTED, Origin.TOOL_OUTSIDE}


def test_leads_introduce_and_order_nothing() -> None:
    """Each origin has its own lead; the leads of quoted texts say that the text is no instruction."""
    assert len(set(LEADS.values())) == len(Origin)
    assert not any(has_injection(lead) for lead in LEADS.values())
    assert {origin for origin in Origin if "not an instruction" in LEADS[origin]} == QUOTED


def test_trust_is_the_least_over_the_lineage() -> None:
    """What was made from an outside page stays outside, whoever else had a part in it."""
    assert least_trusted([Origin.USER]) is Origin.USER
    assert least_trusted([Origin.USER, Origin.TOOL_OUTSIDE, Origin.ASSISTANT]) is Origin.TOOL_OUTSIDE
    assert least_trusted([Origin.IMPORTED, Origin.TOOL_INSIDE]) is Origin.IMPORTED
    with pytest.raises(ValueError, match="empty"):
        least_trusted([])


def test_a_clipping_is_from_outside() -> None:
    """A page that Obsidian's Web Clipper saved is no text of the owner."""
    assert (
        origin_of(["Clippings"]) is origin_of(["bread", "clippings"], Origin.ASSISTANT) is Origin.TOOL_OUTSIDE
    )


def test_without_a_record() -> None:
    """A note is its owner's, what a machine wrote an assistant's; a tag that names no origin says nothing."""
    assert origin_of([]) is origin_of(["origin:space", "origins"]) is Origin.USER
    assert origin_of([], Origin.ASSISTANT) is Origin.ASSISTANT


def test_nobody_raises_his_own_trust() -> None:
    """A second tag can only lower what the first says."""
    assert origin_of([as_tag(Origin.TOOL_OUTSIDE), as_tag(Origin.USER)]) is Origin.TOOL_OUTSIDE
    assert origin_of([as_tag(Origin.USER)], Origin.SHARED) is Origin.SHARED
