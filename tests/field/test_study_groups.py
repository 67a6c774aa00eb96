"""Groups of people: asked for if the study says so, kept like names, and the reach in each of them."""

from dataclasses import replace

import pytest
from paper import Paper
from test_leaders import change

from claim.errors import InputError
from claim.field.advice.leaders import LEAST_KNOWN, OTHER_GROUPS, LeaderChoice, choose_leaders
from claim.field.exchange.records import Bundle, PersonRecord, TieRecord
from claim.field.exchange.study import bundle_of, import_bundle
from claim.field.study import commands
from claim.field.study.events import GroupSaid, Imported
from claim.field.view import View


def say(paper: Paper, by: str, person: str, group: str) -> bool:
    return paper.run(lambda draft: commands.say_group(draft, by, person, group))


def groups(paper: Paper) -> dict[str, str]:
    return View(paper.study, paper.texts).groups


@pytest.fixture
def paper() -> Paper:
    """P1 named P2 and P3, and P4 named P3."""
    paper = Paper(group="ethnicity", groups_of_contacts=True)
    ana = paper.add("Ana North", start=True)
    paper.survey(ana, "Ben", "Carla")
    paper.survey(paper.add("Dan", start=True), "P3")
    return paper


@pytest.fixture
def two_groups() -> Paper:
    """Ten people of the north around Hub, who all know each other's friend, and a chain of twelve in the south."""
    settings = {"leaders": 2, "budget": 30, "p": 0.3, "size_low": 60, "size_high": 60}
    paper = Paper(**settings, seed=3, group="region", groups_of_contacts=True)
    hub = paper.add("Hub", start=True)
    north = [hub, *paper.survey(hub, *(f"North {i}" for i in range(14)))]
    other = paper.add("Other", start=True)
    north += [other, *paper.survey(other, *(f"Friend {i}" for i in range(12)))]
    south = [paper.add("South", start=True)]
    for i in range(12):
        south += paper.survey(south[-1], f"South {i}")
    for person in (*north, *south):
        say(paper, person, person, "north" if person in north else "south")
    return paper


def test_a_study_asks_for_no_group_unless_its_settings_name_one():
    paper = Paper()
    ana = paper.add("Ana", start=True)
    with pytest.raises(InputError, match="asks for no group"):
        say(paper, ana, ana, "north")


def test_a_group_is_a_commitment_that_keeps_its_first_spelling(paper):
    assert say(paper, "P1", "P1", " North  Coast ")
    assert say(paper, "P1", "P2", "NORTH COAST")
    assert not say(paper, "P1", "P2", "north coast")
    assert groups(paper) == {"P1": "North Coast", "P2": "North Coast"}
    assert "Coast" not in str(paper.study.log)
    for unknown in ("", "unknown", "Desconocido"):
        say(paper, "P1", "P2", "south")
        assert say(paper, "P1", "P2", unknown)
        assert not say(paper, "P1", "P2", unknown)
        assert groups(paper) == {"P1": "North Coast"}
    with pytest.raises(InputError, match="at most 100"):
        say(paper, "P1", "P2", "x" * 101)


def test_what_people_say_of_themselves_counts_before_what_others_say(paper):
    say(paper, "P1", "P3", "north")
    assert groups(paper)["P3"] == "north"
    say(paper, "P4", "P3", "south")
    assert groups(paper)["P3"] == "south"  # said last
    say(paper, "P3", "P3", "west")
    say(paper, "P1", "P3", "east")
    assert groups(paper)["P3"] == "west"


def test_undo_takes_a_group_back_and_merging_keeps_it(paper):
    say(paper, "P1", "P3", "north")
    paper.run(lambda draft: commands.merge(draft, "P2", "P3"))
    assert groups(paper) == {"P2": "north"}
    assert say(paper, "P1", "P2", "unknown")
    assert groups(paper) == {}
    paper.run(lambda draft: commands.undo(draft, draft.study.position))
    assert groups(paper) == {"P2": "north"}
    paper.run(lambda draft: commands.unmerge(draft, "P3"))
    assert groups(paper) == {"P3": "north"}


