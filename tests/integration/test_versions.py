"""Versions of a subject, drafts and overviews in the answers of ``query``."""

from __future__ import annotations

import pytest
from command_line import Invoke, ask_json, found_paths

NOTES = {
    "house/lease-2024.md": "---\ndate: 2024-04-01\n---\n# Lease of the shop\n\nThe shop costs 900 a month, landlord Ruiz.\n",
    "house/lease-2026.md": "---\ndate: 2026-02-01\n---\n# Lease of the shop, again\n\nThe shop now costs 1 050.\n",
    "drafts/shop.md": "---\ndate: 2026-03-01\n---\n# Shop\n\nIt could cost 700 a month if Ruiz agrees.\n",
    "hub/places.md": "---\ndate: 2026-03-01\ncontent_type: hub\n---\n# Places\n\nshop costs, van costs, stall costs a month\n",
    "house/van.md": "---\ndate: 2026-01-05\n---\n# The van\n\nInsurance of the van: 310 a year.\n",
    "decisions/2024-05-06-pump-diesel.md": "---\ndate: 2024-05-06\n---\n# Water pump\n\nThe water pump of the orchard runs on diesel.\n",
    "decisions/2026-03-02-pump-solar.md": "---\ndate: 2026-03-02\n---\n# New pump\n\nFrom May the pump of the orchard has a solar panel.\n",
    "decisions/2026-06-09-pump-house.md": "---\ndate: 2026-06-09\n---\n# Roof\n\nThe house of the pump gets a roof of tin.\n",
}


def test_confidences_fall_down_the_list(indexed: Invoke) -> None:
    """Also where metadata changed the order: here a draft that matches best."""
    found = ask_json(indexed, "query", "could the shop cost 700 if Ruiz agrees", "--all")["results"]
    sure = [one["confidence"] for one in found]

    assert sure == sorted(sure, reverse=True)


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("how much does the shop cost a month", "house/lease-2026.md"),
        ("what does the shop cost these days", "house/lease-2026.md"),
        ("what did the shop cost before", "house/lease-2024.md"),
        ("what did the shop cost in 2025", "house/lease-2024.md"),
        ("shop lease 2024 cost", "house/lease-2024.md"),
        ("the draft about what the shop costs", "drafts/shop.md"),
        ("what does the water pump of the orchard run on", "decisions/2026-03-02-pump-solar.md"),
        ("what did the water pump of the orchard run on before", "decisions/2024-05-06-pump-diesel.md"),
        ("what did the water pump of the orchard run on in 2025", "decisions/2024-05-06-pump-diesel.md"),
    ],
)
def test_the_version_that_a_question_means(indexed: Invoke, question: str, best: str) -> None:
    """Neither the draft nor the overview comes first, unless the question names it; the roof is another subject."""
    assert found_paths(indexed, "query", question, "--all")[0] == best
