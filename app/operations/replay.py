"""The replay of the question of a receipt, with the verb that answered it."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from clawmem.app.version import VERSION

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.retrieval.receipts import Receipt
    from clawmem.app.services.retrieval.replay import Ask, Replay


def asked_again(services: Services, receipt: Receipt) -> Replay:
    """
    Return the comparison of the receipt with the results of today; nothing is recorded.

    Raises:
        InvalidInput: This version does not know the verb of the receipt.
    """
    from clawmem.app.operations.search import ask
    from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING
    from clawmem.ports.errors import InvalidInput

    if receipt.verb == CONTEXT_SURFACING:
        return services.why.replay(receipt, _surface_again(services, receipt), VERSION)
    if not hasattr(services.pipelines, receipt.verb):
        message = f"The answer was given by {receipt.verb!r}, which nobody can ask again from here."
        raise InvalidInput("INVALID_INPUT", message)
    return services.why.replay(receipt, partial(ask, services), VERSION)


def _surface_again(services: Services, receipt: Receipt) -> Ask:
    """Return a search as the hook runs it, with the profile of the receipt, without records and earlier prompts."""
    from clawmem.app.bootstrap.surfacing import Surfacing
    from clawmem.app.services.surfacing.choices import Choices
    from clawmem.app.services.surfacing.turns import Turns
    from clawmem.app.settings.plain import surfacing_settings
    from clawmem.domain.surfacing.profiles import profile_named

    chosen = surfacing_settings(os.environ)._replace(remembers=False, forgets=False)
    profile = profile_named(receipt.asked.get("profile", chosen.profile))
    surface = Surfacing(services.vault, chosen, profile)
    return lambda verb, request: (
        surface(request.question.text, Turns(None), Choices(profile, mode=chosen.mode)).answer
    )
