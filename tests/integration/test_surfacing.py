"""What a prompt carries, over a real vault."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from surfacing_home import PROMPT, Home, places

from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.sqlite.silent_turn import record_silent_turn
from clawmem.app.services.lifecycle.tending import LifecycleActions
from clawmem.app.services.retrieval.recalls import Recalls, Retention
from clawmem.app.services.retrieval.work import Candidate
from clawmem.app.services.surfacing.spending import spent_by, spent_lately
from clawmem.app.services.surfacing.surface import BlockRendering
from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING, gated, turns_of
from clawmem.domain.documents.tokens import token_count
from clawmem.domain.surfacing.block import frame_tokens
from clawmem.domain.surfacing.profiles import PROFILES, ThresholdMode
from clawmem.ports.errors import EmbeddingError, VaultError
from clawmem.ports.origin import Origin
from clawmem.ports.records import Vector
from clawmem.ports.relations import Relation, RelationKind

SHOWN = ("decisions/backups.md", "ops/restore.md", "people/ann.md", "boat.md")
EVERYTHING = (
    "Helsinki backups, the safe of Ann, the boat in Moss, and the sweep with its lock: what about them?"
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.vault.close()


class TestWhatIsSaid:
    """Steps 5 to 19."""

    def test_the_text_that_matched_is_in_the_block(self, home: Home) -> None:
        """A title names a note, only its text answers: it stands there with its place and its day."""
        said = home.ask()

        root = ElementTree.fromstring(said.block)
        assert [child.tag for child in root][:2] == ["instruction", "facts"]
        assert "Backups go to a storage box in Helsinki." in said.block
        assert "**Backups** (decision) notes/decisions/backups.md:6, " in said.block

    @pytest.mark.parametrize("profile", PROFILES)
    def test_every_profile_answers(self, home: Home, profile: str) -> None:
        """With every profile what answers comes first; what it may take is never exceeded."""
        said = home.ask(profile=profile)

        assert "storage box in Helsinki" in said.block
        assert said.tokens <= PROFILES[profile].budget

    def test_silence(self, home: Home) -> None:
        """Where nothing is likely enough nothing is said, and the row of the turn has no hits."""
        said = home.ask(confidence=lambda candidate: 0.19)

        assert said.block == ""
        assert [(row.verb, row.hits) for row in home.rows()] == [(CONTEXT_SURFACING, ())]

    def test_the_threshold_is_adaptive(self, home: Home) -> None:
        """Beside a likely answer an unlikely one is not shown; by itself it might have been."""
        confidence = home.confidence({"decisions/backups.md": 0.9, "people/ann.md": 0.4})

        assert places(home.ask(confidence=confidence)) == ["decisions/backups.md"]
        assert places(home.ask(confidence=home.confidence({"people/ann.md": 0.4}))) == ["people/ann.md"]

    def test_what_holds_now_goes_first(self, home: Home) -> None:
        """A note that was superseded stands directly below its successor, however well it matches; it stays."""
        home.take_in(
            home.folder / "notes",
            {
                "old.md": "Ledger rotation is weekly.\n\nLedger rotation by hand.\n\nLedger rotation on Monday.",
                "new.md": "---\nsupersedes: old.md\n---\nLedger rotation is daily.",
            },
        )
        confidence = home.confidence({"old.md": 0.9, "new.md": 0.6})

        said = home.ask("how often is the ledger rotation?", confidence=confidence)

        assert places(said) == ["new.md", "old.md"]
        assert said.block.index("daily") < said.block.index("weekly")

    def test_what_was_asked_about_the_past_keeps_its_order(self, home: Home) -> None:
        home.take_in(
            home.folder / "notes",
            {
                "old.md": "Ledger rotation is weekly.",
                "new.md": "---\nsupersedes: old.md\n---\nLedger rotation is daily.",
            },
        )
        confidence = home.confidence({"old.md": 0.9, "new.md": 0.6})

        said = home.ask("how often was the ledger rotation before?", confidence=confidence)

        assert places(said)[0] == "old.md"

    def test_tiers(self, home: Home) -> None:
        """What is far behind the best is named and not quoted; the best is quoted however likely it is."""
        confidence = home.confidence({"decisions/backups.md": 0.5, "people/ann.md": 0.29})

        said = home.ask(confidence=confidence)

        assert "storage box" in said.block
        assert "notes/people/ann.md" in said.block
        assert "Her backups" not in said.block

    @pytest.mark.parametrize("name", ["experiments/try.md", "denial.md", "attack.md"])
    def test_what_is_never_surfaced(self, home: Home, name: str) -> None:
        """What is only tried, what says that it knows nothing and what gives orders, however well it matches."""
        confidence = home.confidence({name: 1.0, "decisions/backups.md": 0.9})

        assert places(home.ask(confidence=confidence)) == ["decisions/backups.md"]

    def test_files_that_a_prompt_names(self, home: Home) -> None:
        """What speaks of a named file is found, though nothing else of the prompt is in it."""
        said = home.ask("Backups, Helsinki, storage box: refactor src/sweep.py", profile="speed")

        assert "todo.md" in places(said)
        assert "leaves its lock behind" in said.block

    def test_nothing_ends_the_block(self, home: Home) -> None:
        """A note that holds our own elements is text."""
        said = home.ask("Of which wood is the mast of the boat?")

        root = ElementTree.fromstring(said.block)
        assert "<facts>The mast is of spruce & pine.</facts>" in (root.findtext("facts") or "")

    def test_secrets_go_before_a_text_is_cut(self, home: Home) -> None:
        """What redacts sees the whole text of the note and the place of the fragment in it."""
        seen: list[str] = []

        def redact(text: str, start: int, end: int) -> str:
            seen.append(text[start:end])
            return text[start:end].replace("Helsinki", "[redacted: town]")

        said = home.ask(dressing=BlockRendering(str, redact))

        assert "Backups go to a storage box in Helsinki." in seen
        assert "storage box in [redacted: town]" in said.block

    def test_relations_among_what_is_shown(self, home: Home) -> None:
        """An edge is told when both of its ends are shown, and not when only one is."""
        one, other = home.id_of("decisions/backups.md"), home.id_of("people/ann.md")
        for target in (other, home.id_of("boat.md")):
            home.vault.relations.put(
                [Relation(one, target, RelationKind.CAUSAL, 0.8, "test", "2026-01-01T00:00:00Z")]
            )
        confidence = home.confidence({"decisions/backups.md": 0.9, "people/ann.md": 0.9})

        said = home.ask(confidence=confidence)

        assert "<relationships>\n- Backups --[causal]--> Ann\n</relationships>" in said.block

    def test_relations_of_others_are_not_told(self, home: Home) -> None:
        """A strong edge of a note from outside takes no room from an edge between notes of the user."""
        texts = {f"page{n}.md": f"# Page {n}\n\nThe backups go to Oslo, page {n} says.\n" for n in range(11)}
        home.take_in(home.folder / "notes", texts)
        pages = [home.id_of(path) for path in texts]
        home.vault.documents.set_origin(pages, Origin.TOOL_OUTSIDE)
        one, other = home.id_of("decisions/backups.md"), home.id_of("people/ann.md")
        home.vault.relations.put(
            [
                Relation(one, other, RelationKind.CAUSAL, 0.5),
                *(Relation(one, page, RelationKind.CAUSAL, 0.9) for page in pages),
                *(Relation(page, one, RelationKind.SUPPORTING, 0.9) for page in pages),
            ]
        )
        shown = {path: 0.9 for path in ("decisions/backups.md", "people/ann.md", *texts)}

        said = home.ask(confidence=home.confidence(shown), profile=PROFILES["deep"])

        assert "**“Page " in said.block
        assert "<relationships>\n- Backups --[causal]--> Ann\n</relationships>" in said.block

    def test_what_was_of_use_together_rises(self, home: Home) -> None:
        """A note that helped together with the best answer passes one that is a little more likely."""
        best, partner = home.id_of("decisions/backups.md"), home.id_of("people/ann.md")
        scores = {"decisions/backups.md": 0.9, "ops/restore.md": 0.75, "people/ann.md": 0.7, "boat.md": 0.65}
        prompt = "Helsinki backups, the safe of Ann, and the boat in Moss: what about them?"
        before = places(home.ask(prompt, confidence=home.confidence(scores)))

        home.vault.usage.note({best: True, partner: True}, "2026-01-01T00:00:00Z")
        after = places(home.ask(prompt, confidence=home.confidence(scores)))

        assert before.index("ops/restore.md") < before.index("people/ann.md")
        assert after.index("people/ann.md") < after.index("ops/restore.md")

    def test_ten_relations_at_most_and_they_go_first(self, home: Home) -> None:
        """The strongest ten are told; where the entries need the room there is none of them."""
        ids = [home.id_of(path) for path in SHOWN]
        pairs = list(permutations(ids, 2))
        home.vault.relations.put(
            Relation(one, other, RelationKind.CAUSAL, 0.2 + n / 20, "test", "2026-01-01T00:00:00Z")
            for n, (one, other) in enumerate(pairs)
        )

        profile = PROFILES["deep"]
        told = home.ask(EVERYTHING, profile=profile).block
        entries = told.partition("<facts>\n")[2].partition("\n</facts>")[0]
        tight = profile._replace(budget=frame_tokens() + token_count(entries))

        assert len(pairs) == 12
        assert told.count("--[causal]-->") == 10
        assert "<relationships>" not in home.ask(EVERYTHING, profile=tight).block

    def test_a_procedure_is_not_buried(self, home: Home) -> None:
        """The best way of doing something comes fourth where none of the first three notes is one."""
        scores = {
            "decisions/backups.md": 0.9,
            "people/ann.md": 0.85,
            "boat.md": 0.8,
            "todo.md": 0.7,
            "ops/restore.md": 0.6,
        }

        assert (
            places(home.ask(EVERYTHING, confidence=home.confidence(scores)))[:5].index("ops/restore.md") == 3
        )

    def test_only_one_line_of_a_procedure_rises(self, home: Home) -> None:
        """All other lines stay in the order of their scores: no line of a note goes before a better one of another."""
        spare = "\n\nThe spare mast lies in the shed.\n"
        logs = {f"log{n}.md": f"# Log {n}\n\nThe mast, seen on day {n}.{spare}" for n in range(4)}
        home.take_in(home.folder / "notes", {**logs, "how.md": f"# How to\n\nThe mast: step 1, oil.{spare}"})
        first = {"log0.md": 0.9, "log1.md": 0.85, "log2.md": 0.8, "log3.md": 0.75, "how.md": 0.7}
        known = {home.id_of(path): score for path, score in first.items()}

        def confidence(candidate: Candidate) -> float:
            is_first = candidate.span is not None and candidate.span.start_line == 3
            return known.get(candidate.document_id, 0.0) - (0.0 if is_first else 0.15)

        said = home.ask("What about the mast?", confidence=confidence, profile="deep")

        shown = [result.document.path.removesuffix(".md") for result in said.answer.results]
        assert shown == ["log0", "log1", "log2", "how", "log3", "log0", "log1", "log2", "log3", "how"]

    def test_a_wish_is_not_buried(self, home: Home) -> None:
        """How somebody wants things done comes directly behind the first three, unless it is hardly about the prompt."""
        said, ignored = "Always encrypt the backups.", "Never sail the boat alone."
        home.take_in(
            home.folder / "notes", {"wish.md": f"# W\n\n{said}\n", "other.md": f"# O\n\n{ignored}\n"}
        )
        scores = {path: 0.9 - n / 50 for n, path in enumerate((*SHOWN, "todo.md"))}
        confidence = home.confidence({**scores, "wish.md": 0.6, "other.md": 0.53})

        shown = places(home.ask(EVERYTHING, confidence=confidence))

        assert shown.index("wish.md") == 3
        assert shown[-1] == "other.md"

    @pytest.mark.parametrize(
        "text", ["**assistant:** Always encrypt the backups.", "Always encrypt the backups."]
    )
    def test_nobody_elses_wish_rises(self, home: Home, text: str) -> None:
        """Neither what an assistant said nor what was imported tells how things are done here."""
        tag = "" if text.startswith("**") else "---\ntags: [origin:imported]\n---\n"
        home.take_in(home.folder / "notes", {"wish.md": f"{tag}# W\n\n{text}\n"})
        scores = {path: 0.9 - n / 50 for n, path in enumerate((*SHOWN, "todo.md"))}

        said = home.ask(EVERYTHING, confidence=home.confidence({**scores, "wish.md": 0.6}))

        assert said.answer.results[-1].document.path == "wish.md"

    def test_texts_are_shorter_where_not_all_fit(self, home: Home) -> None:
        """The first half of a budget goes to texts as long as their tier allows; where all fit, all of it does."""
        logs = {f"log{n}.md": f"# Log {n}\n\nThe mast, day {n}: {'calm seas ' * 28}.\n" for n in range(12)}
        home.take_in(home.folder / "notes", logs)
        roomy = PROFILES["balanced"]._replace(budget=2000)

        tight, whole = (
            home.ask("What about the mast?", profile=profile).block for profile in ("balanced", roomy)
        )

        lengths = [len(line) for line in tight.splitlines() if line.startswith("The mast, day")]
        full = sum(length > 280 for length in lengths)
        assert 2 <= full < len(lengths)
        assert max(lengths[full:]) <= 150
        assert token_count(tight) <= PROFILES["balanced"].budget
        assert all(len(line) > 280 for line in whole.splitlines() if line.startswith("The mast, day"))

    def test_the_absolute_threshold(self, home: Home) -> None:
        """By itself: .45 for most prompts, .35 for one that asks for what is recent."""
        confidence = home.confidence({"decisions/backups.md": 0.4})

        assert home.ask(confidence=confidence).block
        assert not home.ask(confidence=confidence, mode=ThresholdMode.ABSOLUTE).block
        latest = "What is the latest about the backups in Helsinki?"
        assert home.ask(latest, confidence=confidence, mode=ThresholdMode.ABSOLUTE).block

    def test_facts_stand_in_their_own_element(self, home: Home) -> None:
        """Lines about the things of a prompt follow what was found; speed has none, and broken ones are left out."""
        dressing = BlockRendering(str, facts_of=lambda prompt, budget: ["Ann keeps key"] if budget else [])
        broken = BlockRendering(str, facts_of=lambda prompt, budget: [str(1 // 0)])

        assert "<vault-facts>\nAnn keeps key\n</vault-facts>" in home.ask(dressing=dressing).block
        assert "<vault-facts>" not in home.ask(dressing=dressing, profile="speed").block
        assert "<facts>" in home.ask(dressing=broken).block

    def test_the_hint_only_comes_with_a_block(self, home: Home) -> None:
        """A prompt that asks for a reason is pointed to more; a silent one to nothing."""
        why = "Why do the backups go to Helsinki?"

        assert "clawmem intent-search" in home.ask(why).block.partition("</vault-routing>")[0]
        assert home.ask(why, confidence=lambda candidate: 0.0).block == ""

    def test_the_nudge(self, home: Home) -> None:
        """After so many blocks the memory asks to be tended, until somebody does."""
        dressing = BlockRendering(str, nudge_interval=2)
        for _ in range(2):
            assert "<vault-nudge>" not in home.ask(dressing=dressing).block

        assert home.ask(dressing=dressing).block.endswith("</vault-nudge>")

        boat = home.vault.documents.get(home.id_of("boat.md"))
        assert boat
        LifecycleActions(home.vault, home.clock).pin(boat, by="cli")
        assert "<vault-nudge>" not in home.ask(dressing=dressing).block

    def test_what_stands_around_a_block_is_paid_for(self, home: Home) -> None:
        """A pointer and a reminder take the room of the last entry, not more than the profile allows."""
        why = f"Why? {EVERYTHING}"
        plain = home.ask(why, dressing=BlockRendering(str)).block
        whole = token_count(plain) + 1  # frame and entries are rounded up each
        exact = PROFILES["balanced"]._replace(budget=whole, facts_budget=0)
        assert home.ask(why, profile=exact, dressing=BlockRendering(str)).block == plain

        reminded = home.ask(why, profile=exact, dressing=BlockRendering(str, nudge_interval=1)).block

        assert "<vault-routing>" in reminded and "<vault-nudge>" in reminded
        assert token_count(reminded) <= whole
        assert 0 < reminded.count("**") < plain.count("**")


class TestFocus:
    """Step 11."""

    def test_a_topic_lifts_what_is_about_it(self, home: Home) -> None:
        """What a session keeps to comes first among what is about as likely."""
        confidence = home.confidence({"decisions/backups.md": 0.65, "people/ann.md": 0.6})

        assert places(home.ask(confidence=confidence))[0] == "decisions/backups.md"
        assert places(home.ask(confidence=confidence, topic="ann safe"))[0] == "people/ann.md"

    def test_a_topic_chooses_the_line_that_is_shown(self, home: Home) -> None:
        """Of a passage that is too long to be shown whole, the topic's line is; it is the intent of the question."""
        logbook = home.vault.info().location.replace("index.sqlite", "log")
        lines = "".join(f"The mast, day {n}: {'nothing new of it and ' * 6}calm.\n" for n in range(8))
        text = f"# Log\n\n{lines}The mast, day 9: a crack below the spreader.\n"
        home.take_in(Path(logbook), {"log.md": text})

        plain, with_topic = (
            home.ask("What about the mast?", topic=topic) for topic in ("", "crack spreader")
        )

        assert with_topic.request.purpose == "crack spreader"
        assert "a crack below" not in plain.block
        assert "a crack below the spreader" in with_topic.block

    def test_a_topic_that_nothing_is_about(self, home: Home) -> None:
        """Where nothing matches the block is the same to the byte."""
        assert home.ask(topic="quantum zebras").block == home.ask().block


