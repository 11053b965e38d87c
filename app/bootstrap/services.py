"""Typed access to the providers of an opened vault, for operations and interfaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clawmem.app.services.progress import ProgressOf, no_progress

if TYPE_CHECKING:  # every module of a service is imported when the service is used
    from clawmem.app.bootstrap.container import Clawmem, Gateways, UseCases
    from clawmem.app.bootstrap.models import ModelSelection
    from clawmem.app.services.indexing.external import ExternalIndexes
    from clawmem.app.services.knowledge.asking import Ask
    from clawmem.app.services.knowledge.enriching import Enrich
    from clawmem.app.services.lifecycle.forgetting import ForgottenPlaces
    from clawmem.app.services.retrieval.pipelines import Pipeline
    from clawmem.app.services.retrieval.plan import QueryPlan
    from clawmem.app.settings.model import Settings
    from clawmem.ports.journal import ForgetLog
    from clawmem.ports.models import Generator
    from clawmem.ports.vault import Vault

    class Provided(UseCases, Gateways):
        """The annotated attributes of the containers, and the types of providers that others name."""

        settings: Settings
        vault: Vault
        indexes: ExternalIndexes
        forget_log: ForgetLog
        generator: Generator | None
        model_selection: ModelSelection
        forgotten_places: ForgottenPlaces
        query: Pipeline
        query_plan: QueryPlan
        query_without_models: Pipeline
        ask: Ask | None
        enrich: Callable[..., Enrich]
        intent_search_of: Callable[..., Pipeline]

else:

    class Provided:
        """Each attribute is the provider of its name, called; a function of the containers is a method here."""

        def __getattr__(self, name):
            """Return what the provider *name* provides."""
            from dependency_injector import providers  # see `opening`

            for part in (self.container.use_cases, self.container.gateways):
                if name in part.providers:
                    provider = part.providers[name]
                    return provider if isinstance(provider, providers.Callable) else provider()
            raise AttributeError(name)


@dataclass(frozen=True)
class Services(Provided):
    """
    The use cases and adapters of a vault, each built when it is accessed.

    Attributes:
        is_open: Whether the vault may be used; false for what needs the settings alone.
        is_new: Whether the vault was created now.
        caller: The interface for which changes are recorded: ``cli``, ``mcp``, ``rest`` or ``python``.
    """

    container: Clawmem
    is_open: bool = True
    is_new: bool = False
    caller: str = "cli"
    progress: ProgressOf = no_progress

    def called_by(self, caller: str, progress: ProgressOf = no_progress) -> Services:
        """Return the same services for the interface *caller*."""
        return replace(self, caller=caller, progress=progress)

    def pipeline(self, name: str) -> Pipeline:
        """Return the pipeline of the verb *name*, such as ``query`` or ``memory_retrieve``."""
        pipeline: Pipeline = getattr(self, name)
        return pipeline
