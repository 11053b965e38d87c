"""Documents: their texts, properties, tags and links, what is near in meaning; and entities, facts and causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import (
    MAX_LINES,
    Address,
    AsOf,
    CollectionNames,
    Conditions,
    FromLine,
    Limit,
    LongLimit,
    MaxLines,
    Names,
    OptionalAddress,
    Since,
    TagNames,
    Until,
    conditions_in,
    listed,
    named_collections,
    properties_to_read,
)
from clawmem.app.operations.operation import (
    Command,
    Effect,
    Option,
    Result,
    SelectedResult,
    argument,
    operation,
)
from clawmem.app.operations.output import Verbatim, encodable, plural, records_table
from clawmem.app.operations.search import Compact, SearchAnswer, answer_of, answer_parts
from clawmem.app.services.documents.days import within_days
from clawmem.app.services.documents.listing import check_filters, documents_with
from clawmem.app.services.documents.lookup import MAX_BYTES, Excerpt, LookupFailure
from clawmem.app.services.documents.records import (
    DatedDocument,
    DocumentReference,
    dated_fields,
    dated_fields_of,
    reference_to,
    successor_mark,
    with_successor,
)
from clawmem.app.services.documents.references import FoundLink, found_links
from clawmem.app.services.documents.tasks import OpenTask, open_task, tasks_in
from clawmem.app.services.knowledge.facts import (
    EntityFacts,
    NoteVersion,
    entities_like,
    entity_facts,
    versions,
)
from clawmem.app.services.knowledge.graph import SIMILAR as LEAST_SIMILAR
from clawmem.app.services.knowledge.graph import BuildReport, CausalLink, causes_and_effects
from clawmem.app.services.retrieval.pipelines import SIMILAR
from clawmem.app.services.retrieval.request import first_after, last_day, read_period, scope_within
from clawmem.app.services.retrieval.retrieve import NO_VECTORS
from clawmem.domain.briefing.blocks import shortened
from clawmem.domain.documents.properties import read_filter, sort_key
from clawmem.domain.graph.traversal import DEPTH, LEAST_DEPTH, MOST_DEPTH
from clawmem.domain.graph.traversal import Direction as CausalDirection
from clawmem.domain.security.quoting import label_of_others, lines_to_read, title_to_read, without_orders
from clawmem.domain.text.dates import coming_days, recorded_midnight
from clawmem.domain.text.written_dates import local_day, local_moment
from clawmem.ports.documents import TAGS
from clawmem.ports.errors import InvalidInput
from clawmem.ports.knowledge import Direction, Entity
from clawmem.ports.models import is_remote
from clawmem.ports.records import Origin, Scope

LONGEST_NAME = 1000  # characters
LISTED = "docid authored_at=written changed_after=changed content_type=type properties file title"
Cosine = Annotated[float, Field(gt=0, le=1)]
Kinds = Annotated[list[Literal["temporal", "semantic", "all"]], Field(min_length=1)]
ReadAsOf = Annotated[AsOf, "Mark a text that was written or changed after this day."]
LineNumbers = Annotated[bool, Field(description="Put its number before every line.")]


class Text(SelectedResult, DatedDocument):
    """Lines of a document; only `get` has the last keys."""

    start_line: int
    total_lines: int
    text: str
    context: str = Field(default="", description="The descriptions of its folders in the config file.")
    properties: dict[str, list[str]] = Field(default={}, description="Front matter, fields and tags.")
    backlinks: list[FoundLink] = Field(default=[], description="The first links of other notes to this one.")
    note: str = Field(default="", description="A sentence of a model about it, or characteristic words.")
    entities: dict[str, str] = Field(default={}, description="Persons and things that it names, with kinds.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return whose text it is, what supersedes or changed it, which notes link to it, and its properties."""
        marks = (label_of_others(self.origin), successor_mark(self.superseded_by))
        sources = [*dict.fromkeys(f"{link.source}:{link.line}" for link in self.backlinks)]
        facts = {"written": [local_day(self.authored_at)], "origin": [str(self.origin)]}
        facts |= {"trusted": ["yes" if self.trusted else "no"]} | self.properties
        shown = "; ".join(f"{name}: {', '.join(values)}" for name, values in facts.items())
        links = [f"Links to {self.file}: {', '.join(sources)}."] if sources else []
        standing = [f"{self.file} is {mark}." for mark in marks if mark]
        return [*standing, *filter(None, [self.later]), *links, title_to_read(shown, self.origin)]

    @property
    def heading(self) -> str:
        """Return a line with its place, its title, what supersedes it, and whether it is later than asked for."""
        title = with_successor(title_to_read(self.title, self.origin), self.superseded_by)
        place = f"{self.file} ({self.docid}), from line {self.start_line} of {self.total_lines}"
        return f"{place}: {title} {self.later}".rstrip()

    @property
    def commented(self) -> str:
        """Return an HTML comment with the context, which a ``-->`` in it does not end; empty without one."""
        return f"<!-- Context: {self.context.replace('-->', '--&gt;')} -->\n\n" if self.context else ""

    @property
    def attachment(self) -> tuple[str, str]:
        """Return the URI, and the text for an agent, quoted if others wrote it."""
        text = "\n".join(lines_to_read(self.text, self.origin))
        return f"clawmem://{quote(self.file)}", self.commented + text


