"""Whom to ask after the sessions, and the estimate of p from the answers."""

import numpy as np
import pytest
from paper import Paper

from claim.cascades import cascade
from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.field.advice.follow_up import FollowUp, follow_up
from claim.field.advice.spreading import (
    FACTORS,
    GRID,
    NEVER,
    WORLDS,
    HiddenContacts,
    Worlds,
    draw_worlds,
    smallest_p,
)
from claim.field.study import commands
from claim.networks.synthetic import zone_like
from claim.selection.foresight.selection_state import SeenNetwork, excess_degree


def reachable(n: int, ties: list[tuple[int, int]], came: list[int]) -> set[int]:
    """The people that ``came`` are joined to, by the plainest search."""
    found = set(came)
    while True:
        more = {person for tie in ties for person in tie if found & set(tie)} - found
        if not more:
            return found
        found |= more


def test_the_smallest_p_is_where_contacts_begin_to_join_a_person_to_the_leaders():
    rng = np.random.default_rng(4)
    for _ in range(30):
        n, m = int(rng.integers(2, 12)), int(rng.integers(0, 25))
        ones, others = rng.integers(0, n, (2, m))
        numbers = rng.random(m)
        came = np.unique(rng.integers(0, n, 2))
        found = smallest_p(n, ones, others, numbers, came)
        for p in (*numbers + 1e-9, 0.5):
            live = [(int(a), int(b)) for a, b, number in zip(ones, others, numbers, strict=True) if number < p]
            assert {int(i) for i in np.flatnonzero(found < p)} == reachable(n, live, came.tolist())
        assert set(found[came]) == {0.0}
        assert set(found[found > 1]) <= {NEVER}


@pytest.fixture
def seen() -> Discovered:
    """Two surveyed people who share a contact; each names four more."""
    found = Discovered()
    for _ in range(2):
        found.record_start(found.add_person(None))
    for i in range(9):
        person = found.add_person(0 if i < 5 else 1)
        for namer in (0,) if i < 4 else (0, 1) if i == 4 else (1,):
            found.add_tie(namer, person)
    return found


def test_only_people_who_were_not_surveyed_have_unseen_contacts_as_many_as_expected(seen):
    view, rng = SeenNetwork.of(seen), np.random.default_rng(1)
    hidden = HiddenContacts.of(view, people=30.0)
    assert hidden.n == 30
    drawn = [np.concatenate(hidden.draw(rng)) for _ in range(400)]
    ends = np.bincount(np.concatenate(drawn), minlength=30) / 400
    assert ends[:2].max() == 0
    once, both = ends[[2, 3, 4, 5, 7, 8, 9, 10]].mean(), ends[6]
    assert once == pytest.approx(FACTORS[-1] * excess_degree(view), rel=0.2)
    assert both > once  # named by two: likely has more contacts


def test_worlds_with_more_contacts_reach_no_fewer_people(seen):
    worlds = draw_worlds(SeenNetwork.of(seen), [0], 30.0, np.random.default_rng(2))
    assert worlds.limits.shape == (len(FACTORS), WORLDS, 11)
    assert (np.diff(worlds.limits, axis=0) <= 0).all()
    assert worlds.weights.sum(axis=1) == pytest.approx(np.ones(len(GRID)))


def test_the_more_people_say_yes_the_larger_is_p(seen):
    worlds = draw_worlds(SeenNetwork.of(seen), [0], 30.0, np.random.default_rng(2))
    asked = list(range(2, 11))
    found = [worlds.estimate(asked, np.arange(9) < yes) for yes in range(6)]
    assert all(each.low < each.p < each.high for each in found)
    assert sorted(each.p for each in found) == [each.p for each in found]
    assert sorted(each.high for each in found) == [each.high for each in found]
    assert found[0].low < 0.02


def test_without_unseen_contacts_the_posterior_is_that_of_independent_answers():
    """All ten contacts of the leader were asked and have no other contacts: the likelihood is binomial."""
    rng = np.random.default_rng(0)
    limits = np.full((len(FACTORS), WORLDS, 11), NEVER)
    limits[:, :, 1:] = (np.arange(WORLDS)[:, None] + 0.5) / WORLDS
    for factor in range(len(FACTORS)):
        for person in range(1, 11):
            limits[factor, :, person] = rng.permutation(limits[factor, :, person])
    weights = np.full((len(GRID), len(FACTORS)), 1 / len(FACTORS))
    worlds = Worlds(limits, weights)
    found = worlds.estimate(range(1, 11), np.arange(10) < 2)
    plain = GRID**2 * (1 - GRID) ** 8
    below = np.cumsum(plain) / plain.sum()
    expected = np.interp((0.05, 0.5, 0.95), below, GRID)
    assert (found.low, found.p, found.high) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("p", [0.05, 0.2])
