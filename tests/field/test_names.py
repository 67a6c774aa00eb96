"""Names: what is kept, and who looks alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from claim.field.study.names import ALIKE, LIKELY, NameIndex, clean, similarity, words


def slow_distance(one: str, other: str) -> int:
    """Optimal string alignment, as in a textbook."""
    table = [[max(i, j) if not i * j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            differ = one[i - 1] != other[j - 1]
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + differ)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@given(st.text("abcd", max_size=12), st.text("abcd", max_size=12))
def test_the_distance_is_the_textbook_one(one, other):
    assert OSA.distance(one, other) == slow_distance(one, other)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_can_be_compared(one, other):
    assert 0.0 <= similarity(words(one), words(other)) <= 1.0
    clean(one).encode()
    assert clean(clean(one)) == clean(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ana López", "lopez ANA"), ("José María", "Jose\u0301 Maria"), ("O'Neil", "oneil"), ("Łukasz", "lukasz"),
     ("Straße", "STRASSE"), ("Ana-Lucía", "ana lucia")],
)  # fmt: skip
def test_the_same_name(one, other):
    assert similarity(words(one), words(other)) == 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [("Jon Smith", "John Smith"), ("J. Smith", "John Smith"), ("Annamaria", "Anna Maria"), ("Ana", "Ana Lopez"),
     ("Catherine", "Katherine"), ("DeShawn", "Deshaun"), ("Jonh", "John"), ("Big Mike", "Mike")],
)  # fmt: skip
def test_likely_the_same(one, other):
    assert LIKELY <= similarity(words(one), words(other)) < 1.0


@pytest.mark.parametrize(("one", "other"), [("Ana", "Ben"), ("Maria Lopez", "Maria Gomez"), ("Al", "Bo"), ("", "Ana")])
def test_not_put_up_as_the_same(one, other):
    assert similarity(words(one), words(other)) < ALIKE


def test_hostile_names_are_plain_text():
    assert clean("a\u202eb\u0001c\r\nd\u0000") == "abc d"
    assert clean("</script>") == "</script>"
    assert clean("\ud800x") == "\ufffdx"
    assert len(clean("x" * 20_000)) == 10_000
    assert clean("می\u200cخواهم") == "می\u200cخواهم"


def test_an_index_finds_people_under_all_spellings_once():
    index = NameIndex([("P1", "Ana Lopez"), ("P1", "Anita"), ("P2", "Ben"), ("P3", "ana lópez")])
    assert [match.code for match in index.similar("Ana Lopes")] == ["P1", "P3"]
    assert index.same("LOPEZ, Ana") == ["P1", "P3"]
    assert [(one, match.code) for one, match in index.alike()] == [("P1", "P3")]
    assert NameIndex([]).similar("x") == [] == NameIndex([]).alike()
