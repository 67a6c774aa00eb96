"""Whom to ask to lead: chosen with foresight, with a range and reasons, for leaders who may not come."""

from dataclasses import replace

import pytest
from paper import Paper

from claim.errors import InputError
from claim.field.advice.leaders import MOST_REASONS, LeaderAdvice, LeaderChoice, choose_leaders
from claim.field.advice.observed import observed_in
from claim.field.study import commands
from claim.selection.foresight import selector as foresight
from claim.selection.observed import Observed


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


# Leaders in waves ----------------------------------------------------------------------------------------------------


@pytest.fixture
def stars() -> Paper:
    """Three hubs with seven, six and five contacts, all surveyed; Hub 0 and Hub 1 know Bridge, who was surveyed too."""
    paper = Paper(budget=30, leaders=2, p=0.4, seed=2, size_low=40, size_high=40)
    hubs = [paper.add(f"Hub {i}", start=True) for i in range(3)]
    for i, hub in enumerate(hubs):
        for leaf in paper.survey(hub, *(f"Leaf {i}{j}" for j in range(7 - i))):
            paper.survey(leaf)
    bridge = paper.add("Bridge", start=True)
    paper.survey(bridge, hubs[0], hubs[1])
    return paper


def came(paper: Paper, *people: str) -> None:
    for person in people:
        for answer in ("offered", "accepted", "attended"):
            paper.run(lambda draft, a=answer, who=person: commands.answer_of_leader(draft, who, a))  # type: ignore[misc]


def said(paper: Paper, answer: str, *people: str) -> None:
    for person in people:
        paper.run(lambda draft, who=person: commands.answer_follow_up(draft, who, answer))  # type: ignore[misc]


def named(paper: Paper, *names: str) -> list[str]:
    code = {paper.texts[each.name]: code for code, each in paper.study.state.people.items()}
    return [code[name] for name in names]


@pytest.mark.parametrize("selector", ["foresight", "greedy"])
def test_the_next_wave_reaches_others_than_those_who_said_yes(stars, selector):
    change(stars, selector=selector)
    zero, one, two, bridge = named(stars, "Hub 0", "Hub 1", "Hub 2", "Bridge")
    came(stars, zero)
    assert chosen(choose_leaders(stars.study)) == [zero, one]
    said(stars, "yes", bridge, one, *named(stars, "Leaf 10", "Leaf 11"))
    found = choose_leaders(stars.study)
    assert chosen(found) == [zero, two]
    assert found.said_yes == 4
    suggested = {each.person for each in (*found.leaders, *found.replacements)}
    assert not suggested & {bridge, one, *named(stars, "Leaf 10", "Leaf 11")}
    assert LeaderChoice(stars.study).leaders == (zero, two)


@pytest.mark.parametrize("selector", ["foresight", "greedy"])
def test_who_said_no_can_be_reached_by_the_next_wave(selector):
    """At p = 0.95 the first leader reaches everyone around Middle, unless Middle says no."""
    paper = Paper(budget=30, leaders=2, p=0.95, seed=2, selector=selector, size_low=20, size_high=20)
    first, apart = paper.add("First", start=True), paper.add("Apart", start=True)
    (middle,) = paper.survey(first, "Middle")
    around = paper.survey(middle, *(f"Friend {i}" for i in range(8)))
    for person in (*around, *paper.survey(apart, "Near 1", "Near 2")):
        paper.survey(person)
    came(paper, first)
    near = {apart, *named(paper, "Near 1", "Near 2")}
    assert chosen(choose_leaders(paper.study))[1] in near
    said(paper, "no", middle)
    assert chosen(choose_leaders(paper.study))[1] in {middle, *around}
    said(paper, "yes", middle)  # corrected
    assert chosen(choose_leaders(paper.study))[1] in near


def test_a_no_says_nothing_of_leaders_who_come_later(stars):
    zero, one, bridge = named(stars, "Hub 0", "Hub 1", "Bridge")
    change(stars, leaders=3)
    came(stars, zero)
    said(stars, "no", bridge)
    came(stars, one)
    index = stars.study.seen.index
    assert observed_in(stars.study).failed == {(index[zero], index[bridge])}
    said(stars, "no", bridge)
    assert observed_in(stars.study).failed == {(index[zero], index[bridge]), (index[one], index[bridge])}
    assert set(observed_in(stars.study).reached) == {index[zero], index[one]}


def test_before_the_first_leader_came_answers_change_no_choice(stars):
    before = choose_leaders(stars.study)
    said(stars, "no", *named(stars, "Hub 0", "Hub 1", "Bridge"))
    assert observed_in(stars.study) == Observed()
    assert choose_leaders(stars.study) == before


def test_who_came_needs_no_reserve():
    """Two leaders of one group are chosen if each may stay away; once one of them came, the other group is next."""
    paper = Paper(budget=10, leaders=2, p=1.0, seed=2, attendance=0.2)
    one, other = paper.add("One", start=True), paper.add("Other", start=True)
    groups = [{one, *paper.survey(one, *(f"Shared {i}" for i in range(12)))}]
    groups.append({other, *paper.survey(other, "Apart 1", "Apart 2")})
    for person in sorted(set.union(*groups) - {one, other}):
        paper.survey(person)
    first, second = chosen(choose_leaders(paper.study))
    assert {first, second} <= groups[0]
    came(paper, first)
    assert chosen(choose_leaders(paper.study))[1] in groups[1]


def test_a_leader_who_came_and_left_again_counts_as_reached(stars):
    (zero,) = named(stars, "Hub 0")
    came(stars, zero)
    stars.run(lambda draft: commands.answer_of_leader(draft, zero, "replaced"))
    found = choose_leaders(stars.study)
    assert zero not in chosen(found)
    assert len(found.leaders) == 2
    assert stars.study.seen.index[zero] in observed_in(stars.study).reached
