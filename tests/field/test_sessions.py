"""Sessions, attendance, replacements, appointments and follow-up answers in the log."""

from itertools import pairwise

import pytest
from paper import Paper

from claim.errors import InputError
from claim.field.advice.leaders import choose_leaders
from claim.field.study import commands
from claim.field.study.events import LeaderAnswered, SessionPlanned, from_data

WHEN = "2030-03-01T14:30"


@pytest.fixture
def paper() -> Paper:
    """Three people who were surveyed, each with contacts; two leaders are wanted, P1 and P2 accepted."""
    paper = Paper(budget=10, leaders=2, seed=3)
    people = [paper.add(f"Start {i}", start=True) for i in range(3)]
    for person in people:
        paper.survey(person, *(f"Friend {i} of {person}" for i in range(4)))
    for person in people[:2]:
        answer(paper, person, "offered")
        answer(paper, person, "accepted")
    return paper


def answer(paper: Paper, person: str, given: str, session: int | None = None) -> None:
    paper.run(lambda draft: commands.answer_of_leader(draft, person, given, session))  # type: ignore[arg-type]


def plan(paper: Paper, *people: str, session: int | None = None, place: str = "hall") -> int:
    return paper.run(lambda draft: commands.plan_session(draft, WHEN, place, people, session))


def undo_last(paper: Paper) -> None:
    paper.run(lambda draft: commands.undo(draft, paper.study.position))


def test_sessions_have_numbers_times_places_and_invited_leaders(paper):
    assert [plan(paper, "P1", "P2"), plan(paper, "P1")] == [1, 2]
    assert paper.study.state.sessions[1].at == WHEN
    assert paper.texts[paper.study.state.sessions[1].place] == "hall"
    assert dict(paper.study.person("P1").leader.sessions) == {1: "invited", 2: "invited"}
    answer(paper, "P1", "not attended", 1)
    answer(paper, "P1", "attended", 2)
    leader = paper.study.person("P1").leader
    assert (leader.attended, leader.not_attended) == (1, 1)
    answer(paper, "P1", "attended", 1)  # a correction, not one more session
    assert (paper.study.person("P1").leader.attended, paper.study.person("P1").leader.not_attended) == (2, 0)
    undo_last(paper)
    assert paper.study.person("P1").leader == leader
    assert plan(paper, session=1, place="") == 1
    assert paper.study.state.sessions[1].place == ""


def test_sessions_are_for_leaders_who_accepted_and_need_a_time(paper):
    plan(paper)
    for person, given, session in (("P3", "invited", 1), ("P1", "invited", 2), ("P1", "invited", None)):
        with pytest.raises(InputError):
            answer(paper, person, given, session)
    for when in ("", "tomorrow", "2030-13-01T10:00", "2030-03-01"):
        with pytest.raises(InputError, match="a time looks like"):
            paper.run(lambda draft, when=when: commands.plan_session(draft, when))
    with pytest.raises(InputError, match="there is no session 7"):
        plan(paper, session=7)


def test_events_of_older_files_count_without_a_session(paper):
    old = from_data(LeaderAnswered, {"person": "P1", "answer": "attended"})
    for _ in range(2):
        paper.run(lambda draft: draft.append(old))
    assert paper.study.person("P1").leader.attended == 2


def test_leaders_who_decline_or_are_replaced_make_room_and_never_come_back_by_themselves(paper):
    before = [each.person for each in choose_leaders(paper.study).leaders]
    assert set(before) == {"P1", "P2"}
    answer(paper, "P1", "replaced")
    answer(paper, "P2", "declined")
    advice = choose_leaders(paper.study)
    shown = {each.person for each in (*advice.leaders, *advice.replacements)}
    assert len(advice.leaders) == 2
    assert not shown & {"P1", "P2"}
    answer(paper, "P1", "offered")
    assert "P1" in [each.person for each in choose_leaders(paper.study).leaders]


def test_a_person_who_refused_is_no_replacement(paper):
    friend = paper.study.people["P1"].contacts[0]
    paper.run(lambda draft: commands.end_survey(draft, friend, "refused"))
    answer(paper, "P1", "replaced")
    advice = choose_leaders(paper.study)
    assert friend not in {each.person for each in (*advice.leaders, *advice.replacements)}


def test_appointments_are_replaced_cancelled_and_undone(paper):
    friend = paper.study.people["P1"].contacts[0]
    for place in ("kitchen", "gate"):
        paper.run(lambda draft, place=place: commands.make_appointment(draft, friend, WHEN, place))
    assert paper.texts[paper.study.people[friend].appointment.place] == "gate"
    paper.run(lambda draft: commands.cancel_appointment(draft, friend))
    assert paper.study.people[friend].appointment is None
    undo_last(paper)
    assert paper.texts[paper.study.people[friend].appointment.place] == "gate"


def test_withdrawal_erases_places_answers_and_appointments(paper):
    friend = paper.study.people["P3"].contacts[0]
    paper.run(lambda draft: commands.rename(draft, friend, "Zubizarreta"))
    paper.run(lambda draft: commands.make_appointment(draft, friend, WHEN, "her house"))
    paper.run(lambda draft: commands.plan_session(draft, WHEN, "behind Zubizarreta's shop"))
    paper.run(lambda draft: commands.plan_session(draft, WHEN, "town hall"))
    paper.run(lambda draft: commands.answer_follow_up(draft, friend, "yes"))
    paper.run(lambda draft: commands.withdraw(draft, friend))
    assert not {"her house", "behind Zubizarreta's shop"} & set(paper.texts.values())
    assert "town hall" in paper.texts.values()
    assert friend not in paper.study.state.follow_up
    assert friend not in paper.study.state.appointments


def test_follow_up_is_for_people_who_were_not_asked_to_lead(paper):
    friend = paper.study.people["P1"].contacts[0]
    for given in ("yes", "no", "not asked"):
        paper.run(lambda draft, given=given: commands.answer_follow_up(draft, friend, given))
        assert paper.study.people[friend].follow_up == given
    with pytest.raises(InputError, match="was asked to lead"):
        paper.run(lambda draft: commands.answer_follow_up(draft, "P1", "yes"))


def test_answers_follow_people_who_are_merged(paper):
    one, other = paper.study.people["P1"].contacts[:2]
    paper.run(lambda draft: commands.answer_follow_up(draft, other, "yes"))
    paper.run(lambda draft: commands.merge(draft, one, other))
    assert paper.study.person(one).follow_up == "yes"
    paper.run(lambda draft: commands.answer_follow_up(draft, one, "no"))
    assert paper.study.person(one).follow_up == "no"
    paper.run(lambda draft: commands.unmerge(draft, other))
    assert paper.study.person(one).follow_up is None


def test_the_log_stays_a_chain_of_the_new_events(paper):
    plan(paper, "P1")
    assert isinstance(paper.study.log[-2].body, SessionPlanned)
    assert all(later.previous == earlier.hash for earlier, later in pairwise(paper.study.log))
