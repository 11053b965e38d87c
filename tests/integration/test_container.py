"""The composition root: every provider builds what it names, and an override reaches its users."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dependency_injector import providers

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.app.bootstrap import container
from clawmem.app.bootstrap.container import Gateways, UseCases
from clawmem.app.bootstrap.lazy import imported_object
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.settings.model import Settings, load_settings

PLACE = re.compile(
    r'\b(lazy|imported_object|adapter|gateway|function|use_case|shared)\(?,?\s*"([a-z_.]+:\w+)"'
)
FOLDERS = {
    **dict.fromkeys(("adapter", "gateway"), "adapters."),
    **dict.fromkeys(("function", "use_case", "shared"), "app.services."),
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(vault=tmp_path / "vault.sqlite", environ={"HOME": str(tmp_path)})


def test_every_provider_can_be_built(settings: Settings) -> None:
    """No provider names a module, a class or a parameter that does not exist."""
    with open_services(settings) as services:
        for kind, part in ((Gateways, services.container.gateways), (UseCases, services.container.use_cases)):
            for name in kind.providers:
                provider = part.providers[name]
                if not isinstance(provider, (providers.Dependency, providers.Callable)):
                    provider()


def test_every_place_exists() -> None:
    """Each ``module:name`` of the composition root can be imported, also those that are imported with a call."""
    folder = Path(container.__file__).parent
    found = [place for file in folder.glob("*.py") for place in PLACE.findall(file.read_text("utf-8"))]
    places = {f"{FOLDERS.get(function, '')}{name}" for function, name in found}

    assert len(places) > 100
    assert all(imported_object(place) is not None for place in places)


def test_an_override_reaches_its_users(settings: Settings) -> None:
    """A use case works with the clock and the embedder that take the place of the usual ones."""
    with open_services(settings) as services:
        services.container.gateways.override_providers(
            clock=providers.Object(ManualClock()), embedder=providers.Object(HashingEmbedder())
        )

        entry = services.diary.write("The tide was low.", "general", "user")
        services.embed()

        assert entry.authored_at.startswith("2023-11-14")
        assert services.vault.embeddings.fingerprint() == HashingEmbedder().fingerprint