def test_a_withdrawal_erases_their_group_and_what_they_said_of_others(paper):
    say(paper, "P1", "P1", "north")
    say(paper, "P4", "P3", "west")
    say(paper, "P1", "P3", "south")
    say(paper, "P4", "P4", "North")  # a word of the name of P1
    paper.run(lambda draft: commands.withdraw(draft, "P1"))
    assert groups(paper) == {"P3": "west", "P4": "north"}
    said = {body.group: body for body in (event.body for event in paper.study.log) if isinstance(body, GroupSaid)}
    assert [body.person for group, body in said.items() if group in paper.texts] == ["P3", "P4"]


def test_groups_change_no_recommendation_of_whom_to_survey(paper):
    before = paper.study.state.step
    say(paper, "P1", "P3", "north")
    assert paper.study.state.step == before
    assert paper.study.discovered().groups == {}


# Exchange ------------------------------------------------------------------------------------------------------------


def test_groups_go_out_and_come_in(paper):
    say(paper, "P1", "P1", "north")
    say(paper, "P1", "P3", "south")
    exported = bundle_of(View(paper.study, paper.texts))
    assert {each.code: each.group for each in exported.people} == {"P1": "north", "P2": None, "P3": "south", "P4": None}
    again = Paper(group="ethnicity")
    codes = again.run(lambda draft: import_bundle(draft, exported, what="csv", digest=""))
    assert groups(again) == {codes["P1"]: "north", codes["P3"]: "south"}
    assert isinstance(again.study.log[1].body, Imported)
    again.run(lambda draft: commands.withdraw(draft, codes["P1"]))
    assert groups(again) == {}  # P3 was not surveyed: the group is what P1 said


def test_groups_of_a_file_are_left_out_of_a_study_that_asks_for_none_and_replace_nothing(paper):
    file = Bundle(
        (PersonRecord("a", "Ana", status="surveyed", group="south"), PersonRecord("b", "Ben")), (TieRecord("a", "b"),)
    )
    plain = Paper()
    plain.run(lambda draft: import_bundle(draft, file, what="csv", digest=""))
    assert groups(plain) == {}
    say(paper, "P1", "P1", "north")
    paper.run(lambda draft: import_bundle(draft, file, what="csv", digest="", same={"a": "P1"}))
    assert groups(paper)["P1"] == "north"


# Leaders -------------------------------------------------------------------------------------------------------------


def test_reach_by_group_is_shown_of_groups_of_ten_known_people(two_groups):
    paper = two_groups
    known = groups(paper)
    found = choose_leaders(paper.study, groups=known)
    assert set(found.groups) == {"north", "south"}
    for each in found.groups.values():
        assert each.low <= each.reached <= each.high
        assert each.reached <= each.size  # also where the expected reach is more than the groups of the leaders hold
    assert sum(each.reached for each in found.groups.values()) <= 1.05 * found.reach.mean
    assert choose_leaders(paper.study).groups == {}
    one = dict(list(known.items())[: 28 + LEAST_KNOWN - 1])  # nine of the south
    assert list(one.values()).count("south") == LEAST_KNOWN - 1
    assert choose_leaders(paper.study, groups=one).groups == {}
    split = {code: f"{group} {i % 2}" if group == "south" else group for i, (code, group) in enumerate(known.items())}
    assert set(choose_leaders(paper.study, groups=split).groups) == {"north", OTHER_GROUPS}


@pytest.mark.parametrize("selector", ["foresight", "greedy"])
def test_balanced_leaders_reach_the_group_that_plain_ones_miss(two_groups, selector):
    paper = two_groups
    change(paper, selector=selector)
    known = groups(paper)
    plain = choose_leaders(paper.study, groups=known)
    assert plain.plain is None
    change(paper, selector=selector, fair="welfare:-2")
    fair = choose_leaders(paper.study, groups=known)
    assert fair.groups["south"].reached > 2 * plain.groups["south"].reached
    assert fair.plain == plain.reach
    assert fair.plain.mean > fair.reach.mean
    assert len({each.person for each in (*fair.leaders, *fair.replacements)}) == 7
    assert choose_leaders(paper.study) == replace(plain, groups={})  # of no one is a group known
    kept = LeaderChoice(paper.study, include=["P3"], groups=known).leaders
    assert "P3" in kept