class TestTurns:
    """Steps 1, 2, 4, 7 and 19."""

    def test_every_turn_has_a_row(self, home: Home) -> None:
        """Skipped, silent and answered turns are counted through, in any order."""
        home.ask()
        record_silent_turn(str(home.vault.info().location), CONTEXT_SURFACING, "s1")
        home.ask("What colour is the mast of the boat?", confidence=lambda candidate: 0.0)
        home.ask("Who keeps the key of the safe?")

        rows = sorted(home.rows(), key=lambda row: row.turn_index)
        assert [row.turn_index for row in rows] == [0, 1, 2, 3]
        assert [bool(row.hits) for row in rows] == [True, False, False, True]

    def test_each_note_is_given_once(self, home: Home) -> None:
        """A note of which two lines are shown is one hit of the turn; every note of the block is one."""
        said = home.ask(EVERYTHING, profile="deep")

        (row,) = home.rows()
        given = [hit.document_id for hit in row.hits]
        assert len(said.answer.results) > len(given)
        assert given == list(dict.fromkeys(given))
        assert set(given) == {home.id_of(path) for path in places(said)}

    def test_a_silent_row_is_as_telemetry_writes_it(self, home: Home) -> None:
        """The light way and the port's own leave the same row, but for the moment and the question's hash."""
        turns = turns_of(home.vault.telemetry, "s2")
        home.vault.telemetry.record(gated(turns, "hi", home.clock.now_ms()))

        assert record_silent_turn(str(home.vault.info().location), CONTEXT_SURFACING, "s3")

        (by_port,), (light,) = home.rows("s2"), home.rows("s3")
        fields = ("verb", "took_ms", "limit", "degraded", "hits", "turn_index")
        assert [getattr(light, name) for name in fields] == [getattr(by_port, name) for name in fields]
        assert len(light.asked_at) == len(by_port.asked_at)
        assert light.asked_at.endswith("Z")

    def test_a_silent_row_waits_for_nobody(self, home: Home, tmp_path: Path) -> None:
        """While somebody writes, and where there is no vault, the row is left out."""
        with home.vault.writing():
            began = time.monotonic()
            assert not record_silent_turn(str(home.vault.info().location), CONTEXT_SURFACING, "s1")
            assert time.monotonic() - began < 2

        assert not record_silent_turn(str(tmp_path / "none.sqlite"), CONTEXT_SURFACING, "s1")
        assert not (tmp_path / "none.sqlite").exists()

    def test_looking_back(self, home: Home) -> None:
        """
        A prompt that means nothing alone is looked for with the one before it; after ten minutes it is not.

        What the one before it was given is not given again.
        """
        first = home.ask(
            "Who keeps the key of the safe, Ann?", confidence=home.confidence({"ops/restore.md": 0.9})
        )

        with_it = home.ask("please tell me more about her and so on", profile="speed")
        home.clock.advance(11 * 60_000)
        without = home.ask("please tell me more about her and so forth", profile="speed")

        assert places(first) == ["ops/restore.md"]
        assert "people/ann.md" in places(with_it)
        assert "ops/restore.md" not in places(with_it)
        assert places(without) == []

    def test_a_question_that_found_nothing_is_looked_back_to(self, home: Home) -> None:
        """Silence keeps the words as well: the next prompt is looked for together with them."""
        silent = home.ask("Who keeps the key of the safe, Ann?", confidence=lambda candidate: 0.0)

        after = home.ask("please tell me more about her and so on", profile="speed")

        assert (silent.block, next(iter(home.rows())).hits) == ("", ())
        assert "people/ann.md" in places(after)

    def test_without_receipts_there_is_no_look_back(self, home: Home) -> None:
        """Who keeps no words of questions is not asked again by them."""
        mute = Recalls(home.vault.telemetry, home.clock, home.vault.receipts, retention=Retention(90, 0))
        home.ask("Who keeps the key of the safe, Ann?", recalls=mute)

        after = home.ask("please tell me more about her and so on", recalls=mute, profile="speed")

        assert places(after) == []

    def test_seen_recently(self, home: Home) -> None:
        """The same prompt of the same session is known for ten minutes, to the second; never with a window of 0."""
        home.ask()
        turns, now = turns_of(home.vault.telemetry, "s1"), home.clock.now_ms()

        assert turns.seen(f"  {PROMPT} ", now + 600_000)
        assert not turns.seen(PROMPT, now + 600_001)
        assert not turns.seen(PROMPT, now, within_s=0)
        assert not turns_of(home.vault.telemetry, "s2").seen(PROMPT, now)

    def test_what_was_spent(self, home: Home) -> None:
        """Prompts, blocks, tokens and what was of use are counted by session."""
        said = home.ask()
        home.ask("What colour is the mast of the boat?", confidence=lambda candidate: 0.0)
        row = next(row for row in home.rows() if row.hits)
        home.vault.telemetry.mark_referenced(row.id, [row.hits[0].document_id])

        spent = spent_by(home.vault, "s1")

        assert spent
        assert (spent.prompts, spent.blocks, spent.tokens) == (2, 1, said.tokens)
        assert spent.share_referenced == pytest.approx(
            1 / len({hit.document_id for hit in row.hits}), abs=0.5
        )
        assert spent_lately(home.vault, "", 5) == [spent]
        assert spent_by(home.vault, "nobody") is None


