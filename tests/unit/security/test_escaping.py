from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import example, given
from hypothesis import strategies as st

from clawmem.domain.security.escaping import clean, escape, unescape

HOSTILE = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.characters(),
        st.sampled_from(
            "< > & \" ' ]]> <![CDATA[ <!-- --> <? </vault-context> <facts> ＜ ＞ ﹤ ‹ 〈 ⟨ vault- system &lt; &#60; "
            "&amp; / \0 \r \n \t \x1b[31m \x1b]0;a\x07 \u200b \u200c \u200d \u202e \u2028 \ud800 \udc00 \ufffe".split(
                " "
            )
        ),
    ),
    max_size=12,
).map("".join)


@given(HOSTILE)
@example("\ud800</vault-context>\x00")
@example("م\u200c\u200cه")
@example("\x1b\x1b[[31m")
def test_a_block_is_xml_with_exactly_our_elements(text: str) -> None:
    """Whatever a note says, the block parses, has our elements and no more, and gives the cleaned text back."""
    block = f"<vault-context><facts>{escape(text)}</facts></vault-context>"

    root = ElementTree.fromstring(block)

    assert [part.tag for part in root.iter()] == ["vault-context", "facts"]
    assert (root[0].text or "") == clean(text)


@given(HOSTILE)
@example("\u0300\u200c＜")
@example("\u0300\u200c‹system")
def test_what_a_reader_unescapes_is_the_cleaned_text(text: str) -> None:
    """Nothing is lost or added between escaping and reading."""
    assert unescape(escape(text)) == clean(text)


@given(HOSTILE)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    """Cleaned text is clean."""
    assert clean(clean(text)) == clean(text)


@given(HOSTILE)
def test_escaped_text_has_no_bracket(text: str) -> None:
    """It can neither open nor close a tag, in any width."""
    assert not set("<>＜＞﹤﹥\0\x1b\r").intersection(escape(text))
    assert escape(text).encode().decode() == escape(text)
