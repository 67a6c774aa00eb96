"""How many interviews are worth it, from simulated studies."""

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
from claim.planning import KINDS, WAYS, Plan, PlanSettings, Point, completed, plan
from claim.planning.studies import Way
from claim.registry import OPEN_DEFAULT
from claim.selection.foresight import foresight_named

QUICK = PlanSettings(leaders=4, surveys=(0, 3, 9), studies=6)
CLOSED = replace(QUICK, ways=["closed"])


def seen_part(network: Network, budget: int, seed: int = 0) -> Discovered:
    rng = np.random.default_rng(seed)
    simulation = Simulation(network, rng.choice(network.n, 5, replace=False), rng)
    for _ in surveys(simulation, policy_named("random"), budget, rng):
        pass
    return simulation.discovered


def curve(*verdicts: str, needed: int | None = None) -> list[Point]:
    """Points at 5, 10, 15 … interviews; all but the first have a verdict."""
    points = [Point("closed", 5, 0, 20.0, 0.5, 15.0, 30.0, 50.0)]
    for i, verdict in enumerate(verdicts, 2):
        points.append(replace(points[0], interviews=5 * i, gain=0.3, verdict=verdict, studies_needed=needed))
    return points


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


def test_a_plan_has_a_point_for_every_way_and_number_of_interviews():
    made = plan(150, 4.0, "stars", 3, settings=QUICK)
    assert list(made.ways) == list(WAYS)
    assert made.points == made.ways[OPEN_DEFAULT]
    for way, points in made.ways.items():
        assert [(each.way, each.surveys, each.interviews) for each in points] == [(way, n, n + 3) for n in (0, 3, 9)]
        first, second, third = points
        assert first.gain is None
        assert second.gain == pytest.approx((second.mean - first.mean) / 3)
        assert third.gain == pytest.approx((third.mean - second.mean) / 6)
        assert second.gain_low <= second.gain <= second.gain_high
        assert first.discovered < second.discovered < third.discovered <= 150
        for each in points:
            assert 1 <= each.low <= each.mean <= each.high <= 150
    assert [row["way"] for row in made.records()] == [way for way in WAYS for _ in range(3)]
    json.dumps(made.to_dict(), allow_nan=False)


def test_numbers_of_interviews_count_the_start_people_and_surveys_do_not():
    by_surveys = plan(100, 4.0, "stars", 3, settings=QUICK)
    by_interviews = plan(100, 4.0, "stars", 3, settings=replace(QUICK, surveys=None, interviews=(3, 6, 12)))
    assert by_surveys.ways == by_interviews.ways
    assert by_surveys.to_dict() == by_interviews.to_dict()
    assert [each.interviews for each in plan(30, 3.0, studies=2, ways=["new"], start_size=2).points][:3] == [2, 7, 12]


def test_ways_that_interview_the_same_people_reach_the_same():
    """With as many interviews as start people, and no others, all ways are the same studies."""
    made = plan(100, 4.0, "clustered", 4, settings=replace(QUICK, surveys=(0, 2), ways=("closed", "new", "mix:best")))
    closed, new, mix = (made.ways[way] for way in ("closed", "new", "mix:best"))
    assert closed[0].mean == new[0].mean == mix[0].mean
    assert (new[0].ahead, new[0].ahead_low, new[0].ahead_high) == (0, 0, 0)
    assert made.best(4) == []
    assert new[1].mean == mix[1].mean  # the best mix of few interviews is of new people only
    assert closed[1].mean != new[1].mean


def test_a_way_is_ahead_by_the_difference_to_the_first_way():
    made = plan(120, 5.0, "clustered", settings=QUICK)
    for first, other in zip(made.ways["closed"], made.ways["new"], strict=True):
        assert first.ahead is None
        assert other.ahead == pytest.approx(other.mean - first.mean)
    swapped = plan(120, 5.0, "clustered", settings=replace(QUICK, ways=["new", "closed"]))
    assert swapped.ways["closed"][2].ahead == pytest.approx(-made.ways["new"][2].ahead)
    assert swapped.advised == "new"


def test_the_policy_chooses_among_named_people_in_the_closed_way_only():
    one, other = (plan(100, 4.0, "stars", settings=replace(QUICK, policy=policy)) for policy in ("scout", "random"))
    assert one.ways["closed"] != other.ways["closed"]
    assert [each.mean for each in one.ways["new"]] == [each.mean for each in other.ways["new"]]


def test_a_policy_that_chooses_its_leaders_is_a_way():
    made = plan(80, 4.0, "clustered", settings=replace(QUICK, ways=["new", "one-hop", "edge-probing"]))
    new, one_hop, probing = (points[2] for points in made.ways.values())
    assert one_hop.discovered == new.discovered  # the same interviews
    assert len({new.mean, one_hop.mean, probing.mean}) == 3


