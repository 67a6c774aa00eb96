"""Simulated surveys: the hidden network answers, and only the answers cross the wall."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from discovery_cases import everything_seen, hubs_and_leaves, star, study, twin_of
from scipy.stats import chisquare

from claim.discovery import POLICIES, Simulation, Status, is_reference, only_open, policy_named, surveys
from claim.discovery.policies.simple import Clairvoyant
from claim.errors import InputError
from claim.networks import Network
from claim.selection import MethodSelector

HONEST = [name for name, policy in POLICIES.items() if not is_reference(policy) and not only_open(policy)]


def simulated(network: Network, start: list[int], seed: int = 0, refusal: float = 0.0) -> Simulation:
    return Simulation(network, start, np.random.default_rng(seed), refusal)


def test_the_contacts_of_surveyed_people_are_seen_and_nothing_else():
    network = hubs_and_leaves()
    simulation = study(network, policy_named("random"), [3, 70, 12], seed=1, budget=8)
    seen = simulation.discovered
    surveyed = {simulation.people[person] for person in seen.surveyed}
    sources, targets, _ = network.edges()
    edges = zip(sources.tolist(), targets.tolist(), strict=True)
    visible = {frozenset(edge) for edge in edges if surveyed & set(edge)}
    ends = zip(*(side.tolist() for side in seen.ties()), strict=True)
    assert {frozenset((simulation.people[u], simulation.people[v])) for u, v in ends} == visible
    assert set(simulation.people) == surveyed.union(*visible)
    assert len(seen.surveyed) == 3 + 8


@pytest.mark.parametrize("name", HONEST)
def test_twins_that_differ_in_hidden_edges_only_give_identical_studies_and_selections(name):
    network, policy = hubs_and_leaves(), policy_named(name)
    for seed in range(5):
        first = study(network, policy, [1, 50, 99], seed, budget=8, refusal=0.2, per_round=2)
        twin = twin_of(network, first, np.random.default_rng(seed))
        assert twin != network
        second = study(twin, policy, [1, 50, 99], seed, budget=8, refusal=0.2, per_round=2)
        assert first.people == second.people
        assert everything_seen(first.discovered) == everything_seen(second.discovered)
        picks = [
            MethodSelector(samples=50).select(each.discovered, 6, np.random.default_rng(seed))
            for each in (first, second)
        ]
        assert picks[0] == picks[1]


def test_people_of_a_directed_network_name_those_whom_their_ties_lead_to():
    network = Network.from_edges([0, 1, 1, 2, 3], [1, 0, 2, 3, 0], n=4, directed=True)
    simulation = simulated(network, [0])
    assert sorted(simulation.people) == [0, 1]  # not person 3, who would name person 0
    assert simulation.ask(1)
    assert set(simulation.people) == {0, 1, 2}
    place = simulation.people.index
    assert set(zip(*map(np.ndarray.tolist, simulation.discovered.ties()), strict=True)) == {
        (place(0), place(1)), (place(1), place(0)), (place(1), place(2)),
    }  # fmt: skip
    assert simulation.discovered.as_network().directed
    hub_asked = Simulation(network, [1], np.random.default_rng(0), hub_question=0.0)
    assert hub_asked.people[hub_asked.discovered.marks[0]] in (0, 2)


def test_the_clairvoyant_is_the_one_who_sees_hidden_edges():
    network = Network.from_edges([0, 0, 1], [1, 2, 3])
    twin = Network.from_edges([0, 0, 2], [1, 2, 3])
    asked = []
    for each in (network, twin):
        simulation = simulated(each, [0])
        policy = Clairvoyant(simulation.true_degree)
        asked.append(simulation.people[policy.choose(simulation.discovered, np.random.default_rng(0))[0]])
    assert asked == [1, 2]


def test_contacts_are_named_in_random_order():
    network = star(6)
    firsts = Counter(simulated(network, [0], seed).people[1] for seed in range(600))
    assert set(firsts) == set(range(1, 7))
    assert chisquare([firsts[who] for who in range(1, 7)]).pvalue > 0.001


def test_local_indices_follow_the_order_of_discovery():
    simulation = simulated(Network.from_edges([0, 1, 2, 3], [1, 2, 3, 4]), [2, 0])
    assert simulation.people[:2] == [2, 0]
    assert simulation.discovered.start == [0, 1]
    assert simulation.discovered.surveyed == [0, 1]
    assert set(simulation.people) == {0, 1, 2, 3}


def test_a_start_person_given_twice_counts_once():
    assert simulated(star(3), [1, 1, 2]).discovered.start == [0, 1]


@pytest.mark.parametrize("start", [[7], [-1]])
def test_a_start_person_who_does_not_exist_is_refused(start):
    with pytest.raises(InputError, match="does not exist"):
        simulated(star(3), start)


@pytest.mark.parametrize("refusal", [-0.1, 1.1, float("nan")])
def test_a_refusal_probability_that_is_none_is_refused(refusal):
    with pytest.raises(InputError, match="between 0 and 1"):
        simulated(star(3), [0], refusal=refusal)


def test_everybody_refuses_at_probability_one_but_the_start_people_were_asked_before():
    simulation = study(star(5), policy_named("random"), [0], seed=0, budget=3, refusal=1.0)
    assert simulation.discovered.surveyed == [0]
    assert len(simulation.discovered.refused) == 3
    assert len(simulation.discovered.frontier) == 2


def test_who_refuses_does_not_depend_on_whom_a_policy_asks_or_when():
    network = hubs_and_leaves()
    fates: dict[int, set[bool]] = {}
    for name in ("random", "snowball", "max-degree"):
        simulation = study(network, policy_named(name), [5, 6], seed=4, budget=60, refusal=0.4)
        for local, status in enumerate(simulation.discovered.status):
            if status != Status.NAMED and local not in simulation.discovered.start:
                fates.setdefault(simulation.people[local], set()).add(status == Status.REFUSED)
    assert any(fates.values())
    assert all(len(seen) == 1 for seen in fates.values())


def test_a_share_of_people_as_large_as_the_probability_refuses():
    simulation = study(star(3000), policy_named("random"), [0], seed=0, budget=2000, refusal=0.3)
    assert 540 < len(simulation.discovered.refused) < 660


def test_a_budget_in_attempts_counts_refusals_and_one_in_answers_does_not():
    attempts = study(star(100), policy_named("random"), [0], 1, budget=20, refusal=0.5, unit="attempts").discovered
    answers = study(star(100), policy_named("random"), [0], 1, budget=20, refusal=0.5, unit="answers").discovered
    assert len(attempts.surveyed) - 1 + len(attempts.refused) == 20
    assert len(attempts.refused) > 0
    assert len(answers.surveyed) - 1 == 20
    assert len(answers.refused) > 0


def test_spent_is_reported_after_every_attempt():
    simulation = simulated(star(50), [0], seed=2, refusal=0.5)
    rng = np.random.default_rng(0)
    spent = list(surveys(simulation, policy_named("random"), 6, rng, unit="answers"))
    assert len(spent) == 6 + len(simulation.discovered.refused)
    assert spent[-1] == 6
    assert all(later - earlier in (0, 1) for earlier, later in pairwise(spent))


class Recorder:
    """Notes how much had been discovered whenever it was asked, and for how many people."""

    name = "recorder"

    def __init__(self):
        self.asked = []

    def choose(self, discovered, rng, count=1):
        self.asked.append((len(discovered.surveyed), count))
        return discovered.frontier[:count]


def test_the_people_of_a_round_are_chosen_together_and_the_last_round_is_cut_to_the_budget():
    policy = Recorder()
    study(hubs_and_leaves(), policy, [0, 70, 12], seed=0, budget=7, per_round=3)
    assert policy.asked == [(3, 3), (6, 3), (9, 1)]


def test_an_exhausted_frontier_ends_the_study():
    network = Network.from_edges([0, 1, 4], [1, 2, 5], n=7)
    simulation = study(network, policy_named("random"), [0], seed=0, budget=50)
    assert sorted(simulation.people) == [0, 1, 2]
    assert simulation.discovered.frontier == []


def test_isolated_start_people_leave_nobody_to_ask():
    simulation = study(Network.from_edges([0], [1], n=9), policy_named("change"), [7, 8], seed=0, budget=5)
    assert len(simulation.discovered) == 2
    assert simulation.discovered.frontier == []


def test_a_start_set_may_cover_the_network():
    simulation = study(star(4), policy_named("random"), [0, 1, 2, 3, 4], seed=0, budget=5)
    assert len(simulation.discovered.start) == 5
    assert simulation.discovered.as_network().m == 4


def test_a_budget_of_nothing_asks_nobody():
    assert study(star(4), policy_named("random"), [0], seed=0, budget=0).discovered.surveyed == [0]


def test_a_star_of_3000_has_one_class_of_leaves():
    simulation = simulated(star(3000), [0])
    assert len(simulation.discovered.frontier) == 3000
    (leaves,) = simulation.discovered.classes
    assert leaves.size == 3000
    assert leaves.contacts == (0,)
    for name in HONEST:
        chosen = policy_named(name).choose(simulation.discovered, np.random.default_rng(0), 5)
        assert len(set(chosen)) == 5


def named(simulation: Simulation) -> set[tuple[int, int]]:
    """Seen ties by the network's own numbers."""
    ends = zip(*(side.tolist() for side in simulation.discovered.ties()), strict=True)
    return {tuple(sorted((simulation.people[u], simulation.people[v]))) for u, v in ends}


