"""Whom to ask to lead: chosen with foresight, with a range and reasons, for leaders who may not come."""

from dataclasses import replace

import pytest
from paper import Paper

from claim.errors import InputError
from claim.field.advice.leaders import MOST_REASONS, LeaderAdvice, LeaderChoice, choose_leaders
from claim.field.study import commands
from claim.selection.foresight import selector as foresight


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
    assert choose_leaders(paper.study).reach.mean < choose_leaders(paper.study, attendance=1.0).reach.mean
    for wrong in (0.0, 1.5):
        with pytest.raises(InputError, match="attendance"):
            choose_leaders(paper.study, attendance=wrong)


def test_the_reach_counts_people_who_were_not_named_yet(hubs):
    change(hubs, size_low=60, size_high=60)
    unknown = choose_leaders(hubs.study).reach.mean
    for person in [each.code for each in hubs.study.people.values() if each.may_be_surveyed]:
        hubs.survey(person)
    assert choose_leaders(hubs.study).reach.mean < unknown


def test_no_reach_before_the_first_survey():
    paper = Paper(budget=10, leaders=4)
    people = [paper.add(f"Start {i}", start=True) for i in range(4)]
    found = choose_leaders(paper.study)
    assert found.reach is None
    assert {each.adds for each in found.leaders} == {None}
    said = {reason.text for each in found.leaders for reason in each.reasons}
    assert not said & {foresight.REACHES, foresight.ADDS, foresight.UNSEEN}
    paper.survey(people[0], "Contact")
    change(paper, size_high=8)
    found = choose_leaders(paper.study)
    assert 4 <= found.reach.low <= found.reach.mean < found.reach.high <= 8


def test_the_reach_is_at_most_the_number_of_people(hubs):
    change(hubs, leaders=4, size_low=60, size_high=60)
    many = choose_leaders(hubs.study).reach
    assert many.high > 14
    change(hubs, size_low=15, size_high=15)
    few = choose_leaders(hubs.study).reach
    assert few.mean < many.mean
    assert few.high <= 15
    change(hubs, size_low=3, size_high=3)  # more are known than the team thought there are
    found = choose_leaders(hubs.study)
    assert found.reach.high <= found.known == 14


def test_what_leaders_add_comes_to_the_reach(hubs):
    change(hubs, leaders=4, p=0.5)
    found = choose_leaders(hubs.study)
    assert sum(each.adds for each in found.leaders) == pytest.approx(found.reach.mean, abs=0.3)


def test_while_too_little_is_known_there_are_words_and_no_numbers(hubs):
    found = choose_leaders(hubs.study)  # one leader, and no number of people: from 1 to 5 times as many, or more
    assert found.reach is None
    texts = {reason.text for each in (*found.leaders, *found.replacements) for reason in each.reasons}
    assert not texts & {foresight.REACHES, foresight.ADDS, foresight.UNSEEN}
    change(hubs, leaders=4)
    assert choose_leaders(hubs.study).reach is not None


@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize("selector", ["foresight", "greedy"])
def test_the_ends_of_the_scale(hubs, selector, p):
    change(hubs, selector=selector, p=p, leaders=3)
    found = choose_leaders(hubs.study)
    assert len(set(chosen(found))) == 3
    assert found.reach is None or found.reach.mean >= 3


def test_every_leader_has_reasons_in_words(hubs):
    change(hubs, leaders=14)
    found = choose_leaders(hubs.study)
    assert len(found.leaders) == 14
    for each in found.leaders:
        assert 1 <= len(each.reasons) <= MOST_REASONS
        assert all(str(reason) for reason in each.reasons)
    assert found.leaders[0].reasons[0].text == foresight.REACHES
    texts = {reason.text for each in found.leaders for reason in each.reasons}
    assert {foresight.ADDS, foresight.NAMED_BY_MANY, foresight.UNSEEN, foresight.FEW_KNOWN} <= texts


def test_who_refused_the_survey_is_asked_with_care(hubs):
    hub = next(each.code for each in hubs.study.people.values() if each.times_named > 1)
    hubs.run(lambda draft: commands.end_survey(draft, hub, "refused"))
    hubs.run(lambda draft: commands.wish_for_leader(draft, hub, "include"))
    texts = [reason.text for reason in choose_leaders(hubs.study).leaders[0].reasons]
    assert texts[:2] == ["you asked for this person", foresight.REFUSED_SURVEY]


def test_leaders_and_reach_are_the_same_with_and_without_reasons(hubs):
    change(hubs, leaders=2, size_low=20, size_high=30)
    advice, choice = choose_leaders(hubs.study), LeaderChoice(hubs.study)
    assert (list(choice.leaders), choice.reach) == (chosen(advice), advice.reach)
    assert choice.reach is not None
    assert choice.advice == advice