def test_the_same_seed_gives_the_same_plan_and_another_one_another():
    one, again = (plan(100, 4.0, "unknown", 5, settings=QUICK) for _ in range(2))
    other = plan(100, 4.0, "unknown", 5, settings=PlanSettings(leaders=4, surveys=(0, 3, 9), studies=6, seed=1))
    assert one == again
    assert one.points != other.points


def test_everybody_surveyed_is_the_end_of_what_surveys_add():
    """In a small network the frontier runs dry: the curve goes on flat and costs nothing."""
    setting = PlanSettings(leaders=3, surveys=(0, 40, 400), studies=4, p=0.2)
    made = plan(20, 3.0, "clustered", 2, settings=setting)
    for points in made.ways.values():
        assert points[2].discovered == points[1].discovered <= 20
        assert abs(points[2].gain) < 0.01
    assert made.ways["new"][1].discovered == 20


def test_studies_share_networks_where_these_are_large(monkeypatch):
    made = []

    def noted(generators, number, rng, **settings):
        made.append(number)
        return look_alike(generators, number, rng, **settings)

    monkeypatch.setattr("claim.planning.studies.look_alike", noted)
    monkeypatch.setattr("claim.planning.studies.MOST_PEOPLE", 1)
    monkeypatch.setattr("claim.planning.studies.FEWEST_NETWORKS", 2)
    seen = []
    result = plan(50, 3.0, "stars", settings=QUICK, progress=lambda *done: seen.append(done))
    assert made == [0, 1]
    assert seen == [(number, 6) for number in range(1, 7)]
    assert all(each.studies_needed is None for each in result.points)  # more studies would not be more networks


YES, NO, OPEN = "worth it", "not worth it", "not clear"


@pytest.mark.parametrize(
    ("verdicts", "until", "enough", "words"),
    [
        (
            (YES, YES, NO),
            15,
            15,
            ["Up to 15 interviews each adds 0.2 people", "After 15 interviews each one more adds"],
        ),
        (
            (YES, OPEN, NO),
            10,
            15,
            ["Up to 10", "After 15", "from 10 to 15 add 0.2 people each is not clear from 6 studies; about 90"],
        ),
        ((YES, OPEN, OPEN), 10, None, ["Up to 10", "from 10 to 20 add 0.2 people each is not clear"]),
        ((OPEN, YES, YES), 20, None, ["Up to 20"]),
        ((NO, NO, NO), 5, 5, ["After 5 interviews each one more adds less than 0.2 people."]),
        ((OPEN, NO, NO), 5, 10, ["After 10", "from 5 to 10 add 0.2 people each is not clear"]),
    ],
)
def test_the_advice_follows_from_the_verdicts(verdicts, until, enough, words):
    made = Plan(QUICK, {"closed": curve(*verdicts, needed=90)}, {})
    assert (made.worth_until, made.enough) == (until, enough)
    assert [word for word in words if word not in made.advice] == []
    assert ("Up to" in made.advice) == (YES in verdicts)
    assert ("After" in made.advice) == (enough is not None)
    assert ("is not clear" in made.advice) == ("is not clear" in words[-1])


def test_one_number_of_interviews_gives_no_advice():
    assert "does not show" in Plan(QUICK, {"closed": curve()}, {}).advice


def test_the_advice_names_the_ways_that_are_not_clearly_behind():
    means = {"closed": 20.0, "new": 21.0, "mix:best": 22.0}
    closed, new, mix = ([replace(each, way=way, mean=mean) for each in curve(NO)] for way, mean in means.items())
    behind = [replace(each, best=False) for each in closed]
    assert (
        "The best way to spend 5 interviews: new or mix:best."
        in Plan(QUICK, {"closed": behind, "new": new, "mix:best": mix}, {}).advice
    )
    unclear = Plan(QUICK, {"closed": closed, "new": new, "mix:best": mix}, {})
    assert "Which way to spend 5 interviews is best is not clear from 6 studies." in unclear.advice
    assert "way to spend" not in Plan(QUICK, {"closed": closed}, {}).advice


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
    follow = Way.follow

    def noted(way, studies, study, settings):
        begun.append(studies.begin(study, settings).discovered)
        return follow(way, studies, study, settings)

    monkeypatch.setattr(Way, "follow", noted)
    plan(200, known=seen, settings=CLOSED)
    assert [each.start for each in begun] == [seen.start] * QUICK.studies
    assert [each.surveyed for each in begun] == [seen.surveyed] * QUICK.studies
    assert [each.refused for each in begun] == [seen.refused] * QUICK.studies
    assert len(seen.start) == 5
    assert not seen.open