def test_a_share_of_contacts_as_large_as_the_chance_is_named():
    shares = [
        len(Simulation(star(1000), [0], np.random.default_rng(seed), report_rate=0.3).people) for seed in range(5)
    ]
    assert all(240 < share - 1 < 360 for share in shares)
    assert len(set(shares)) > 1


def test_a_tie_is_seen_if_either_end_names_it():
    pair = Network.from_edges([0], [1])
    seen = [len(named(Simulation(pair, [0, 1], np.random.default_rng(seed), report_rate=0.5))) for seed in range(2000)]
    assert 0.71 < np.mean(seen) < 0.79


def test_whom_somebody_names_does_not_depend_on_whom_a_policy_asks_or_when():
    network = hubs_and_leaves()
    found = []
    for name in ("random", "snowball", "max-degree"):
        simulation = Simulation(network, [5, 6], np.random.default_rng(4), report_rate=0.5)
        for _ in surveys(simulation, policy_named(name), 400, np.random.default_rng(0)):
            pass
        assert simulation.discovered.frontier == []
        found.append(named(simulation))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) < network.m


def test_hidden_ties_move_no_answer():
    network = hubs_and_leaves()
    for seed in range(5):
        first, again = (
            Simulation(network, [1, 50, 99], np.random.default_rng(seed), report_rate=0.6) for _ in range(2)
        )
        twin = Simulation(
            twin_of(network, first, np.random.default_rng(seed)),
            [1, 50, 99],
            np.random.default_rng(seed),
            report_rate=0.6,
        )
        assert everything_seen(first.discovered) == everything_seen(again.discovered)
        assert everything_seen(first.discovered) == everything_seen(twin.discovered)


@pytest.mark.parametrize("answers", [0.0, -0.1, 1.1, float("nan")])
def test_a_share_of_answers_that_is_none_is_refused(answers):
    with pytest.raises(InputError, match="report_rate must be above 0"):
        Simulation(star(3), [0], np.random.default_rng(0), report_rate=answers)


def test_a_study_under_way_goes_on_from_what_was_seen_and_leaves_that_as_it_was():
    seen = simulated(hubs_and_leaves(), [3, 70, 12]).discovered
    seen.record_refusal(seen.frontier[0])
    seen.record_survey(seen.frontier[0])
    before = seen.copy()
    unseen = len(seen)
    whole = Network.from_edges([*seen.ties()[0], seen.frontier[0]], [*seen.ties()[1], unseen], n=unseen + 2)
    simulation = Simulation.under_way(whole, seen, np.random.default_rng(0))
    assert simulation.discovered == before
    assert simulation.people == list(range(unseen))
    assert simulation.ask(seen.frontier[0])
    assert simulation.people == list(range(unseen + 1))
    assert simulation.discovered.surveyed == [*before.surveyed, before.frontier[0]]
    assert seen == before
