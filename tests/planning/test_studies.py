"""Ways of spending interviews in simulated studies, and what is known of their differences."""

from itertools import combinations

import numpy as np
import pytest

from claim.discovery.policies.open_studies import best_share
from claim.networks.synthetic import vole_like
from claim.planning import PlanSettings
from claim.planning.result import Plan, points_of
from claim.planning.studies import NetworkStudies, Outcomes, Way, run_studies

SETTINGS = PlanSettings(leaders=4, studies=4)
NUMBERS = [5, 10, 30]


def studies(people: int = 150) -> NetworkStudies:
    return NetworkStudies(vole_like(people, 5.0, np.random.default_rng(0)), range(2))


def interviewed(name: str, before: int = 0) -> list[list[int]]:
    """The people interviewed in a way, at each number of interviews, by the network's indices."""
    way = Way.of(name, SETTINGS, NUMBERS, 5, before)
    return [
        [simulation.people[who] for who in simulation.discovered.surveyed]
        for simulation, _ in way.follow(studies(), 0, SETTINGS)
    ]


@pytest.mark.parametrize("way", ["closed", "new", "mix:best", "mix:0.2:random", "scout", "edge-probing"])
def test_every_way_makes_as_many_interviews(way):
    assert [len(set(people)) for people in interviewed(way)] == NUMBERS


def test_all_ways_meet_the_same_new_people_in_the_same_order():
    closed, new, mix = (interviewed(way) for way in ("closed", "new", "mix:best"))
    assert closed[0] == new[0] == new[2][:5] == mix[2][:5]
    first = round(best_share(30) * 30)
    assert mix[2][:first] == new[2][:first]
    assert mix[2] != new[2]


def test_a_mix_is_that_of_each_number_of_interviews():
    way = Way.of("mix:best", SETTINGS, NUMBERS, 5)
    drawn = [len(simulation.discovered.start) for simulation, _ in way.follow(studies(), 0, SETTINGS)]
    assert drawn == [round(best_share(number) * number) for number in NUMBERS]
    under_way = Way.of("mix:best", SETTINGS, NUMBERS, 5, before=25)
    assert [policy.interviews for policy, _ in under_way.runs] == [30, 35, 55]


def test_a_closed_study_meets_no_new_people_after_its_start():
    way = Way.of("closed", SETTINGS, NUMBERS, 5)
    for simulation, _ in way.follow(studies(), 0, SETTINGS):
        assert len(simulation.discovered.start) == 5
        assert not simulation.discovered.open


def test_studies_on_one_network_are_one_observation():
    ways = [Way.of(way, SETTINGS, [5, 10], 5) for way in ("closed", "new")]
    networks = (NetworkStudies(vole_like(80, 4.0, np.random.default_rng(i)), [i, i + 2]) for i in range(2))
    outcomes = run_studies(networks, ways, SETTINGS, None)
    assert outcomes.network.tolist() == [0, 0, 1, 1]
    assert outcomes.by_network()[0] == pytest.approx(outcomes.reach[:2].mean(axis=0))


def simulated(rng: np.random.Generator, studies: int, per_network: int = 1) -> Outcomes:
    """Outcomes of two ways whose interviews add 0.5, 0.25 and 0.05 people each; networks differ much in all of it."""
    networks = studies // per_network
    level = rng.normal(50, 20, (networks, 1, 1))
    gains = np.array([0.5, 0.25, 0.05])[None, None] + rng.normal(0, 0.4, (networks, 2, 3))
    reach = level + np.concatenate([np.zeros((networks, 2, 1)), 10 * gains.cumsum(axis=2)], axis=2)
    reach = np.repeat(reach, per_network, axis=0) + rng.normal(0, 0.1, (studies, 2, 4))
    return Outcomes(reach, reach, np.repeat(np.arange(networks, dtype=np.int32), per_network), np.zeros(0))


def made_from(outcomes: Outcomes) -> Plan:
    settings = PlanSettings(studies=len(outcomes.reach), ways=["closed", "new"])
    return Plan(settings, points_of(outcomes, ["closed", "new"], [5, 15, 25, 35], 5, settings), {})


def test_the_difference_between_networks_is_in_the_intervals():
    few, many = (made_from(simulated(np.random.default_rng(1), 30 * n, n)).points[1] for n in (1, 10))
    assert many.gain_stderr == pytest.approx(few.gain_stderr, rel=0.1)
    assert many.stderr == pytest.approx(few.stderr, rel=0.1)
    assert few.studies_needed is None or few.studies_needed > 30
    own = made_from(simulated(np.random.default_rng(1), 300)).points[1]
    assert own.gain_stderr < 0.5 * many.gain_stderr


def test_more_studies_make_verdicts_clear_and_do_not_reverse_them():
    clear, reversed_ = {30: 0, 100: 0, 300: 0}, 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        verdicts = {number: [each.verdict for each in made_from(simulated(rng, number)).points] for number in clear}
        for number, found in verdicts.items():
            clear[number] += sum(verdict != "not clear" for verdict in found[1:])
        for one, other in combinations(verdicts.values(), 2):
            reversed_ += any({a, b} == {"worth it", "not worth it"} for a, b in zip(one, other, strict=True))
    assert reversed_ == 0
    assert clear[30] < clear[100] < clear[300]


def test_a_way_is_behind_only_if_the_difference_is_clear():
    rng = np.random.default_rng(0)
    outcomes = simulated(rng, 100)
    assert made_from(outcomes).best(35) == ["closed", "new"]
    outcomes.reach[:, 0] -= 3.0  # paired: much less than networks differ, and clear
    assert made_from(outcomes).best(35) == ["new"]
