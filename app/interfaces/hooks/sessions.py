"""Hooks that brief a session, and those that capture it: jobs are stored first, then done as far as time allows."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from socket import gethostname
from time import monotonic
from typing import NamedTuple

from filelock import FileLock, Timeout

from clawmem.app.bootstrap.lazy import lazy
from clawmem.app.bootstrap.opening import open_services, unopened_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import CURATOR_REPORT, is_there, real_path
from clawmem.app.environment.private_files import PRIVATE, appended, make_folder, state_folder, write_whole
from clawmem.app.environment.session_topics import project_of
from clawmem.app.interfaces.hooks.handlers import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.app.operations.indexing import embed_new
from clawmem.app.services.capture.briefing import Advice
from clawmem.app.services.capture.session import Session
from clawmem.app.services.documents.records import files_of
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Trace
from clawmem.app.services.surfacing.steps import Choices
from clawmem.app.settings.model import load_settings
from clawmem.domain.briefing.blocks import block, curation_note, few, file_name
from clawmem.domain.capture.handoff import MESSAGES, state_of
from clawmem.domain.capture.notes import notes_by_rules
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.question import Question
from clawmem.domain.security.fingerprint import fingerprint, from_bytes, is_echo, to_bytes
from clawmem.domain.security.redaction import redact
from clawmem.domain.surfacing.profiles import BALANCED, PROFILES
from clawmem.domain.surfacing.turns import Turns
from clawmem.domain.text.words import query_hash
from clawmem.ports.errors import ClawmemError, InvalidInput, SourceUnreadable
from clawmem.ports.sessions import Session as SessionRecord
from clawmem.ports.sessions import Speaker, session_key

ATTEMPTS = 3  # failed attempts after which a job is dropped
PERMANENT_ERRORS = (InvalidInput, SourceUnreadable)  # not retried; the next turn adds a new job
WAITING, CURRENT = ".job", ".taken"

KEPT_S = 30 * 86_400
_MOST_BYTES = 4_000_000  # per session: half a million runs of words


class Job(NamedTuple):
    """Job of one hook, without the text of the conversation; ``attempts`` counts the attempts that were started."""

    hook: str
    event: Mapping[str, str]
    attempts: int = 0


class JobsFailed(ClawmemError):
    """Failures of jobs in the spool, each a sentence that names the job with its reason."""


class Spool:
    """Queue of jobs in a folder next to *vault*."""

    def __init__(self, vault: Path) -> None:
        self._folder = state_folder(vault) / "spool"

    def put(self, job: Job) -> None:
        """Add a job, replacing a waiting one of its hook and session; raise `OSError` and leave no partial file."""
        make_folder(self._folder)
        about = [job.hook, job.event.get("session_id", ""), job.event.get("transcript_path", "")]
        key = f"{job.hook}-{sha256(json.dumps(about).encode()).hexdigest()[:16]}"
        write_whole(self._folder / f"{key}{WAITING}", json.dumps(job._asdict()).encode())

    def jobs(self) -> list[Path]:
        """Return the files of all jobs, the oldest first, including the current one."""

        ages: dict[Path, int] = {}
        with suppress(OSError):
            for file in self._folder.iterdir():
                if file.suffix in (WAITING, CURRENT):
                    with suppress(OSError):  # done by another process
                        ages[file] = file.stat().st_mtime_ns
        return sorted(ages, key=lambda file: (ages[file], file.name))

    def work_off(self, do: Callable[[Job], None]) -> list[str]:
        """Do all jobs, also those added meanwhile, unless another process does; return a sentence for each failure."""
        failures: list[str] = []
        lock = FileLock(self._folder.with_suffix(".lock"), blocking=False, is_singleton=False, mode=PRIVATE)
        if self.jobs():
            with suppress(Timeout), lock:
                # Bounded, because a job may be added again and again.
                for _ in range(ATTEMPTS * (1 + len(self.jobs()))):
                    if file := next(iter(self.jobs()), None):
                        failures += self._attempt(file.replace(file.with_suffix(CURRENT)), do)
        return failures

    def _attempt(self, current: Path, do: Callable[[Job], None]) -> Iterator[str]:
        """Do the job in *current*; a failed one goes to the end of the queue until its attempts are used up."""
        job = None
        with suppress(OSError, ValueError, KeyError, TypeError):
            values = json.loads(current.read_bytes())
            job = Job(str(values["hook"]), dict(values["event"]), int(values["attempts"]))
        if job is None or job.attempts >= ATTEMPTS:
            yield f"{current.name} was given up"
        else:
            # Counted before it is made, so that a job that kills its process is dropped in the end.
            job = job._replace(attempts=job.attempts + 1)
            with suppress(OSError):  # on a full disk the job is still attempted
                write_whole(current, json.dumps(job._asdict()).encode())
            try:
                do(job)
            except Exception as error:  # noqa: BLE001  a failing job must not block the others
                waits = job.attempts < ATTEMPTS and not isinstance(error, PERMANENT_ERRORS)
                yield f"{job.hook}: {error or type(error).__name__}{'' if waits else ' (given up)'}"
                # A waiting job of the same hook and session makes this one redundant.
                if waits and not current.with_suffix(WAITING).exists():
                    self.put(job)
        current.unlink(missing_ok=True)


class InjectedFingerprints:
    """Fingerprints of injected texts, so that a session that repeats one is not captured as new information."""

    def __init__(self, vault: Path) -> None:
        self._folder = state_folder(vault) / "injected"

    def add(self, session_id: str, text: str) -> None:
        """Add *text*, best effort. Also delete the files of sessions older than `KEPT_S`."""
        if not session_id or not text:
            return
        file = self._folder / session_key(session_id)
        with suppress(OSError):
            make_folder(self._folder)
            if not file.exists() or file.stat().st_size <= _MOST_BYTES:
                with appended(file) as out:
                    out.write(to_bytes(fingerprint(text)))
            for old in self._folder.iterdir():
                if time.time() - old.stat().st_mtime > KEPT_S:
                    old.unlink(missing_ok=True)

    def of(self, session_id: str) -> frozenset[int]:
        """Return the fingerprint of all text injected into a session; empty if none."""
        try:
            packed = (self._folder / session_key(session_id)).read_bytes()
        except OSError:
            return frozenset()
        return from_bytes(packed[: len(packed) // 8 * 8])  # a hash has 8 bytes


FILE_FIELDS = ("file_path", "notebook_path")
SUBAGENT_TOKENS, MOST_OF_TASK = 300, 2000  # tokens of a block; characters that are read of a task
EXPLORING = re.compile("explor|search|plan", re.IGNORECASE)  # they read the sources themselves
SHORTEST = 3  # characters of a name that identifies a file
LONGEST, LONGEST_PATH = 255, 4096  # characters

MOST_SECONDS = 20.0  # for jobs, of the 30 s that the client waits
READ_OF_BODY = 50_000  # characters of each injected document, to recognise its text
MOST_DOCUMENTS = 200
MOST_EMBEDDED = 100  # texts; a session leaves about forty, which the default model embeds within a second
# The fields that are needed to find the conversation again. Its text stays in the transcript; only the client's
# summary is stored, because no other file contains it.
FIELDS = ("session_id", "transcript_path", "cwd", "compact_summary")


def session_bootstrap(event: HookEvent, context: HookContext) -> str:
    """Brief a session with what holds, the last handoff and open tasks, and record its start."""
    if event.agent_id or not is_there(context.vault):
        return ""
    own = event.session_id if event.source in ("resume", "compact") else ""
    project = project_of(event.cwd)
    briefing = _inject_text_of(
        "session-bootstrap", event, context, lambda services: services.briefings.at_start(project, own)
    )
    if event.session_id:
        with context.writable() as services, services.vault.transactions.writing():
            sessions, now = services.vault.sessions, iso_utc(services.clock.now_ms())
            known = sessions.get(event.session_id)
            new = SessionRecord(event.session_id, now, machine=gethostname())
            sessions.save(replace(known, ended_at=None) if known else new)
    return briefing


def staleness_check(event: HookEvent, context: HookContext) -> str:
    """Name up to five notes that are due for review, and archive idle notes according to the lifecycle policy."""
    if event.agent_id or not is_there(context.vault):
        return ""
    due = _inject_text_of("staleness-check", event, context, lambda services: services.briefings.staleness())
    policy = load_settings(vault=context.vault, environ=context.environ).archive_policy
    if policy and not policy.dry_run:
        with context.writable() as services:
            files = files_of(services.lifecycle.sweep(policy, by="staleness-check"))
        undo = "The lifecycle policy archived these idle notes now. List them: clawmem undo. Serve one again: clawmem restore NOTE"
        swept = block("vault-staleness", undo, [few(files, 5)], 250)
        due = "\n".join(filter(None, [due, swept]))
        context.offer(due)
    return due


def curator_nudge(event: HookEvent, context: HookContext) -> str:
    """Return the recommendations of the last ``clawmem maintain curate`` while they are recent; silence without a report."""
    try:
        report = context.vault.with_name(CURATOR_REPORT).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    return _inject_text_of(
        "curator-nudge",
        event,
        context,
        lambda services: curation_note(
            report,
            services.clock.now_ms(),
            pending=services.vault.embeddings.counts().pending,
            documents=sum(services.vault.documents.collections().values()),
        ),
    )


def postcompact_inject(event: HookEvent, context: HookContext) -> str:
    """Restore information that the summary of a conversation omits; silence for a session that starts otherwise."""
    if event.source != "compact":
        return ""

    def restored(services: Services) -> str:
        files = services.conversation_files(event.transcript_path, event.session_id)
        files.note_compaction()  # the hook before it may have failed
        return services.briefings.after_compaction(
            files.state(), event.compact_summary, project_of(event.cwd)
        )

    return _inject_text_of("postcompact-inject", event, context, restored)


def advise(name: str, event: HookEvent, context: HookContext) -> str:
    """Return lessons about the file that is about to be changed, or notes about the error of a command, once a session."""
    paths = [event.tool_input.get(field) for field in FILE_FIELDS]
    path = next((path for path in paths if isinstance(path, str)), "")[:LONGEST_PATH]
    is_failure = name == "failure-inject"
    if not (event.error.strip() if is_failure else SHORTEST <= len(file_name(path)) <= LONGEST):
        return ""

    def advice_of(services: Services) -> str:
        briefings, project = services.briefings, project_of(event.cwd)
        advice = (
            briefings.earlier_fix(event.error, project)
            if is_failure
            else briefings.file_lessons(path, project)
        )
        known = InjectedFingerprints(context.vault).of(event.session_id)
        if advice is None or not advice.text or is_echo(advice.text, known, at_least=1):
            return ""
        return inject(advice, name, event, context, services)

    return context.read(event, advice_of)


pretool_inject = partial(advise, "pretool-inject")
failure_inject = partial(advise, "failure-inject")


def subagent_inject(event: HookEvent, context: HookContext) -> str:
    """
    Return the notes about the task of a subagent at its start, at most 300 tokens; nothing for one that explores.

    A client may leave the task out of the event; then it is read from the transcript, for each start the next one.
    """
    if EXPLORING.search(event.agent_type):
        return ""
    with context.services() as services:
        if services is None:
            return ""
        files = services.conversation_files(event.transcript_path, event.session_id)
        recalls = services.vault.telemetry.recalls(session_id=event.session_id)
        given = {recall.query_hash for recall in recalls if recall.verb == "subagent-inject"}
        tasks = [event.prompt] if event.prompt else files.tasks(event.agent_type)
        tasks = [task.strip()[:MOST_OF_TASK] for task in tasks if task.strip()]
        task = next((task for task in tasks if event.prompt or query_hash(task) not in given), "")
        if not task:
            return ""
        settings = load_settings(environ=context.environ, lenient=True)
        profile = PROFILES["speed" if settings.profile == "speed" else BALANCED]
        profile = profile._replace(budget=SUBAGENT_TOKENS, facts_budget=0)
        choices = Choices(profile, withheld=services.withheld(project_of(event.cwd)), folder=event.cwd)
        turns = Turns(event.session_id, prompt_id=event.prompt_id, verb="subagent-inject")
        return services.prompt_surfacing(settings)(task, turns, choices, context.offer).block


def _inject_text_of(
    verb: str, event: HookEvent, context: HookContext, text_of: Callable[[Services], str]
) -> str:
    """Inject what the hook *verb* makes from the vault, and return it; silence for a subagent or without a vault."""
    return context.read(
        event, lambda services: inject_text(text_of(services), verb, event, context, services)
    )


def inject_text(text: str, verb: str, event: HookEvent, context: HookContext, services: Services) -> str:
    """Inject a text that answers no search, and return it."""
    question = Question(event.prompt, services.clock.now_ms())
    advice = Advice(text, Answer(question.text, (), Trace()), RetrievalRequest(question))
    return inject(advice, verb, event, context, services)


def inject(advice: Advice, verb: str, event: HookEvent, context: HookContext, services: Services) -> str:
    """Offer the text, and return it; record it, and its fingerprint, so that a repetition is not captured as new."""
    context.offer(advice.text)
    InjectedFingerprints(context.vault).add(event.session_id, advice.text)
    if advice.text:
        services.briefings.record(advice, verb, event.session_id, event.prompt_id)
    return advice.text


def capture(name: str, event: HookEvent, context: HookContext) -> str:
    """
    Store the job of hook *name* in the spool, and do all jobs unless another process does. Raises `JobsFailed`.

    The context is always empty, because the client would take any text for a reason to continue the turn. Nothing
    happens for a subagent, whose turns are part of the conversation that started it, or without a vault.
    """
    if not event.agent_id and event.transcript_path and is_there(context.vault):
        stored = event._replace(compact_summary=redact(event.compact_summary))
        Spool(context.vault).put(Job(name, {field: getattr(stored, field) for field in FIELDS}))
        if event.last_assistant_message:
            conversation_files = lazy("adapters.files.conversation:ConversationFiles")
            conversation_files(event.transcript_path, event.session_id).wait_for(event.last_assistant_message)
        context.later()
    return ""


# Decisions, preferences, achievements and problems; the state for the next session; which memories the answer used;
# the summary of a compacted conversation.
decision_extractor = partial(capture, "decision-extractor")
handoff_generator = partial(capture, "handoff-generator")
feedback_loop = partial(capture, "feedback-loop")
postcompact_capture = partial(capture, "postcompact-capture")


def session_end(event: HookEvent, context: HookContext) -> str:
    """
    Store the jobs of a turn that the session was left in, whose Stop never came; done jobs change nothing.

    A client ends its hooks soon: then a server does the jobs, or the next hook.
    """
    capture("decision-extractor", event, context)
    return capture("handoff-generator", event, context)


def precompact_extract(event: HookEvent, context: HookContext) -> str:
    """
    Write the state of the conversation next to its transcript before the answer, as the client reads it next.

    It is written from the transcript alone, because a vault that is busy or slow to open may outlast the deadline, and
    again without what the vault had told the session.
    """
    if event.agent_id or not event.transcript_path or not is_there(context.vault):
        return ""
    session = Session(event.session_id, event.transcript_path, project_of(event.cwd))
    alone = unopened_services(load_settings(vault=context.vault, environ=context.environ, lenient=True))
    files = alone.conversation_files(session.transcript, session.id)
    file: Path = files.state_file
    files.note_compaction()  # also if nothing of it is worth a state

    def write(state: str) -> None:
        if state:
            file.parent.mkdir(mode=0o700, exist_ok=True)
            write_whole(file, state.encode("utf-8", "replace"))

    injected = InjectedFingerprints(context.vault).of(session.id)
    latest = alone.transcripts.read(session.transcript, latest=MESSAGES).messages
    stated = ((note, note.message.speaker is Speaker.USER) for note in notes_by_rules(latest))
    write(state_of(latest, [note for note, own in stated if not is_echo(note.quote, injected, by_user=own)]))
    files.drop_old_states()
    with context.writable() as services:
        write(services.session_capture(is_echo=_echo_test(services, session)).state(session))
        for folder in services.folders:  # the file may belong to a collection
            if file.exists() and real_path(file).is_relative_to(real_path(folder.root)):
                services.update(folder)
    return ""


def do_jobs(vault: Path, environ: Mapping[str, str], seconds: float = MOST_SECONDS) -> None:
    """
    Do the jobs in the spool of *vault*, unless another process does; raise `JobsFailed` if some failed.

    What they captured gets vectors at once. All model calls together take at most *seconds*.
    """
    settings = load_settings(vault=vault, environ=environ)
    with open_services(settings, create=False) as services:
        end = monotonic() + seconds
        failures = Spool(vault).work_off(lambda job: do_job(job, services, lambda: end - monotonic()))
        if monotonic() < end and 0 < services.vault.embeddings.counts().pending <= MOST_EMBEDDED:
            embed_new(services)
    if failures:
        raise JobsFailed("; ".join(failures))


def do_job(job: Job, services: Services, left: Callable[[], float]) -> None:
    """Do one job, which is idempotent; *left* returns the seconds for model calls. Raises the errors of its service."""
    event = job.event
    name, transcript, folder = (event.get(field, "") for field in ("session_id", "transcript_path", "cwd"))
    session = Session(name, transcript, project_of(folder), folder)
    session_capture = services.session_capture(is_echo=_echo_test(services, session), left=left)
    match job.hook:
        case "decision-extractor":
            memories = session_capture.memorize(session)
            part = services.transcripts.read(session.transcript)
            is_unknown = part.end.offset and not (part.messages or part.sidechains)  # as of a newer client
            if is_unknown and not memories:
                raise SourceUnreadable(session.transcript, "no line is a message in a known format")
        case "handoff-generator":
            session_capture.hand_over(session)
        case "feedback-loop":
            session_capture.credit(session)
        case "postcompact-capture":
            session_capture.summarize(session, event.get("compact_summary", ""))
        case _:
            raise LookupError(f"nobody does {job.hook!r}")
    services.transcript_archive.store(session)


def _echo_test(services: Services, session: Session) -> Callable[..., bool]:
    """Return whether a sentence repeats what hooks gave to the session, which is not captured as new."""

    @cache
    def injected() -> frozenset[int]:
        documents, telemetry = services.vault.documents, services.vault.telemetry
        ids = {hit.document_id for recall in telemetry.recalls(session_id=session.id) for hit in recall.hits}
        hashes = InjectedFingerprints(services.settings.vault).of(session.id)
        for document in documents.many(sorted(ids)[-MOST_DOCUMENTS:]).values():
            heading = f"{document.title} ({document.content_type}) {document.display_path}"  # as in a block
            body = (documents.body(document.id) or "")[:READ_OF_BODY]
            hashes = hashes.union(fingerprint(body), fingerprint(heading))
        return hashes

    return lambda sentence, by_user=False: is_echo(sentence, injected(), by_user=by_user)
