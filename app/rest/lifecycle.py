"""What becomes of documents: pin, snooze, forget, sweep, restore, who did what, taking it back; and the profile."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.opened import Services
from clawmem.app.records.forgetting import confirmed_target
from clawmem.app.records.lifecycle import Done, acts_of
from clawmem.app.records.parameters import ADDRESS
from clawmem.app.rest.documents import MOST, Named
from clawmem.app.rest.operation import Asked, Nothing, changing, reading
from clawmem.app.services.briefing.profile import PATH, is_sound
from clawmem.app.services.documents.docids import docids
from clawmem.app.services.lifecycle.archiving import to_restore
from clawmem.app.services.lifecycle.status import LifecycleStatus, lifecycle_status
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.lifecycle.policy import ArchivePolicy, read_policy
from clawmem.ports.records import Document, InactiveReason

BY = "rest"


class Doing(Named):
    """A document, and the reason."""

    why: str = Field("", max_length=1000, description="Why; it is written down.")


class Forget(Doing):
    """A document that is to be forgotten."""

    docid: str = Field(
        min_length=1, description="The docid of the document, without its #; no path or title."
    )
    confirm: bool | None = Field(
        None, description="Must be true. Anything else changes nothing and describes the document."
    )


class Sweep(Asked):
    """Whether anything is done."""

    dry_run: bool = Field(True, description="Name what would go, change nothing.")


class Restore(Asked):
    """The archived documents to restore; exactly one of these has to be given."""

    query: str = Field("", description=f"One archived document: {ADDRESS}")
    collection: str = Field("", description="Restore every archived document of it.")
    all: bool = Field(False, description="Restore every archived document.")


class Undo(Asked):
    """An act."""

    act: int = Field(ge=1, le=2**53, description="Its number, as /lifecycle/log says it.")


class Log(Asked):
    """How many."""

    limit: int = Field(20, ge=1, le=MOST, description="How many.")


class Again(Asked):
    """When."""

    rebuild: bool = Field(False, description="Make it anew, due or not.")


class Gone(TypedDict):
    """
    The document that is forgotten; ``changed`` is false where it was forgotten before, and has no docid then.

    ``left`` says why its bytes may still lie in free space, empty when they do not.
    """

    docid: str
    file: str
    forgotten: bool
    changed: bool
    left: str


class Place(TypedDict):
    """A document."""

    file: str
    title: str


class Swept(TypedDict):
    """
    What would be archived, or was; ``purged`` what would be, or was, forgotten for good.

    ``pin`` and ``snooze`` are what a preview proposes: what is wanted again and again, and what never is of use.
    """

    dry_run: bool
    candidates: NotRequired[int]
    archived: NotRequired[int]
    documents: list[Place]
    purged: list[Place]
    pin: list[Place]
    snooze: list[Place]
    left: str


class Restored(TypedDict):
    """What is served again, and a sentence for each document that is not."""

    restored: int
    documents: list[Place]
    problems: list[str]


class Page(TypedDict, total=False):
    """The page about who works here; ``profile`` is null where there is none."""

    path: str
    body: str
    profile: None


def forget(services: Services, asked: Forget) -> Gone:
    """Forget a document for good; it cannot be brought back, and its file is not taken in again."""
    document = confirmed_target(services, asked.docid, confirm=asked.confirm)
    file = document.display_path
    if document.inactive is InactiveReason.FORGOTTEN:
        return {"docid": "", "file": file, "forgotten": True, "changed": False, "left": ""}
    docid = _docid(services, document)
    left = services.forgetting([document], BY, asked.why).left
    return {"docid": docid, "file": file, "forgotten": True, "changed": True, "left": left}


def status(services: Services, asked: Nothing) -> LifecycleStatus:
    """How many documents are served, pinned, snoozed, archived and forgotten."""
    return lifecycle_status(services.vault, services.clock, read_policy(services.settings.lifecycle))


def sweep(services: Services, asked: Sweep) -> Swept:
    """Archive what is idle for long, and forget what was archived for long, by the policy or the usual one."""
    policy = read_policy(services.settings.lifecycle) or ArchivePolicy()
    swept = services.sweep.preview(policy) if asked.dry_run else services.sweep(policy, BY)
    said: Swept = {
        "dry_run": swept.is_preview,
        "documents": _places(swept.archived),
        "purged": _places(swept.purged),
        "pin": _places(swept.proposals.pin),
        "snooze": _places(swept.proposals.snooze),
        "left": swept.left,
    }
    said["candidates" if swept.is_preview else "archived"] = len(swept.archived)
    return said


def restore(services: Services, asked: Restore) -> Restored:
    """Serve archived documents again: one, those of a collection, or all."""
    archiving = services.archiving
    resolve = partial(archiving.named, services.lookup)
    chosen = to_restore(archiving, resolve, asked.query, asked.collection, everything=asked.all)
    report = services.restore(chosen, BY)
    restored = _places(report.restored)
    return {"restored": len(restored), "documents": restored, "problems": report.sentences()}


def log(services: Services, asked: Log) -> list[Done]:
    """Who pinned, snoozed, archived, restored or forgot what, when and why; the last act first."""
    return acts_of(services.vault, services.vault.acts.latest(asked.limit))


def undo(services: Services, asked: Undo) -> Done:
    """Take back an act, and say which; what was forgotten cannot be brought back."""
    [undone] = acts_of(services.vault, [services.tending.undo(asked.act, BY)])
    return undone


def profile(services: Services, asked: Nothing) -> Page:
    """The page about who works here, as it was made last."""
    page = services.vault.documents.at(COLLECTION, PATH)
    if page is None or not is_sound(services.vault, page):
        return {"profile": None}
    return {"path": page.display_path, "body": services.vault.documents.body(page.id) or ""}


def renewed_profile(services: Services, asked: Again) -> Page:
    """The page about who works here, made anew where it is due."""
    services.profile.rebuild() if asked.rebuild else services.profile.refresh()
    return profile(services, Nothing())


def _docid(services: Services, document: Document) -> str:
    return docids(services.vault.documents, [document])[document.id]


def _places(documents: Iterable[Document]) -> list[Place]:
    return [{"file": one.display_path, "title": one.title} for one in documents]


OPERATIONS = (
    reading("GET", "/profile", Nothing, Page, profile),
    changing("/profile", Again, Page, renewed_profile),
    reading("GET", "/lifecycle/status", Nothing, LifecycleStatus, status),
    reading("GET", "/lifecycle/log", Log, list[Done], log),
    changing("/lifecycle/sweep", Sweep, Swept, sweep),
    changing("/lifecycle/restore", Restore, Restored, restore),
    changing("/lifecycle/undo", Undo, Done, undo),
    changing("/documents/{docid:path}/forget", Forget, Gone, forget),
)
