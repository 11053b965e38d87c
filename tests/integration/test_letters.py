"""Words on the command line: other spellings, other forms, and words with a function word as their stem."""

from __future__ import annotations

import unicodedata
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from command_line import Invoke, ask_json, found_paths, write_notes

NOTES = {
    "thing.md": "# Þing\n\nGuðrún o̶l̶d̶ Kaʿba обʼєкт\n",
    "athens.md": "# Αθήνα\n\nΤο ξενοδοχείο έχει θέα στην Ακρόπολη.\n",
    "street.md": "# Straße\n\nGroße Straße 12, am Weißbierkeller.\n",
    "heart.md": "# Ærø\n\nLe cœur de Łódź.\n",
    "tree.md": "# Ёлка\n\nКупить мёд у Семёна.\n",
    "book.md": "# کِتاب\n\nقَرَأْتُ الْكِتَابَ.\n",
    "shop.md": "# दुकान\n\nकिताब की दुकान स्कूल के पास है। फ़ोन ज़रूरी है।\n",
    "number.md": "# कतब\n\nदकन और ताबीज पर।\n",
    "beach.md": "# Trip\n\nThe beach day: 🏖️ and a soft\u00adhyphen.\n",
    "paper.md": "# A\n\nThe résumé of Zoë.\n",
    "return.md": "# B\n\nThe resume of Zoe.\n",
    "ward.md": "With Ines since August.\n",
    "sister.md": "# Sister\n\nIn the ward, in the night, an apple in an insurance.\n",
    "lawyer.md": "Wills has the deed. Ans paid for danse and for the canned fruit.\n",
    "plan.md": "I will go, you will go, she can and will, dans la ville, dans la rue.\n",
    "planet.md": "The planet Mars was bright tonight over the hill behind the old house of the neighbours.\n",
    "market.md": "# March\n\nMarket in March: Mark markets the market.\n",
    "park.md": "Running, running, running: the park is for running.\n",
    "cron.md": "The job on the old server runs at night, after the copy of the disk and the mail.\n",
}


@pytest.mark.parametrize(
    ("question", "name"),
    {
        "ΑΚΡΟΠΟΛΗ ξενοδοχειο": "athens",
        "grosse strasse": "street",
        "WEISSBIERKELLER": "street",
        "coeur lodz": "heart",
        "aero": "heart",
        "елка мед": "tree",
        "gudrun": "thing",
        "kaba old": "thing",
        "об'єкт": "thing",
        "كتاب": "book",
        "किताब": "shop",
        "जरूरी फोन": "shop",
        "🏖": "beach",
        "softhyphen": "beach",
        "resume": "return",
        "résumé": "paper",
    }.items(),
)
def test_a_word_is_found_in_another_spelling_and_first_in_its_own(
    indexed: Invoke, question: str, name: str
) -> None:
    assert found_paths(indexed, "search", question)[0] == f"{name}.md"


def test_a_name_without_its_accents_brings_the_note_as_a_suggestion(indexed: Invoke) -> None:
    assert "heart.md (Ærø)" in indexed("get", "aero").stderr


@pytest.mark.parametrize(
    ("question", "name"),
    [(form, "ward") for form in ("Ines", '"Ines"', "ines august")]
    + [("Mars", "planet"), ("mar", "market")]
    + [(form, "lawyer") for form in ("Wills", "Ans", "danse", '"canned"')]
    + [('"runs"', "cron"), ('"running"', "park"), ('"will go"', "plan")],
)
def test_a_name_is_no_form_of_a_function_word_and_a_quoted_word_is_first(
    indexed: Invoke, question: str, name: str
) -> None:
    assert found_paths(indexed, "search", question)[0] == f"{name}.md"


@pytest.mark.parametrize("question", ["mir die das", "wo ist le de la", "with in the"])
def test_function_words_alone_have_no_answer(indexed: Invoke, question: str) -> None:
    assert all(result["confidence"] == 0 for result in ask_json(indexed, "query", question)["results"])


def test_an_index_with_words_in_a_former_form_is_rebuilt(indexed: Invoke, vault_file: Path) -> None:
    with closing(apsw.Connection(str(vault_file))) as vault:
        vault.execute("delete from meta where name = 'lexical_form'; delete from lexical_document")
    assert "its words have the form of an earlier clawmem" in indexed("doctor").stdout

    indexed("update")

    assert found_paths(indexed, "search", "Ines") == ["ward.md"]
    assert "earlier clawmem" not in indexed("doctor").stdout