def test_the_interval_holds_in_simulated_follow_ups(p):
    """A few of the follow-ups that benchmarks/follow_up.py simulates by the hundred."""
    holds, runs = 0, 24
    for run in range(runs):
        rng = np.random.default_rng((run, round(100 * p)))
        network = zone_like(150, rng, mean_degree=6.0)
        simulation = Simulation(network, rng.choice(network.n, 5, replace=False).tolist(), rng)
        for _ in surveys(simulation, policy_named("random"), 15, rng):
            pass
        came = [0, 1, 2, 5, 6, 7, 8]
        reached = {each.person for each in cascade(network, [simulation.people[who] for who in came], p, rng)}
        asked = rng.permutation([person for person in range(len(simulation.people)) if person not in came])[:40]
        yes = np.array([simulation.people[person] in reached for person in asked])
        worlds = draw_worlds(SeenNetwork.of(simulation.discovered), came, 150.0, rng)
        found = worlds.estimate(asked.tolist(), yes)
        holds += found.low <= p <= found.high
    assert holds >= 0.7 * runs


# In a study ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def paper() -> Paper:
    """Four people surveyed, each with five contacts of their own; P1 and P2 came to a session, P3 declined."""
    paper = Paper(leaders=2, seed=5)
    people = [paper.add(f"Start {i}", start=True) for i in range(4)]
    for person in people:
        paper.survey(person, *(f"Friend {i} of {person}" for i in range(5)))
    for person, answer in (("P1", "accepted"), ("P2", "accepted"), ("P3", "declined")):
        for given in ("offered", answer):
            paper.run(lambda draft, who=person, given=given: commands.answer_of_leader(draft, who, given))
    paper.run(lambda draft: commands.plan_session(draft, "2030-01-01T10:00", "", ["P1", "P2"]))
    for person in ("P1", "P2"):
        paper.run(lambda draft, who=person: commands.answer_of_leader(draft, who, "attended", 1))
    return paper


def answered(paper: Paper, answers: str) -> FollowUp:
    for letter in answers:
        person = follow_up(paper.study).to_ask[0]
        given = {"y": "yes", "n": "no", "-": "not asked"}[letter]
        paper.run(lambda draft, who=person, given=given: commands.answer_follow_up(draft, who, given))
    return follow_up(paper.study)


def test_people_are_asked_by_lot_without_leaders_and_people_who_refused(paper):
    refused = paper.study.people["P4"].contacts[0]
    paper.run(lambda draft: commands.end_survey(draft, refused, "refused"))
    before = follow_up(paper.study)
    assert not {"P1", "P2", "P3", refused} & set(before.to_ask)
    assert len(before.to_ask) == 24 - 4
    assert list(before.to_ask) != sorted(before.to_ask, key=lambda code: int(code[1:]))
    new = paper.add("Listed later")
    after = follow_up(paper.study).to_ask
    assert [code for code in after if code != new] == list(before.to_ask)
    assert before.estimate is None


def test_answers_are_counted_extrapolated_and_compared_with_what_was_expected(paper):
    found = answered(paper, "yyn-nn")
    assert (found.came, found.asked, found.yes, len(found.noted)) == (2, 5, 2, 6)
    people = 21
    assert found.found.mean == pytest.approx(2 + 2 / 5 * people)
    assert 2 + 2 <= found.found.low < found.found.mean < found.found.high <= 2 + people
    assert 0 < found.expected_yes.mean < 5
    assert 2 < found.expected.mean < 2 + people
    assert found.estimate.low < found.estimate.p < found.estimate.high


def test_the_same_log_gives_the_same_estimate_with_and_without_kept_worlds(paper):
    found, kept = answered(paper, "yynnn"), {}
    assert follow_up(paper.study, kept) == found
    worlds = kept["worlds"][1]
    paper.run(lambda draft: commands.answer_follow_up(draft, found.noted[0], "no"))
    assert follow_up(paper.study, kept) == follow_up(paper.study)
    assert kept["worlds"][1] is worlds
    paper.run(lambda draft: commands.mark_start(draft, "P4", False))
    assert follow_up(paper.study, kept) == follow_up(paper.study)
    assert kept["worlds"][1] is not worlds


def test_nothing_is_estimated_before_a_leader_came(paper):
    fresh = Paper(leaders=1)
    start = fresh.add("Start", start=True)
    fresh.survey(start, "One", "Two")
    found = answered(fresh, "y")
    assert (found.came, found.asked, found.estimate, found.expected) == (0, 1, None, None)
