from dataclasses import replace

import pytest

from clawmem.contracts.base import Contract, VaultContract
from clawmem.ports.errors import InvalidInput
from clawmem.ports.models import ModelAnswers, ModelFailure, ModelFailures, ModelRole
from clawmem.ports.telemetry import Recall, RecallHit, ReceiptCounts, StoredReceipt, Telemetry
from clawmem.ports.vault import Vault

MONDAY = "2024-03-04T08:00:00.000Z"
TUESDAY = "2024-03-05T08:00:00.000Z"
WEDNESDAY = "2024-03-06T08:00:00.000Z"


def recall(asked_at: str = MONDAY, *document_ids: int, verb: str = "search", took_ms: float = 12.5) -> Recall:
    """Return a recall that returned these documents, the first at rank 1."""
    hits = tuple(RecallHit(number, rank, 1 / rank) for rank, number in enumerate(document_ids, start=1))
    return Recall(asked_at, verb, "0123456789ab", took_ms, 10, hits=hits)


def times(telemetry: Telemetry, since: str | None = None) -> list[str]:
    """Return the times of the recalls, in the order returned."""
    return [found.asked_at for found in telemetry.recalls(since)]


class TelemetryContract(Contract):
    """Recording of recalls, windows, order and deletion. Supply ``telemetry``: an EMPTY ``Telemetry``."""

    def test_everything_is_kept(self, telemetry: Telemetry) -> None:
        """
        A recall is returned with every field of it and of its hits unchanged, with its id.

        Hits are returned by rank, regardless of their input order; a document may have several ranks.
        """
        hits = (RecallHit(7, 3, 0.1 + 0.2), RecallHit(3, 2, 1 / 3, was_referenced=True), RecallHit(7, 1, 0.3))
        given = Recall(
            MONDAY,
            "context-surfacing",
            "0123456789ab",
            17.03,
            25,
            ("vector", "lexical"),
            hits,
            "session-1",
            4,
            prompt_id="prompt-1",
        )

        recall_id = telemetry.record(given)

        assert recall_id > 0
        assert [*telemetry.recalls()] == [given._replace(id=recall_id, hits=hits[::-1])]

    def test_oldest_first(self, telemetry: Telemetry) -> None:
        """Recalls are returned by time, then by id, regardless of insertion order; a window includes its beginning."""
        for day, document_id in ((WEDNESDAY, 1), (MONDAY, 2), (TUESDAY, 3), (MONDAY, 4)):
            telemetry.record(recall(day, document_id))

        found = [(recall.asked_at, recall.hits[0].document_id) for recall in telemetry.recalls()]

        assert found == [(MONDAY, 2), (MONDAY, 4), (TUESDAY, 3), (WEDNESDAY, 1)]
        assert times(telemetry, since=TUESDAY) == [TUESDAY, WEDNESDAY]

    def test_mark_referenced(self, telemetry: Telemetry) -> None:
        """Referenced hits are marked once, in their own recall; ids that are not among its hits are ignored."""
        first, second = (telemetry.record(recall(MONDAY, 7, 8, 9)) for _ in range(2))

        assert telemetry.mark_referenced(first, [9, 7, 987_654]) == 2
        assert telemetry.mark_referenced(first, [7]) == 0

        marks = {recall.id: [hit.was_referenced for hit in recall.hits] for recall in telemetry.recalls()}
        assert marks == {first: [True, False, True], second: [False] * 3}

    def test_trim_a_little(self, telemetry: Telemetry) -> None:
        """With `at_most` only that many recalls are deleted, oldest first; the next call continues."""
        for day in (TUESDAY, MONDAY, WEDNESDAY, MONDAY):
            telemetry.record(recall(day, 1, 2))

        assert telemetry.trim(WEDNESDAY, at_most=2) == 2
        assert times(telemetry) == [TUESDAY, WEDNESDAY]
        assert telemetry.trim(WEDNESDAY, at_most=2) == 1
        assert telemetry.trim(WEDNESDAY, at_most=2) == 0
        assert times(telemetry) == [WEDNESDAY]


ANY_BYTES = bytes(range(256))


def receipt_ids(vault: Vault) -> list[int]:
    """Return the ids of all receipts, newest first."""
    return [receipt.id for receipt in vault.receipts.latest(100)]