@pytest.mark.parametrize(
    ("sentence", "end", "question"),
    [
        ("वाई-फ़ाई का पासवर्ड लाल डिब्बे में है", "।", "फ़ाई पासवर्ड"),
        ("வைஃபை கடவுச்சொல் சிவப்பு பெட்டியில் உள்ளது", ".", "வைஃபை கடவுச்சொல்"),
        ("كَلِمَةُ السِّرِّ في الصندوق الأحمر", "۔", "كلمة السر"),
        ("Ο κωδικός του ρούτερ είναι στο κόκκινο κουτί", ".", "ΚΩΔΙΚΟΣ ρουτερ"),
        (unicodedata.normalize("NFD", "Der Schlüssel hängt über der Küchentür"), ".", "Schlüssel Küchentür"),
        ("路由器密码写在红色盒子里", "。", "路由器密码"),
    ],
)
def test_the_excerpt_is_the_sentence_in_any_spelling(
    invoke: Invoke, tmp_path: Path, sentence: str, end: str, question: str
) -> None:
    """Of a long line, the excerpt has the sentence with the words of the question, and ends with a sentence."""
    others = [f"{number} {'ख घ ' * 20}ङ{end} " for number in range(60)]
    text = "".join([*others[:40], f"{sentence}{end} ", *others[40:]])
    write_notes(tmp_path / "notes", {"diary.md": text})
    invoke("bootstrap", str(tmp_path / "notes"))

    snippet = ask_json(invoke, "search", question)["results"][0]["snippet"]

    assert sentence in snippet and snippet.removesuffix("...").rstrip().endswith(end)


def test_marks_belong_to_names_of_fields_and_files(invoke: Invoke, tmp_path: Path) -> None:
    """A letter may be written with marks, also those of a Mac (NFD), in properties, tags and names of saved files."""
    text = "# Sofa\n\nस्वाद:: तीखा\n\nDas Sofa (Länge:: 2 m) #Möbel\n"
    write_notes(tmp_path / "notes", {"sofa.md": unicodedata.normalize("NFD", text)})
    invoke("bootstrap", str(tmp_path / "notes"))

    for condition in ("स्वाद=तीखा", "länge=2 m"):
        assert ask_json(invoke, "list", "--where", condition)["total"] == 1
    assert ask_json(invoke, "tags")["tags"][0]["tag"] == "Möbel"
    assert "-नाव-घर-की-चाबी.md" in invoke("remember", "नाव घर की चाबी").output
    assert "-die-schlüssel.md" in invoke("remember", unicodedata.normalize("NFD", "Die Schlüssel")).output
    write_notes(tmp_path / "more", {"a.md": "More."})
    assert invoke("collection", "add", str(tmp_path / "more"), "--name", "नोट्स").exit_code == 0


def test_people_need_no_capital_in_a_script_without_them(invoke: Invoke, tmp_path: Path) -> None:
    """People of the front matter are entities in any script; a word in lower case is none."""
    write_notes(
        tmp_path / "notes", {"a.md": "---\npeople: [राधा कुलकर्णी, 王小明, 'דוד כהן', tbd]\n---\nThey met.\n"}
    )
    invoke("bootstrap", str(tmp_path / "notes"))
    invoke("maintain", "enrich")

    for question, name in {"राधा": "राधा कुलकर्णी", "小明": "王小明", "דוד": "דוד כהן"}.items():
        assert [entity["name"] for entity in ask_json(invoke, "entities", question)["entities"]] == [name]
    assert "No entity" in invoke("entities", "tbd").output


def test_a_correction_and_an_excluded_word_are_read_with_their_marks(invoke: Invoke, tmp_path: Path) -> None:
    """The answer says which word was read for which one, as they are written."""
    notes = {f"{place}.md": f"विश्वविद्यालय की चाबी {place} में है।" for place in ("रसोई", "बैठक")}
    write_notes(tmp_path / "notes", notes)
    invoke("bootstrap", str(tmp_path / "notes"))

    notice = "No note has 'विश्ववद्यालय': read as 'विश्वविद्यालय'."
    assert ask_json(invoke, "search", "विश्ववद्यालय")["notice"] == notice
    assert found_paths(invoke, "search", "चाबी -रसोई") == ["बैठक.md"]


def test_repeated_phrases_are_shown_as_they_are_written(invoke: Invoke, tmp_path: Path) -> None:
    """`reflect` prints words with their marks."""
    text = "---\ntype: decision\n---\nहम नीला रंग चुनेंगे, कारण %d।\n"
    write_notes(tmp_path / "notes", {f"{number}.md": text % number for number in range(3)})
    invoke("bootstrap", str(tmp_path / "notes"))

    assert "नीला चुनेंगे कारण" in invoke("reflect").output
