"""Events as JSON: strict, canonical, chained."""

import pytest
from paper import Paper

from claim.errors import InputError
from claim.field.study.events import (
    BODIES,
    BrokenLog,
    PersonAdded,
    Secret,
    StudyCreated,
    as_data,
    canonical,
    from_data,
    read_log,
)
from claim.field.study.setup import Setup


@pytest.fixture
def rows() -> list[dict]:
    paper = Paper()
    paper.survey(paper.add("Ana", start=True), "Ben")
    return [event.as_data() for event in paper.study.log]


@pytest.mark.parametrize(
    "data",
    [None, [], {"person": "P1"}, {"person": 1, "name": "x"}, {"person": "P1", "name": "x", "is_start": 1},
     {"person": "P1", "name": "x", "more": 1}],
)  # fmt: skip
def test_what_is_not_a_body_is_refused(data):
    with pytest.raises(InputError):
        from_data(PersonAdded, data)


def test_nested_settings_come_back():
    body = StudyCreated("0" * 16, Setup("Try", size_low=3, p=1))
    assert from_data(StudyCreated, as_data(body)) == body
    assert canonical({"b": 1, "a": "é"}) == '{"a":"\\u00e9","b":1}'
    assert len(BODIES) >= 20


def test_every_change_breaks_the_chain(rows):
    read_log(rows)
    for i in range(len(rows)):
        for change in ({"at": "x"}, {"batch": 99}, {"seq": 99}, {"type": "StudyClosed"}, {"body": {}}, {"hash": "0"}):
            changed = [*rows[:i], {**rows[i], **change}, *rows[i + 1 :]]
            with pytest.raises(BrokenLog):
                read_log(changed)
    for damaged in (rows[1:], [rows[0], *rows[2:]], [rows[1], rows[0]]):
        with pytest.raises(BrokenLog):
            read_log(damaged)


def test_a_commitment_binds_and_hides():
    one, two = Secret("Ana"), Secret("Ana")
    assert one.commitment != two.commitment
    assert Secret("Anna", one.nonce).commitment != one.commitment
    assert Secret("Ana", one.nonce).commitment == one.commitment