class Texts(SelectedResult):
    """Several documents; ``errors`` are the names and documents that were left out."""

    count: int
    documents: list[Text]
    errors: list[LookupFailure]

    @property
    def problems(self) -> Sequence[str]:
        """Return why names and documents were left out."""
        return [failure.message for failure in self.errors]


def text_of(
    excerpt: Excerpt, *, is_numbered: bool, moment: str = "", max_lines: int | None = None, **more: Any
) -> Text:
    """Return lines of a document as a result, without orders of others."""
    document = excerpt.document
    lines = without_orders(excerpt.text, document.origin).splitlines(keepends=True)[:max_lines]
    if is_numbered:
        lines = [f"{number}: {line}" for number, line in enumerate(lines, excerpt.start_line)]
    return Text(
        **dated_fields(document, excerpt.docid, excerpt.superseded_by, moment),
        start_line=excerpt.start_line,
        total_lines=excerpt.total_lines,
        text=encodable("".join(lines)),
        **more,
    )


@operation(
    Effect.READS,
    text=lambda result: result.heading,
    route="/documents/{file:path}",
    command=(Command("get", fits=lambda words: len(words) == 1 and not {"*", "?"} & {*words[0]}),),
    terminal=lambda result: [Verbatim(f"{result.commented}{result.text}")],
    attachments=lambda result: [result.attachment],
)
def get(
    services: Services,
    file: Address,
    from_line: FromLine = None,
    max_lines: MaxLines = None,
    line_numbers: LineNumbers = False,
    as_of: ReadAsOf = "",
) -> Text:
    """Read one document, or lines of it: the address may end with :LINE."""
    excerpt, vault = services.lookup.get(file, from_line=from_line, max_lines=max_lines), services.vault
    document, origin = excerpt.document, excerpt.document.origin
    note, stored = vault.notes.get(document.id), vault.properties.many([document.id]).get(document.id, ())
    pairs = [(property.name, property.value) for property in stored if property.name != TAGS]
    pairs += [(TAGS, tag) for tag in document.tags]
    private = "Private: kept out of prompts and briefings." if document.id in services.withheld() else ""
    context = services.settings.context_of(document.collection, document.path)
    return text_of(
        excerpt,
        is_numbered=line_numbers,
        moment=first_after(as_of, services.clock) or "",
        context=" ".join(filter(None, (private, context))),
        properties=properties_to_read(pairs, origin),
        backlinks=found_links(vault.documents, vault.links, vault.links.incoming([document.id])[:10]),
        note=without_orders(note.context or ", ".join(note.keywords), origin) if note else "",
        entities={
            without_orders(entity.name, origin): entity.kind
            for entity in vault.entities.mentions(document.id)
        },
    )


@operation(
    Effect.READS,
    text=lambda result: "\n".join(text.heading for text in result.documents),
    route="/documents",
    command="get",
    terminal=lambda result: [Verbatim(f"==> {text.heading} <==\n{text.text}\n") for text in result.documents],
    attachments=lambda result: [text.attachment for text in result.documents],
)
def multi_get(
    services: Services,
    pattern: Annotated[Names, "A glob, or names with commas.", Field(min_length=1), argument("NOTE...")],
    max_lines: MaxLines = None,
    max_bytes: Annotated[int, Field(ge=1, le=MAX_LINES, description="Leave out larger ones.")] = MAX_BYTES,
    line_numbers: LineNumbers = False,
    as_of: ReadAsOf = "",
) -> Texts:
    """Read several documents at once; names and documents that were left out are reported."""
    if not isinstance(pattern, str) and len(pattern) == 1:  # which may be several with commas
        [pattern] = pattern
    excerpts, errors = services.lookup.multi_get(pattern, max_bytes=max_bytes)
    moment = first_after(as_of, services.clock) or ""
    as_text = partial(text_of, is_numbered=line_numbers, moment=moment, max_lines=max_lines)
    return Texts(count=len(excerpts), documents=[*map(as_text, excerpts)], errors=errors)