class Stuck:
    """An embedder that does not answer in time."""

    def __init__(self, of: HashingEmbedder, seconds: float) -> None:
        self.fingerprint = of.fingerprint
        self.dimensions = of.dimensions
        self._seconds = seconds

    def embed_query(self, text: str) -> Vector:
        time.sleep(self._seconds)
        raise EmbeddingError("too late")


class TestFaults:
    """Whatever is missing, what is there answers in time."""

    def test_a_model_that_hangs(self, home: Home) -> None:
        """Words answer within the deadline, and the receipt says what was missing."""
        began = time.monotonic()
        said = home.ask(embedder=Stuck(home.embedder, 1.5))

        assert time.monotonic() - began < PROFILES["balanced"].deadline_s
        assert "storage box in Helsinki" in said.block
        assert said.answer.trace.degraded == {"vector": "no answer within 0.9 s"}

    def test_facts_that_fail(self, home: Home) -> None:
        """The block stands without them."""

        def broken(prompt: str, budget: int) -> list[str]:
            raise VaultError("here", "no facts today")

        said = home.ask(dressing=BlockRendering(str, facts_of=broken))

        assert "storage box in Helsinki" in said.block
        assert "<vault-facts>" not in said.block

    def test_a_vault_without_vectors(self, tmp_path: Path) -> None:
        """Nothing is missing that was never there."""
        home = Home(tmp_path)
        home.vault.embeddings.clear()

        said = home.ask()

        assert "storage box in Helsinki" in said.block
        assert not said.answer.trace.degraded
        home.vault.close()