def test_further_interviews_can_be_with_new_people():
    seen = seen_part(vole_like(200, 5.0, np.random.default_rng(4)), 8)
    made = plan(200, known=seen, settings=replace(QUICK, surveys=(0, 10)))
    closed, new = made.ways["closed"], made.ways["new"]
    assert closed[0].mean == pytest.approx(new[0].mean)
    assert closed[0].discovered == new[0].discovered == len(seen)
    assert closed[1].mean != new[1].mean
    assert made.further
    assert " further interviews (" in made.advice


def test_surveys_add_nothing_where_everybody_is_reached_already():
    crowd = vole_like(40, 9.0, np.random.default_rng(5))
    made = plan(40, known=seen_part(crowd, 6), settings=PlanSettings(p=0.9, leaders=2, surveys=(0, 5, 10), studies=4))
    for before, after in pairwise(made.points):
        assert after.gain == pytest.approx((after.mean - before.mean) / (after.surveys - before.surveys))
    assert made.points[0].mean == pytest.approx(40, rel=0.05)
    assert max(point.high for point in made.points) <= 40
    assert max(point.stderr for point in made.points) < 0.5  # of 40 people, not of as many as foresight would expect
    assert made.enough == 0


def test_the_reach_now_is_the_one_that_select_expects():
    network = vole_like(200, 5.0, np.random.default_rng(5))
    seen = seen_part(network, 12)
    for people in (200, None):
        made = plan(people, known=seen, settings=PlanSettings(leaders=4, surveys=(0, 5), studies=3, ways=("closed",)))
        selector = foresight_named("foresight", p=0.1, people=people)
        found = selector.expect(seen, selector.select(seen, 4, np.random.default_rng(0)), np.random.default_rng(0))
        now = made.points[0]
        assert (now.mean, now.low, now.high) == pytest.approx(found, rel=0.1)
        assert made.basis.get("people_estimated", False) == (people is None)


def test_people_who_refused_are_not_asked_again():
    star = Network.from_edges([0] * 6, range(1, 7))
    seen = Discovered.from_network(star, [0], range(1, 7))
    made = plan(50, 4.0, known=seen, settings=PlanSettings(leaders=2, surveys=(0, 5), studies=3))
    assert made.ways["closed"][1].discovered == 7
    assert made.ways["new"][1].discovered > 7


def test_somebody_who_named_nobody_is_no_reason_to_stop():
    seen = Discovered.from_network(Network.from_edges([], [], n=2), [0, 1])
    made = plan(30, known=seen, settings=QUICK)
    assert [each.mean for each in made.ways["closed"]] == [2, 2, 2]
    assert made.ways["new"][2].discovered >= 11


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
        (lambda: PlanSettings(surveys=(0, 2.5)), "numbers of surveys"),
        (lambda: PlanSettings(interviews=(10, 5)), "numbers of interviews must be ascending"),
        (lambda: PlanSettings(surveys=(0, 5), interviews=(5, 10)), "surveys or of interviews, not both"),
        (lambda: plan(50, 3.0, interviews=(3, 10)), "interviews must be at least 5, got 3"),
        (lambda: PlanSettings(ways=()), "ways must be a list"),
        (lambda: PlanSettings(ways="new"), "ways must be a list"),
        (lambda: PlanSettings(ways=("new", "new")), "each once"),
        (lambda: PlanSettings(ways=("closed", "nwe")), "no policy is called 'nwe'"),
        (lambda: PlanSettings(ways=("mix:2:scout",)), "a share from 0 to 1"),
        (lambda: PlanSettings(ways=("clairvoyant",)), "must see the whole network"),
        (lambda: PlanSettings(policy="mix:best"), "name it among the ways"),
        (lambda: PlanSettings(cost_survey=5), "cost_leader is missing"),
        (lambda: PlanSettings(cost_leader=5), "cost_survey is missing"),
        (lambda: PlanSettings(cost_survey=-1, cost_leader=5), "cost_survey must be at least 0, got -1"),
        (lambda: PlanSettings(cost_survey=1, cost_leader=np.inf), "cost_leader must be at least 0, got inf"),
        (lambda: PlanSettings(cost_survey=0, cost_leader=0), "must be above 0, got 0 for both"),
        (lambda: PlanSettings(cost_survey="1", cost_leader=5), "cost_survey must be a number"),
        (lambda: plan(90, known=Discovered(), cost_survey=1, cost_leader=5), "costs are for plans without known ties"),
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
