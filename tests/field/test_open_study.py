"""Open studies: new people who were drawn, what a policy sees of them, and marks of who knows the most people."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from paper import Paper, played, scripts

from claim.discovery import Simulation
from claim.discovery.discovered import NEW
from claim.discovery.simulation import Frame
from claim.errors import InputError
from claim.field.advice.recommend import ALTERNATIVES, HOW_TO_DRAW, check_rule, recommend
from claim.field.study import commands
from claim.field.study.events import NEW_PERSON, ContactMarked, NewPersonMet, SurveyEnded
from claim.field.study.setup import Setup
from claim.field.study.study import Study
from claim.field.view import View, advice
from claim.networks.synthetic import retweet_like
from claim.registry import OPEN_DEFAULT, find_policy


def open_study(**more: object) -> Paper:
    return Paper(**{"open": True, "interviews": 10, "leaders": 2, "seed": 3, "hub_question": True, **more})


def meet(paper: Paper, name: str) -> str:
    """A new person who was not known."""

    def met(draft):
        code = draft.new_person(name)
        commands.meet_new_person(draft, code)
        return code

    return paper.run(met)


def mark(paper: Paper, by: str, contact: str) -> None:
    paper.run(lambda draft: commands.mark_contact(draft, by, contact))


@pytest.fixture
def paper() -> Paper:
    """Ana and Ben were drawn; Ana named Carla and Dan, Ben named Carla and Eva."""
    paper = open_study()
    paper.survey(meet(paper, "Ana"), "Carla", "Dan")
    paper.survey(meet(paper, "Ben"), "P2", "Eva")
    return paper


# Settings ------------------------------------------------------------------------------------------------------------


def test_studies_are_closed_and_ask_no_second_question_unless_told_so():
    assert (Setup("x").open, Setup("x").hub_question) == (False, False)
    assert Setup("x").rule == "scout"
    assert Setup("x", open=True).rule == OPEN_DEFAULT
    assert Setup("x", open=True, policy="new").rule == "new"
    assert (Setup("x", budget=7).planned, Setup("x", budget=7, open=True, interviews=9).planned) == (7, 9)
    with pytest.raises(InputError, match="number of interviews must be between 1 and 100000, not 0"):
        Setup("x", interviews=0)


def test_rules_for_new_people_need_an_open_study():
    for name in ("new", "mix:best", "mix:0.5:degree+inverse"):
        check_rule(name, 10, open=True)
        with pytest.raises(InputError, match="closed to them"):
            check_rule(name, 10)
    for name, problem in (
        ("one-hop", "its own leaders"),
        ("mix:2:scout", "share"),
        ("mix:0.5:clairvoyant", "whole network"),
        ("mix:0.5:os.path:join", "no policy is called"),
    ):
        with pytest.raises(InputError, match=problem):
            check_rule(name, 10, open=True)


def test_a_study_can_be_opened_and_closed_later():
    paper = Paper(policy="degree+inverse")
    paper.survey(paper.add("Ana", start=True), "Ben")
    with pytest.raises(InputError, match="closed to new people"):
        meet(paper, "Zoe")
    setup = replace(paper.study.setup, open=True, policy="new")
    paper.run(lambda draft: commands.change_settings(draft, setup))
    paper.survey(meet(paper, "Zoe"))
    assert [each.person for each in recommend(paper.study).recommended] == [NEW_PERSON]
    with pytest.raises(InputError, match="new interviews new people"):
        paper.run(lambda draft: commands.change_settings(draft, replace(setup, open=False)))
    paper.run(lambda draft: commands.change_settings(draft, replace(setup, open=False, policy="scout")))
    assert [each.person for each in recommend(paper.study).ranking] == ["P2"]


# New people ----------------------------------------------------------------------------------------------------------


def test_an_empty_study_begins_with_a_new_person():
    found = recommend(open_study().study)
    assert (found.policy, found.notes) == (OPEN_DEFAULT, ())
    assert [each.person for each in found.ranking] == [NEW_PERSON]
    assert [str(reason) for reason in found.ranking[0].reasons] == ["0 of 10 new people have been interviewed"]
    assert found.how_to_draw == HOW_TO_DRAW


def test_named_people_are_there_to_choose_instead(paper):
    found = recommend(paper.study, 2)
    assert [each.person for each in found.recommended] == [NEW_PERSON, NEW_PERSON]
    assert sorted(each.person for each in found.ranking[2:]) == ["P2", "P3", "P5"]
    assert all(each.reasons for each in found.ranking)


def test_after_their_share_named_people_follow():
    paper = open_study(policy="mix:0.2:degree+inverse")
    paper.survey(meet(paper, "Ana"), "Carla", "Dan")
    assert recommend(paper.study).new_people == 1
    paper.survey(meet(paper, "Ben"), "P2")
    found = recommend(paper.study)
    assert [each.person for each in found.ranking] == ["P2", "P3"]
    assert (found.how_to_draw, str(found.ranking[0].reasons[0])) == ((), "named by P1 and P4")


def test_a_rule_for_named_people_takes_new_ones_when_none_is_left():
    paper = open_study(policy="degree+inverse")
    paper.survey(meet(paper, "Ana"), "Ben")
    assert [each.person for each in recommend(paper.study, 2).ranking] == ["P2", NEW_PERSON]
    paper.run(lambda draft: commands.end_survey(draft, "P2", "no-show"))
    found = recommend(paper.study)
    assert [each.person for each in found.ranking] == [NEW_PERSON, "P2"]
    assert [str(reason) for reason in found.ranking[0].reasons] == ["no person who was named is left to survey"]


def test_all_interviews_count(paper):
    assert (paper.study.spent, paper.study.left) == (2, 8)
    paper.survey(paper.add("Start", start=True))
    assert paper.study.left == 7
    refused = meet(paper, "Zoe")
    paper.run(lambda draft: commands.end_survey(draft, refused, "refused"))
    assert paper.study.left == 6
    paper.run(lambda draft: commands.change_settings(draft, replace(paper.study.setup, refusal_rule="answers")))
    assert paper.study.left == 7


def test_the_log_says_who_was_drawn_also_of_people_named_before(paper):
    paper.run(lambda draft: commands.meet_new_person(draft, "P5"))
    assert paper.study.log[-1].body == NewPersonMet("P5")
    assert [each.person for each in recommend(paper.study).recommended] == ["P5"]  # met, and not interviewed yet
    paper.survey("P5")
    assert [paper.study.seen.codes[i] for i in paper.study.discovered().start] == ["P1", "P4", "P5"]
    assert paper.study.people["P5"].named_by == ("P4",)
    with pytest.raises(InputError, match="P5 was surveyed already: draw another person"):
        paper.run(lambda draft: commands.meet_new_person(draft, "P5"))
    paper.run(lambda draft: commands.undo(draft, 1 + next(
        event.seq for event in paper.study.log if event.body == NewPersonMet("P5"))))  # fmt: skip
    assert paper.study.people["P5"].state == "named"


def test_a_recommended_new_person_is_noted_as_recommended():
    paper = open_study()
    paper.run(lambda draft: commands.show_advice(draft, recommend(paper.study, 2)))
    assert paper.study.state.shown.ranking == (NEW_PERSON, NEW_PERSON)
    paper.survey(meet(paper, "Ana"), "Carla")
    assert paper.study.surveys[0].recommended
    assert recommend(paper.study).count == 1  # one place of the round is left
    paper.survey("P2")
    assert not paper.study.surveys[1].recommended
    paper.run(lambda draft: commands.show_advice(draft, recommend(paper.study, 3)))
    paper.survey(meet(paper, "Ben"))
    assert recommend(paper.study).count == 2


def test_a_new_person_who_refuses_is_recorded_without_a_name_and_unseen(paper):
    before = paper.study.discovered()

    def refused(draft):
        code = draft.new_person(None)
        commands.meet_new_person(draft, code)
        commands.end_survey(draft, code, "refused")
        return code

    code = paper.run(refused)
    assert isinstance(paper.study.log[-1].body, SurveyEnded)
    view = View(paper.study, paper.texts)
    assert (view.name(code), view.spellings(code), view.index.same("")) == (code, [], [])
    assert paper.study.people[code].known
    assert paper.study.surveys[-1].outcome == "refused"
    assert paper.study.discovered() == before
    named = paper.run(
        lambda draft: commands.meet_new_person(draft, "P2") or commands.end_survey(draft, "P2", "refused")
    )
    assert named is None
    assert paper.study.discovered().refused == [paper.study.seen.index["P2"]]  # seen, because others named them


def test_advice_as_data(paper):
    given = advice(View(paper.study, paper.texts), recommend(paper.study))
    assert given["ranking"][0] == {
        "rank": 1, "person": "new", "name": "a new person", "recommended": True,
        "reasons": ["2 of 10 new people have been interviewed"],
    }  # fmt: skip
    assert given["how_to_draw"][0].startswith("From a list: number the people")
    assert {row["name"] for row in given["ranking"][1:]} == {"Carla", "Dan", "Eva"}


# Marks ---------------------------------------------------------------------------------------------------------------


def test_a_person_marks_one_of_those_they_named_and_can_take_it_back(paper):
    mark(paper, "P1", "P2")
    mark(paper, "P1", "P3")
    assert paper.study.people["P1"].marked == "P3"
    assert paper.study.discovered().marks == {0: paper.study.seen.index["P3"]}
    position = paper.study.position
    mark(paper, "P1", "P3")
    assert paper.study.position == position  # said already
    for by, contact, problem in (
        ("P1", "P5", "did not name"),
        ("P2", "P1", "did not name"),
        ("P1", "P1", "their own contact"),
        ("P1", "P9", "'P9'"),
    ):
        with pytest.raises(InputError, match=problem):
            mark(paper, by, contact)
    paper.run(lambda draft: commands.unmark_contact(draft, "P1"))
    assert paper.study.discovered().marks == {}
    paper.run(lambda draft: commands.undo(draft, paper.study.position))
    assert paper.study.people["P1"].marked == "P3"


def test_a_mark_goes_with_the_contact_and_with_who_withdraws(paper):
    mark(paper, "P1", "P2")
    with pytest.raises(InputError, match="builds on it"):
        paper.run(lambda draft: commands.undo(draft, 4))  # the survey of Ana
    paper.run(lambda draft: commands.remove_tie(draft, "P1", "P1", "P2"))
    paper.run(lambda draft: commands.name_contact(draft, "P1", "P2"))
    assert paper.study.people["P1"].marked is None  # named again, but not marked again
    mark(paper, "P1", "P2")
    mark(paper, "P4", "P2")
    paper.run(lambda draft: commands.withdraw(draft, "P1"))
    assert list(paper.study.discovered().marks.values()) == [paper.study.seen.index["P2"]]
    paper.run(lambda draft: commands.withdraw(draft, "P2"))
    assert paper.study.discovered().marks == {}


def test_merging_keeps_marks_consistent(paper):
    mark(paper, "P1", "P3")
    mark(paper, "P4", "P5")
    before = paper.study
    paper.run(lambda draft: commands.merge(draft, "P2", "P3"))  # contacts who are one person
    assert paper.study.people["P1"].marked == "P2"
    mark(paper, "P1", "P2")
    assert paper.study.state.marks["P1"] == "P3"  # it stays with the code that was marked
    paper.run(lambda draft: commands.unmerge(draft, "P3"))
    assert paper.study.people == before.people
    paper.run(lambda draft: commands.merge(draft, "P4", "P1"))  # respondents who are one person: one mark
    assert (paper.study.people["P4"].marked, len(paper.study.discovered().marks)) == ("P5", 1)
    mark(paper, "P4", "P3")
    assert paper.study.people["P4"].marked == "P3"
    paper.run(lambda draft: commands.unmark_contact(draft, "P4"))
    assert paper.study.people["P4"].marked is None
    mark(paper, "P4", "P5")
    paper.run(lambda draft: commands.merge(draft, "P4", "P5"))  # who marked and who was marked are one person
    assert paper.study.discovered().marks == {}


def test_a_mark_of_another_program_is_checked_when_the_log_is_read(paper):
    draft = commands.Draft(paper.study)
    with pytest.raises(InputError, match="P1 did not name P5"):
        draft.append(ContactMarked("P1", "P5"))


# What a policy sees --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["new", "mix:best", "mix:0.3:degree+inverse", "scout"])
def test_a_study_shows_what_a_simulation_shows(policy):
    """A simulated open study with refusals and marks, entered as a team would."""
    rng = np.random.default_rng(5)
    network = retweet_like(120, rng, mean_degree=2.6, exponent=0.5)
    simulation = Simulation(network, (), rng, refusal=0.2, frame=Frame(), hub_question=0.5)
    seen, paper = simulation.discovered, open_study(interviews=15)
    codes: dict[int, str] = {}  # by local index

    def enter(person: int, new: bool) -> None:
        code = codes.get(person) or meet(paper, f"person {person}")
        if new and person in codes:
            paper.run(lambda draft: commands.meet_new_person(draft, code))
        codes[person] = code
        contacts = [contact for one, contact in named if one == person]
        found = paper.survey(code, *(codes.get(contact, f"person {contact}") for contact in contacts))
        codes.update(zip(contacts, found, strict=True))
        if person in seen.marks:
            mark(paper, code, codes[seen.marks[person]])

    chosen = find_policy(policy, None, 15)
    for _ in range(15):
        (person,) = chosen.choose(seen, rng, 1) or [NEW]
        surveyed, refused, ties = len(seen.surveyed), len(seen.refused), len(seen.ties()[0])
        simulation.ask(person)
        named = [(int(one), int(other)) for one, other in zip(*seen.ties(), strict=True)][ties:]
        if len(seen.surveyed) > surveyed:
            again = [(seen.surveyed[-1], contact) for contact in seen.contacts[seen.surveyed[-1]]]
            named = again  # a tie that was known already is named again
            enter(seen.surveyed[-1], new=person == NEW)
        elif len(seen.refused) > refused:
            code = codes[seen.refused[-1]]
            paper.run(lambda draft, code=code: commands.end_survey(draft, code, "refused"))
    mine = paper.study.discovered()
    place = {paper.study.seen.index[code]: person for person, code in codes.items()}
    assert [place[i] for i in mine.start] == seen.start
    assert [place[i] for i in mine.surveyed] == seen.surveyed
    assert {place[i] for i in mine.refused} == set(seen.refused)
    assert {place[i]: place[contact] for i, contact in mine.marks.items()} == seen.marks
    assert {place[i]: {place[contact] for contact in each} for i, each in enumerate(mine.contacts)} == dict(
        enumerate(map(set, seen.contacts))
    )
    assert mine.open


quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(scripts)
def test_whatever_happens_marks_are_of_contacts_and_advice_is_lawful(script):
    paper = played(script, open=True, interviews=8)
    study = paper.study
    assert Study(study.log).state == study.state
    for person in study.people.values():
        assert person.marked is None or person.marked in person.contacts
    assert len(study.discovered().marks) == sum(person.marked is not None for person in study.people.values())
    found = recommend(study, 2)
    assert found == recommend(Study(study.log), 2)
    assert len(found.recommended) == 2
    known = [each.person for each in found.ranking if each.person != NEW_PERSON]
    assert len(set(known)) == len(known) <= 2 + ALTERNATIVES
    assert all(study.people[code].may_be_surveyed for code in known)
    assert not any(each.person == NEW_PERSON for each in found.ranking[2:])