class ListedDocument(DatedDocument):
    """A document in a list; ``properties`` are those that the conditions and the order name."""

    properties: dict[str, list[str]]


class Listing(Result):
    """The documents that meet the conditions, newest first; ``total`` includes documents that are not listed."""

    count: int
    total: int
    documents: list[ListedDocument]
    remarks: list[str] = Field(default=[], description="Documents that are not listed.")


@operation(
    Effect.READS,
    name="list",
    text=lambda listing: (
        records_table(listing.documents, LISTED)
        if listing.documents
        else "No document meets this. If a note is missing, run: clawmem update; for a new folder, clawmem bootstrap PATH"
    ),
    route="/list",
)
def list_documents(
    services: Services,
    limit: LongLimit = 10,
    collection: CollectionNames = "",
    tag: TagNames = "",
    where: Conditions = "",
    since: Since = "",
    until: Until = "",
    sort: Annotated[str, "Sort by this property; else newest first."] = "",
    as_of: AsOf = "",
) -> Listing:
    """List the documents with some properties or tags; without conditions, those that were written last."""
    vault, moment, where = services.vault, first_after(as_of, services.clock), conditions_in(where)
    ordering = [sort] if sort else []
    check_filters(vault.documents, vault.properties, [], ordering)
    scope = _scope(services, collection, tag, where, moment)
    if period := read_period(since, until, services.clock.now_ms(), zone := services.clock.zone()):
        scope = scope_within(scope, period, zone)
        scope = within_days(vault.documents, scope, period.days(zone))[0]
    total = len(vault.documents.ids(scope))
    # a name in another case is the same property
    names = {name.casefold(): name for name in [*(read_filter(text).name for text in where), *ordering]}
    values = {name: vault.properties.named(name) for name in names.values()}
    documents = vault.documents.latest(scope, limit=None if sort else limit)
    if sort:
        sorting = values[names[sort.casefold()]]
        documents = sorted(documents, key=lambda note: sort_key(sorting.get(note.id, ())))[:limit]
    hidden = total - len(documents)
    remarks = [f"{plural(hidden, 'more document')}: use a higher limit."] if hidden else []
    fields, shown = dated_fields_of(vault.documents, vault.successions, documents, moment), []
    for document in documents:
        pairs = [(name, part.value) for name, known in values.items() for part in known.get(document.id, ())]
        properties = properties_to_read(pairs, document.origin)
        shown.append(ListedDocument(**fields[document.id], properties=properties))
    return Listing(count=len(shown), total=total, documents=shown, remarks=remarks)


def _scope(
    services: Services, collection: Names, tag: Names, where: Names, until: str | None = None
) -> Scope:
    """Return the scope of the documents that meet conditions, written before *until*; refuse unknown names."""
    vault, wanted = services.vault, (listed(tag), conditions_in(where))
    check_filters(vault.documents, vault.properties, *wanted)
    recorded = recorded_midnight(until, services.clock.zone())
    scope = Scope(frozenset(named_collections(services, collection)), None, until, None, None, recorded)
    documents = documents_with(vault.documents, vault.properties, scope, *wanted) if any(wanted) else None
    return scope._replace(documents=documents)


@operation(
    Effect.READS,
    columns="day due text file line",
    empty="No open task in these days and notes. A line with an empty box is one: - [ ] Pay the rent 📅 2026-03-31",
    items="tasks",
    route="/tasks",
    command="list --tasks",
)
def list_tasks(
    services: Services,
    since: Annotated[str, "Only tasks of this day or later, such as today or 2026-03-31."] = "",
    until: Annotated[str, "Only tasks of this day or earlier, such as friday."] = "",
    limit: LongLimit = 50,
    collection: CollectionNames = "",
    tag: TagNames = "",
    where: Conditions = "",
) -> list[OpenTask]:
    """List the open tasks (- [ ]) in notes by day: that which is due, or of the heading or daily note; others last."""
    scope = _scope(services, collection, tag, where)
    days = _day(services, since)[0], _day(services, until)[1]
    if days[0] > days[1]:
        raise InvalidInput("INVALID_INPUT", f"{since} (since) is after {until} (until). Exchange them.")
    tasks = tasks_in(services.vault.documents, scope, days if since or until else None)
    return [open_task(note, task) for note, task in tasks[:limit]]


