"""Whom to ask to lead: chosen with foresight, with a range and reasons, for leaders who may not come."""

from dataclasses import replace

import pytest
from paper import Paper

from claim.errors import InputError
from claim.field import commands
from claim.field.leaders import MOST_REASONS, LeaderAdvice, choose_leaders
from claim.field.reasons import ENGLISH


def chosen(advice: LeaderAdvice) -> list[str]:
    return [each.person for each in advice.leaders]


def change(paper: Paper, **settings: object) -> None:
    paper.run(lambda draft: commands.change_settings(draft, replace(paper.study.setup, **settings)))  # type: ignore[arg-type]


@pytest.fixture
def hubs() -> Paper:
    """Two start people with few contacts both know Hub, whom nobody has surveyed; Busy was and knows seven."""
    paper = Paper(budget=10, leaders=1, seed=1)
    starts = [paper.add(f"Start {i}", start=True) for i in range(6)]
    hub = paper.survey(starts[0], "Hub")[0]
    for start in starts[1:5]:
        paper.survey(start, hub)
    paper.survey(starts[5], *(f"Friend {i}" for i in range(7)))
    return paper


def test_foresight_takes_whoever_is_likely_to_know_people_nobody_named(hubs):
    names = {"foresight": "Hub", "greedy": "Start 5"}
    for selector, expected in names.items():
        change(hubs, selector=selector, p=0.1)
        leader = chosen(choose_leaders(hubs.study))[0]
        assert hubs.texts[hubs.study.state.people[leader].name] == expected


def test_leaders_who_may_not_come_are_backed_up():
    paper = Paper(budget=10, leaders=2, p=1.0, seed=2)
    one, other = paper.add("One", start=True), paper.add("Other", start=True)
    shared = paper.survey(one, *(f"Shared {i}" for i in range(12)))
    apart = paper.survey(other, "Apart 1", "Apart 2")
    for person in (*shared, *apart):
        paper.survey(person)
    both = [set(group) for group in ((one, *shared), (other, *apart))]

    def groups(advice: LeaderAdvice) -> set[int]:
        return {i for person in chosen(advice) for i, group in enumerate(both) if person in group}

    assert groups(choose_leaders(paper.study)) == {0, 1}
    assert groups(choose_leaders(paper.study, attendance=0.2)) == {0}
    change(paper, attendance=0.2)
    assert choose_leaders(paper.study) == choose_leaders(paper.study, attendance=0.2)
    assert choose_leaders(paper.study).mean < choose_leaders(paper.study, attendance=1.0).mean
    for wrong in (0.0, 1.5):
        with pytest.raises(InputError, match="attendance"):
            choose_leaders(paper.study, attendance=wrong)


def test_the_range_closes_when_everybody_was_surveyed(hubs):
    unknown = choose_leaders(hubs.study)
    assert unknown.along <= unknown.low < unknown.mean < unknown.high
    for person in [each.code for each in hubs.study.people.values() if each.may_be_surveyed]:
        hubs.survey(person)
    sure = choose_leaders(hubs.study)
    assert sure.low == pytest.approx(sure.mean) == pytest.approx(sure.high) == pytest.approx(sure.along)


def test_nobody_reaches_more_people_than_there_are(hubs):
    change(hubs, p=1.0)
    assert choose_leaders(hubs.study).high > 30
    change(hubs, p=1.0, size_high=30)
    assert choose_leaders(hubs.study).high == 30
    change(hubs, p=1.0, size_high=3)  # more are known: the guess was wrong
    assert choose_leaders(hubs.study).high == choose_leaders(hubs.study).known == 14


@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize("selector", ["foresight", "greedy"])
def test_the_ends_of_the_scale(hubs, selector, p):
    change(hubs, selector=selector, p=p, leaders=3)
    found = choose_leaders(hubs.study)
    assert len(set(chosen(found))) == 3
    assert found.along >= 3


def test_every_leader_has_reasons_in_words(hubs):
    change(hubs, leaders=14)
    found = choose_leaders(hubs.study)
    assert len(found.leaders) == 14
    for each in found.leaders:
        assert 1 <= len(each.reasons) <= MOST_REASONS
        assert all(reason.said(str) for reason in each.reasons)
    assert found.leaders[0].reasons[0].key == "leader.reaches"
    keys = {reason.key for each in found.leaders for reason in each.reasons}
    assert {"leader.adds", "leader.named_by_many", "leader.unseen", "leader.few_known"} <= keys


def test_who_refused_the_survey_is_asked_with_care(hubs):
    hub = next(each.code for each in hubs.study.people.values() if each.times_named > 1)
    hubs.run(lambda draft: commands.not_surveyed(draft, hub, "refused"))
    hubs.run(lambda draft: commands.wish_for_leader(draft, hub, "include"))
    assert [reason.key for reason in choose_leaders(hubs.study).leaders[0].reasons][:2] == [
        "wished", "leader.refused_survey",
    ]  # fmt: skip


def test_foresight_gives_no_reason_without_words():
    from claim.selection.foresight.reasons import ENGLISH as KEYS

    assert {f"leader.{key}" for key in KEYS} == {key for key in ENGLISH if key.startswith("leader.")}