class ReceiptContract(VaultContract):
    """Explanations of past answers. Supply ``vault``: an EMPTY ``Vault``."""

    def test_a_receipt_comes_back(self, vault: Vault) -> None:
        """
        A receipt has the id and the time of its recall, and its content byte for byte; it may be empty.

        A recall that was stored without a receipt has none.
        """
        without, *numbers = (
            vault.telemetry.record(recall(MONDAY, 1), data) for data in (None, ANY_BYTES, b"")
        )

        assert [vault.receipts.get(number) for number in (without, numbers[-1] + 1)] == [None, None]
        stored = [
            StoredReceipt(number, MONDAY, data)
            for number, data in zip(numbers, (ANY_BYTES, b""), strict=True)
        ]
        assert [vault.receipts.get(number) for number in numbers] == stored
        assert vault.receipts.counts() == ReceiptCounts(2, len(ANY_BYTES))

    def test_some_are_forgotten(self, vault: Vault) -> None:
        """The named receipts are deleted and their recalls remain; an unknown id changes nothing."""
        first, second = (vault.telemetry.record(recall(day, 1), b"x") for day in (MONDAY, TUESDAY))

        assert vault.receipts.forget([first, second + 1]) == 1
        assert vault.receipts.forget([]) == vault.receipts.forget([first]) == 0
        assert receipt_ids(vault) == [second]
        assert vault.telemetry.count() == 2

    def test_trim_a_little(self, vault: Vault) -> None:
        """With `at_most` only that many receipts are deleted, oldest first."""
        second = vault.telemetry.record(recall(TUESDAY), b"x")
        vault.telemetry.record(recall(MONDAY), b"x")

        assert vault.receipts.trim(WEDNESDAY, at_most=1) == 1
        assert receipt_ids(vault) == [second]

    def test_a_receipt_goes_with_its_recall(self, vault: Vault) -> None:
        """A receipt is deleted with its recall; a later recall that reuses the id has no receipt."""
        vault.telemetry.record(recall(MONDAY, 1), b"x")

        assert vault.telemetry.trim(WEDNESDAY) == 1
        again = vault.telemetry.record(recall(WEDNESDAY, 1))

        assert vault.receipts.counts() == ReceiptCounts(0, 0)
        assert vault.receipts.get(again) is None


MODEL = "llama-server:qwen3@http://localhost:8089"


class ModelAnswersContract(Contract):
    """Cache of model answers. Supply ``answers``: an EMPTY ``ModelAnswers``."""

    @pytest.mark.parametrize(
        "answer", ["", "lex: hive\nvec: bees", "0.1", "nul \x00 within", "蜂蜜 🐝 Übergröße"]
    )
    def test_an_answer_comes_back_as_it_was(self, answers: ModelAnswers, answer: str) -> None:
        """An answer is returned character for character."""
        answers.keep(MODEL, "expansion", {"hive": answer}, at=MONDAY)

        assert answers.get(MODEL, "expansion", "hive") == answer

    @pytest.mark.parametrize(
        "other",
        [
            ("another model", "expansion", "hive"),
            (MODEL, "rerank", "hive"),
            (MODEL, "expansion", "Hive"),
            (MODEL, "expansion", "hive "),
            (MODEL, "expansion", ""),
            (f"{MODEL}expansion", "", "hive"),
            (MODEL, "expansionhive", ""),
        ],
    )
    def test_each_question_has_its_own(self, answers: ModelAnswers, other: tuple[str, str, str]) -> None:
        """A different model, purpose or question has no answer yet, however small the difference."""
        answers.keep(MODEL, "expansion", {"hive": "bees"}, at=MONDAY)

        assert answers.get(*other) is None

    def test_the_last_answer_counts(self, answers: ModelAnswers) -> None:
        """A second answer replaces the first one and its time."""
        answers.keep(MODEL, "expansion", {"hive": "bees"}, at=MONDAY)
        answers.keep(MODEL, "expansion", {"hive": "honey"}, at=WEDNESDAY)

        assert answers.get(MODEL, "expansion", "hive") == "honey"
        assert answers.trim(WEDNESDAY) == 0

    def test_all_or_none(self, answers: ModelAnswers) -> None:
        """If one answer cannot be stored, no answer of the same call is."""
        with pytest.raises(InvalidInput):
            answers.keep(MODEL, "rerank", {"a": "0.1", "b": "half \ud83d a bee"}, at=MONDAY)

        assert answers.get(MODEL, "rerank", "a") is None

    def test_trim_a_little(self, answers: ModelAnswers) -> None:
        """With `at_most` only that many answers are deleted, oldest first, until no old ones are left."""
        for day in (WEDNESDAY, MONDAY, TUESDAY):
            answers.keep(MODEL, "rerank", {day: "0.5"}, at=day)

        assert answers.trim(WEDNESDAY, at_most=1) == 1
        assert [answers.get(MODEL, "rerank", day) for day in (MONDAY, TUESDAY)] == [None, "0.5"]
        assert [answers.trim(WEDNESDAY, at_most=0), answers.trim(WEDNESDAY, at_most=5)] == [0, 1]
        assert answers.trim(WEDNESDAY, at_most=5) == 0
        assert answers.get(MODEL, "rerank", WEDNESDAY) == "0.5"


def failure(role: ModelRole = ModelRole.RERANKER, failed_at: str = MONDAY) -> ModelFailure:
    """Return the failure of a server that could not be reached."""
    return ModelFailure(role, "http://localhost:8090", failed_at, "Connection refused")


class ModelFailuresContract(Contract):
    """Log of model failures. Supply ``failures``: an EMPTY ``ModelFailures``."""

    def test_everything_is_kept(self, failures: ModelFailures) -> None:
        """A failure is returned unchanged, with any characters in its reason."""
        given = ModelFailure(
            ModelRole.GENERATOR, "'qwen3' at http://[::1]:8089", MONDAY, "蜂 said: \"'; drop\n🐝", TUESDAY
        )

        failures.record(given)

        assert failures.latest() == {ModelRole.GENERATOR: given}

    def test_the_last_one_of_each_role_counts(self, failures: ModelFailures) -> None:
        """A later failure of a role replaces the one before, even after a recovery; they come by role."""
        for role in reversed(ModelRole):
            failures.record(replace(failure(role), answered_at=MONDAY))
            failures.record(failure(role, TUESDAY))

        assert list(failures.latest().items()) == [(role, failure(role, TUESDAY)) for role in ModelRole]