def _day(services: Services, text: str) -> tuple[str, str]:
    """Return the first and the last day that *text* names; of an empty text the earliest and the latest one."""
    if not text:
        return "", "9999-12-31"
    days = coming_days(f"in {text}", now_ms=services.clock.now_ms(), zone=services.clock.zone())
    if days and ":" not in text and days[2].strip() in ("", "in"):
        return days[:2]
    return (last_day(text, services.clock) or "",) * 2


class TagCount(Result):
    """A tag, and the number of notes with it or with a tag below it."""

    tag: str
    count: int


@operation(
    Effect.READS,
    columns="tag count=notes",
    empty="No note has a tag. Write #tag in a note, or tags: in its front matter.",
    items="tags",
    route="/tags",
    command="tags",
)
def list_tags(
    services: Services, collection: CollectionNames = "", limit: LongLimit = 1000
) -> list[TagCount]:
    """List the tags of notes, most used first; a note with a/b counts for a, too."""
    counts = services.vault.properties.values(TAGS, Scope(frozenset(named_collections(services, collection))))
    # Several notes have a tag, so that no single origin is known: a tag that reads like an order is never shown.
    tags = [*counts.items()][:limit]
    return [TagCount(tag=without_orders(name, Origin.IMPORTED), count=count) for name, count in tags]


@operation(
    Effect.READS,
    name="links",
    columns="source line written target problem",
    empty="No link, or no broken one. [[Name]] in a note links it to another.",
    items="links",
    route="/links",
)
def find_links(
    services: Services,
    file: OptionalAddress = "",
    broken: Annotated[bool, "Only links that lead to no note, or no place of it."] = False,
    collection: CollectionNames = "",
    limit: LongLimit = 100,
    as_of: AsOf = "",
) -> list[FoundLink]:
    """List the links of a note and the links to it. Without a note, list all links that lead nowhere."""
    stored, names = services.vault.links, named_collections(services, collection)
    if file:
        document = services.lookup.find(file, names)
        found = [*stored.outgoing([document.id]), *([] if broken else stored.incoming([document.id]))]
    else:
        found, broken = stored.doubtful(Scope(frozenset(names))), True
    if moment := first_after(as_of, services.clock):
        ends = {end for link in found for end in (link.document_id, link.target_id) if end}
        notes = services.vault.documents.many(ends)
        later = {number for number, note in notes.items() if local_moment(note.authored_at) >= moment}
        found = [link for link in found if later.isdisjoint((link.document_id, link.target_id))]
    roots = {folder.name: folder.root for folder in services.folders}
    links = found_links(services.vault.documents, stored, found, services.files, roots)
    links = [link for link in links if link.problem or not broken]
    return [link for link in links if not names or link.source.partition("/")[0] in names][:limit]


@operation(
    Effect.READS,
    text=answer_parts,
    route="/graph/similar/{file:path}",
    command=(Command("links --similar", fixed={"compact": False}),),
)
def find_similar(
    services: Services, file: Address, limit: Limit = SIMILAR, compact: Compact = True, as_of: AsOf = ""
) -> SearchAnswer:
    """List the documents nearest to a document in meaning; the score is a cosine."""
    document = services.lookup.find(file)
    if is_remote(services.embedder) and document.id in services.withheld():
        message = f"{document.display_path} is private, and the model of the vectors runs on another machine."
        raise InvalidInput("PRIVATE", message)
    moment = first_after(as_of, services.clock)
    near = services.find_similar(document, now_ms=services.clock.now_ms(), limit=limit, as_of=moment)
    answer = answer_of(near, services.settings, moment, compact)
    return answer.model_copy(update={"reference": reference_to(services.vault.documents, document)})


class Evolution(Result):
    """A document, and the versions of the note about it, newest first."""

    document: DocumentReference
    count: int
    timeline: list[NoteVersion]


def _facts_text(result: EntityFacts) -> Iterator[str]:
    for fact in result.facts:  # as [outgoing] Ann → uses → Redis (since 2026-03-31) [current, 90%] notes/a.md
        since = f" (since {fact.valid_from})" if fact.valid_from else ""
        until = f"{'current' if fact.current else f'ended {fact.valid_to}'}, {fact.confidence:.0%}"
        statement = f"{fact.subject} → {fact.predicate} → {fact.object}"
        yield from lines_to_read(f"[{fact.direction}] {statement}{since} [{until}] {fact.file}", fact.origin)
    if not result.facts:
        yield f"No facts about {result.entity.name} are known."
    yield f"All entities: {result.stats.current_facts} facts hold, {result.stats.expired_facts} ended."


