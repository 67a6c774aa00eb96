"""How many surveys are worth it, from simulated studies."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.errors import InputError
from claim.fitting.random_graphs import look_alike
from claim.networks import Network
from claim.networks.synthetic import retweet_like, vole_like
from claim.planning import KINDS, Plan, PlanSettings, Point, completed, plan

QUICK = PlanSettings(leaders=4, surveys=(0, 3, 9), studies=6)


def seen_part(network: Network, budget: int, seed: int = 0) -> Discovered:
    rng = np.random.default_rng(seed)
    simulation = Simulation(network, rng.choice(network.n, 5, replace=False), rng)
    for _ in surveys(simulation, policy_named("random"), budget, rng):
        pass
    return simulation.discovered


def point(number: int, gain: float | None) -> Point:
    return Point(number, 20.0 + number, 0.5, 15.0, 30.0, 50.0, gain, None if gain is None else 0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("people", "mean_degree"), [(300, 6.0), (60, 2.0), (8, 1.5)])
def test_look_alikes_have_the_size_and_mean_degree_asked_for(kind, people, mean_degree):
    for number in range(len(KINDS[kind])):
        network = look_alike(KINDS[kind], number, np.random.default_rng(number), people=people, mean_degree=mean_degree)
        assert network.n == people
        assert 2 * network.m / people == pytest.approx(mean_degree, rel=0.25 if people > 8 else 0.6)


def test_kinds_differ_as_their_names_say():
    rng = np.random.default_rng(0)
    stars, clustered = (look_alike(KINDS[kind], 0, rng, people=600, mean_degree=5.0) for kind in ("stars", "clustered"))
    assert stars.degrees.max() > 2 * clustered.degrees.max()


def test_a_plan_has_a_point_for_every_number_of_surveys():
    made = plan(150, 4.0, "stars", 3, settings=QUICK)
    assert [each.surveys for each in made.points] == [0, 3, 9]
    first, second, third = made.points
    assert first.gain is None
    assert second.gain == pytest.approx((second.mean - first.mean) / 3)
    assert third.gain == pytest.approx((third.mean - second.mean) / 6)
    assert first.discovered < second.discovered < third.discovered <= 150
    for each in made.points:
        assert 4 <= each.low <= each.mean <= each.high <= 150
    json.dumps(made.to_dict(), allow_nan=False)


def test_the_same_seed_gives_the_same_plan_and_another_one_another():
    one, again = (plan(100, 4.0, "unknown", 5, settings=QUICK) for _ in range(2))
    other = plan(100, 4.0, "unknown", 5, settings=PlanSettings(leaders=4, surveys=(0, 3, 9), studies=6, seed=1))
    assert one == again
    assert one.points != other.points


def test_everybody_surveyed_is_the_end_of_what_surveys_add():
    """In a small network the frontier runs dry: the curve goes on flat and costs nothing."""
    setting = PlanSettings(leaders=3, surveys=(0, 40, 400), studies=4, p=0.2)
    made = plan(20, 3.0, "clustered", 2, settings=setting)
    assert made.points[2].discovered == made.points[1].discovered <= 20
    assert abs(made.points[2].gain) < 0.01


def test_studies_share_networks_where_these_are_large(monkeypatch):
    made = []

    def noted(generators, number, rng, **settings):
        made.append(number)
        return look_alike(generators, number, rng, **settings)

    monkeypatch.setattr("claim.planning.look_alike", noted)
    monkeypatch.setattr("claim.planning.MOST_PEOPLE", 1)
    monkeypatch.setattr("claim.planning.FEWEST_NETWORKS", 2)
    seen = []
    plan(50, 3.0, "stars", settings=QUICK, progress=lambda *done: seen.append(done))
    assert made == [0, 1]
    assert seen == [(number, 6) for number in range(1, 7)]


def test_enough_is_where_no_later_survey_is_worth_it():
    points = [point(0, None), point(5, 0.9), point(10, 0.1), point(20, 0.3), point(30, 0.1)]
    cheap, usual, dear, dearest = (Plan(replace(QUICK, worth=worth), points, {}) for worth in (0.05, 0.2, 0.5, 2.0))
    assert [made.enough for made in (cheap, usual, dear, dearest)] == [None, 20, 5, 0]
    assert usual.advice.startswith("After 20 surveys each further survey adds less than 0.2 people.")
    assert "Even after 30 surveys" in cheap.advice
    assert "does not show" in Plan(QUICK, [point(5, None)], {}).advice


def test_a_completed_network_keeps_all_that_was_seen():
    for network in (vole_like(400, 5.5, np.random.default_rng(1)), retweet_like(400, np.random.default_rng(1))):
        seen = seen_part(network, 10)
        whole = completed(seen, 400, None, np.random.default_rng(3))
        assert whole.n == 400
        for person in range(len(seen)):
            contacts = set(whole.contacts_of(person).tolist())
            if person in seen.surveyed:
                assert contacts == set(seen.contacts[person])
            else:
                assert contacts >= set(seen.contacts[person])
        again = Simulation(whole, seen.surveyed, np.random.default_rng(0))
        assert sorted(again.people) == list(range(len(seen)))


def test_a_completed_network_has_about_the_mean_degree_of_the_hidden_one():
    network = vole_like(500, 5.5, np.random.default_rng(2))
    found, given = [], []
    for seed in range(8):
        seen = seen_part(network, 20, seed)
        whole = completed(seen, 500, None, np.random.default_rng(seed))
        found.append(2 * whole.m / whole.n)
        given.append(2 * completed(seen, 500, 9.0, np.random.default_rng(seed)).m / 500)
    assert 4.0 < np.mean(found) < 7.5
    assert 7.5 < np.mean(given) < 10.5


def test_further_surveys_start_from_what_is_known():
    network = vole_like(200, 5.0, np.random.default_rng(4))
    seen = seen_part(network, 8)
    made = plan(200, known=seen, settings=QUICK)
    assert made.points[0].discovered == len(seen)
    assert made.points[2].discovered > len(seen)
    assert made == plan(200, known=seen, settings=QUICK)


def test_simulated_studies_know_who_the_study_began_with(monkeypatch):
    seen = seen_part(vole_like(200, 5.0, np.random.default_rng(4)), 8)
    seen.record_refusal(seen.frontier[0])
    begun = []

    def noted(simulation, *_):
        begun.append(simulation.discovered)
        return [1.0, 1.0, 1.0], [1, 1, 1]

    monkeypatch.setattr("claim.planning.reach_curve", noted)
    plan(200, known=seen, settings=QUICK)
    assert begun == [seen] * QUICK.studies
    assert len(seen.start) == 5


def test_surveys_add_nothing_where_everybody_is_reached_already():
    crowd = vole_like(40, 9.0, np.random.default_rng(5))
    made = plan(40, known=seen_part(crowd, 6), settings=PlanSettings(p=0.9, leaders=2, surveys=(0, 5, 10), studies=4))
    for before, after in pairwise(made.points):
        assert after.gain == pytest.approx((after.mean - before.mean) / (after.surveys - before.surveys))
    assert made.points[0].mean == 40
    assert max(point.stderr for point in made.points) < 0.5  # of 40 people, not of as many as foresight would expect
    assert made.enough == 0


def test_people_who_refused_are_not_asked_again():
    star = Network.from_edges([0] * 6, range(1, 7))
    seen = Discovered.from_network(star, [0], range(1, 7))
    made = plan(50, 4.0, known=seen, settings=PlanSettings(leaders=2, surveys=(0, 5), studies=3))
    assert made.points[1].discovered == 7


def test_somebody_who_named_nobody_is_no_reason_to_stop():
    seen = Discovered.from_network(Network.from_edges([], [], n=2), [0, 1])
    made = plan(30, known=seen, settings=QUICK)
    assert [each.mean for each in made.points] == [2, 2, 2]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: plan(0, 3.0), "people must be at least 1"),
        (lambda: plan(10, 0.0), "mean degree must be above 0"),
        (lambda: plan(10, 10.0), "below the number of people"),
        (lambda: plan(10, float("nan")), "mean degree"),
        (lambda: plan(10, 3.0, "starry"), "must be one of stars, clustered, unknown, got starry"),
        (lambda: plan(10, 3.0, start_size=0), "start_size must be at least 1"),
        (lambda: PlanSettings(leaders=0), "leaders must be at least 1"),
        (lambda: PlanSettings(studies=1), "studies must be at least 2"),
        (lambda: PlanSettings(surveys=()), "numbers of surveys"),
        (lambda: PlanSettings(surveys=(5, 0)), "numbers of surveys"),
        (lambda: PlanSettings(surveys=(-1, 0)), "numbers of surveys"),
        (lambda: PlanSettings(p=2.0), "between 0 and 1"),
        (lambda: PlanSettings(worth=0), "worth must be above 0, got 0"),
        (lambda: PlanSettings(worth=float("nan")), "worth must be"),
        (lambda: plan(50), "needs the mean degree"),
        (lambda: PlanSettings(policy="randm"), "did you mean random"),
        (lambda: PlanSettings(policy="clairvoyant"), "must see the whole network"),
        (lambda: PlanSettings(selector="greed"), "no selector"),
        (lambda: plan(50, known=Discovered()), "needs people who were surveyed"),
        (lambda: plan(90, np.nan, known=seen_part(vole_like(90, 5.0, np.random.default_rng(0)), 9)), "mean degree"),
        (lambda: plan(90, -5.0, known=seen_part(vole_like(90, 5.0, np.random.default_rng(0)), 9)), "mean degree"),
        (lambda: plan(6, known=seen_part(vole_like(90, 5.0, np.random.default_rng(0)), 9)), "are known already"),
    ],
)
def test_what_makes_no_plan_is_refused(make, problem):
    with pytest.raises(InputError, match=problem):
        make()