def _evolution_text(result: Evolution) -> Iterator[str]:
    """Yield the versions with their keywords and contexts; those about a text of others are quoted."""
    for version in result.timeline:
        cause = f" by {version.triggered_by.file}" if version.triggered_by else ""
        about = f"v{version.version} {version.created_at[:10]} ({version.origin}){cause} {version.reasoning}"
        keywords = f"  {', '.join(version.new_keywords)}: {shortened(version.new_context or 'none', 50)}"
        yield from lines_to_read(f"{about}\n{keywords}", result.document.origin)
    if not result.timeline:
        yield f"There is no note about {result.document.file} yet. Run: clawmem maintain enrich"


@operation(
    Effect.READS,
    columns="name kind mention_count=documents id",
    empty="No entity has such a name. Names are read from notes by: clawmem maintain enrich",
    items="entities",
    route="/graph/entities",
    command="entities",
)
def find_entities(
    services: Services,
    query: Annotated[str, "Words of its name.", Field(max_length=LONGEST_NAME), argument("NAME...")] = "",
    limit: Limit = 10,
) -> list[Entity]:
    """List people, projects, tools and other things by name, or with a similar name; without one the most mentioned."""
    entities = services.vault.entities
    return entities.search(query or None, limit) or entities_like(entities, query, limit)


@operation(Effect.READS, text=_facts_text, route="/graph/facts", command="entities --facts")
def kg_query(
    services: Services,
    entity: Annotated[str, "Name or id.", Field(min_length=1, max_length=LONGEST_NAME), argument("NAME...")],
    as_of: Annotated[str | None, "Only what held on this day; otherwise what ended as well."] = None,
    direction: Annotated[Literal["outgoing", "incoming", "both"], "As subject, as object, or both."] = "both",
    limit: LongLimit = 100,
) -> EntityFacts:
    """List the facts about a person, project, tool or other thing, and when they held."""
    vault, way, on = services.vault, Direction(direction), last_day(as_of or "", services.clock)
    return entity_facts(vault.documents, vault.entities, vault.triples, entity, limit, way, on)


@operation(
    Effect.READS, text=_evolution_text, route="/graph/evolution/{docid:path}", command="timeline --evolution"
)
def memory_evolution_status(services: Services, docid: Address, limit: Limit = 10) -> Evolution:
    """List the versions of the note about a document, each with the document that caused it, newest first."""
    vault, document = services.vault, services.lookup.find(docid)
    timeline = versions(vault.documents, vault.notes, document, limit)
    reference = reference_to(vault.documents, document)
    return Evolution(document=reference, count=len(timeline), timeline=timeline)


class Graphs(Result):
    """The relations after a build; null for a kind that was not requested."""

    temporal: BuildReport | None = None
    semantic: BuildReport | None = None
    degraded: dict[str, str] = Field(default={}, description="Kinds that could not be built, and why.")


@operation(Effect.REPEATABLE, route="/graphs/build", command="maintain WORK=graph")
def build_graphs(
    services: Services,
    graph_types: Annotated[Kinds | None, "By time, by meaning, or all.", Option(("--type",))] = None,
    semantic_threshold: Annotated[Cosine, "Least cosine.", Option(("--threshold",))] = LEAST_SIMILAR,
) -> Graphs:
    """Relate documents that are close in time or in meaning; relations of other origins stay."""
    wanted, graphs = {*(graph_types or ["all"])}, Graphs()
    if wanted & {"temporal", "all"}:
        with services.progress("Ordering by time") as step:
            graphs.temporal = services.build_graphs.temporal(step)
    if wanted & {"semantic", "all"}:
        with services.progress("Finding neighbours") as step:
            graphs.semantic = services.build_graphs.semantic(semantic_threshold, step)
        if services.vault.embeddings.fingerprint() is None:
            graphs.degraded = {"semantic": NO_VECTORS}
    return graphs


@operation(
    Effect.READS,
    columns="direction depth=steps weight file reasoning",
    empty="No causes or effects are known.",
    items="links",
    route="/graph/causal/{docid:path}",
    command="links --causes",
)
def find_causal_links(
    services: Services,
    docid: Address,
    direction: Annotated[Literal["causes", "caused_by", "both"], "Effects, causes, or both."] = "both",
    depth: Annotated[int, Field(ge=LEAST_DEPTH, le=MOST_DEPTH, description="Steps to follow.")] = DEPTH,
    as_of: AsOf = "",
) -> list[CausalLink]:
    """List the causes and effects of a document, with their distance in steps and known reasons."""
    vault, document = services.vault, services.lookup.find(docid)
    way, moment = CausalDirection(direction), first_after(as_of, services.clock)
    return causes_and_effects(vault.documents, vault.relations, document, way, depth, moment)
