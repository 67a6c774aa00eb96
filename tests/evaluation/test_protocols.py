"""The two protocols, the wall between network and selector, and the coins of each."""

import numpy as np
import pytest
from evaluation_cases import contacts, hubs_and_leaves, study_results
from scipy.stats import ttest_rel

from claim.cascades import Worlds
from claim.discovery import POLICIES, Discovered, Simulation, is_reference, only_open, policy_named, surveys
from claim.errors import InputError
from claim.evaluation.runs import (
    ORACLE,
    Method,
    ReachEvaluator,
    StudySettings,
    check_protocol,
    choose_leaders,
    evaluation_seed,
    offer_all_people,
    simulate,
)
from claim.networks import Network
from claim.randomness import draw_seed, named_seed
from claim.selection import MethodSelector, selector_named
from relabelling import relabelled

HONEST = [name for name, policy in POLICIES.items() if not is_reference(policy) and not only_open(policy)]


def studied(network: Network, seed: int, budget: int = 5, refusal: float = 0.0, policy: str = "random") -> Simulation:
    rng = np.random.default_rng(seed)
    start = rng.choice(network.n, 3, replace=False).tolist()
    simulation = Simulation(network, start, rng, refusal)
    for _ in surveys(simulation, policy_named(policy), budget, rng):
        pass
    return simulation


def offered_naively(simulation: Simulation) -> Discovered:
    """Everybody in the network, in its own order, as the published code has it."""
    seen, everybody = simulation.discovered, Discovered()
    for _ in range(simulation.network.n):
        everybody.add_person()
    for one, other in zip(*(side.tolist() for side in seen.ties()), strict=True):
        everybody.add_tie(simulation.people[one], simulation.people[other])
    for person in seen.surveyed:
        everybody.record_survey(simulation.people[person])
    return everybody


@pytest.mark.parametrize("k", [1, 6, 40, 500])
@pytest.mark.parametrize("make", [hubs_and_leaves, contacts])
def test_offering_a_few_of_the_unheard_chooses_the_same_leaders_as_offering_everybody(make, k):
    network = make()
    selector = MethodSelector(samples=100, ties="first")
    unheard = 0
    for seed in range(8):
        simulation = studied(network, seed)
        leaders = choose_leaders("paper", simulation, selector, k, np.random.default_rng(seed))
        naive = selector.select(offered_naively(simulation), min(k, network.n), np.random.default_rng(seed))
        assert leaders == naive
        unheard += len(set(leaders) - set(simulation.people))
    assert unheard or k < 40  # some leaders were never heard of, so this compares what it should


def test_what_is_offered_to_the_selector_is_what_was_discovered_and_nothing_else():
    simulation = studied(hubs_and_leaves(), 1, refusal=0.4)
    offered, people = offer_all_people(simulation, 10)
    assert people == sorted(people)
    assert len(people) == len(simulation.people) + 10
    heard = {who: local for local, who in enumerate(simulation.people)}
    for i, who in enumerate(people):
        contacts_seen = {people[contact] for contact in offered.contacts[i]}
        if who in heard:
            local = heard[who]
            assert contacts_seen == {simulation.people[each] for each in simulation.discovered.contacts[local]}
            assert offered.status[i] == simulation.discovered.status[local]
        else:
            assert contacts_seen == set()
    assert len(offered.start) == 3


def test_in_the_field_only_discovered_people_can_lead():
    simulation = studied(hubs_and_leaves(), 2)
    leaders = choose_leaders("field", simulation, MethodSelector(), 500, np.random.default_rng(0))
    assert sorted(leaders) == sorted(simulation.people)


def test_the_paper_looks_at_100_worlds_and_gives_ties_to_the_smallest_id():
    assert ORACLE["paper"] == {"samples": 100, "ties": "first"}
    assert ORACLE["field"]["ties"] == "random"
    nobody_knows_anybody = Network.from_edges([], [], n=30)
    simulation = Simulation(nobody_knows_anybody, [17], np.random.default_rng(0))
    selector = selector_named("greedy", samples=100, ties="first")
    assert choose_leaders("paper", simulation, selector, 4, np.random.default_rng(0)) == [0, 1, 2, 3]


def test_an_unknown_protocol_is_refused():
    with pytest.raises(InputError, match="known: field, paper"):
        check_protocol("papper")


def twin_of(network: Network, simulation: Simulation) -> Network:
    """The network with other edges between people who were never surveyed."""
    surveyed = [simulation.people[person] for person in simulation.discovered.surveyed]
    hidden = np.setdiff1d(np.arange(network.n), surveyed)
    sources, targets, _ = network.edges()
    seen = np.isin(sources, surveyed) | np.isin(targets, surveyed)
    invented = np.random.default_rng(0).choice(hidden, (network.n, 2))
    ends = ([*sources[seen], *invented[:, 0]], [*targets[seen], *invented[:, 1]])
    return Network.from_edges(*ends, n=network.n, name="twin")


@pytest.mark.parametrize("protocol", ["field", "paper"])
@pytest.mark.parametrize("policy", HONEST)
def test_twins_that_differ_in_hidden_edges_only_have_the_same_leaders(policy, protocol):
    network, settings = hubs_and_leaves(), StudySettings(seed=4, leaders=6, refusal=0.1)
    method = Method(policy, "greedy", protocol)
    for run in range(3):
        start = np.random.default_rng(run).choice(network.n, 4, replace=False).tolist()
        simulation, rule = simulate(network, policy_named(policy), settings, run, start)
        stream = getattr(policy_named(policy), "stream", policy)
        rng = np.random.default_rng(named_seed(settings.seed, "policy", stream, run))
        for _ in surveys(simulation, rule, settings.budget, rng):
            pass
        twin = twin_of(network, simulation)
        one, other = (study_results(each, method, settings, [(run, start)], [5])[0][-1] for each in (network, twin))
        assert one.leaders == other.leaders
        assert one.discovered == other.discovered == len(simulation.discovered)


def relabelled_influences(network: Network, order: np.ndarray, method: Method, seed: int) -> list[float]:
    """Influence from the same start sets, mapped, on a relabelled network."""
    new_of_old = np.empty(network.n, dtype=int)
    new_of_old[order] = np.arange(network.n)
    draws = np.random.default_rng(1)
    starts = [new_of_old[draws.choice(network.n, 3, replace=False)].tolist() for _ in range(200)]
    settings = StudySettings(seed=seed, leaders=6)
    played = study_results(relabelled(network, order), method, settings, list(enumerate(starts)), [5])
    return [outcomes[-1].influence for outcomes in played]


@pytest.mark.parametrize(
    ("policy", "selector"),
    [*((policy, "greedy") for policy in ("random", "change", "degree+inverse", "scout")), ("scout", "foresight")],
)
def test_relabelling_a_network_changes_nothing_but_noise_in_the_field(policy, selector):
    """Numbering people by their degree, up or down, would show any use of the network's own numbers."""
    network = hubs_and_leaves()
    hubs_first = np.argsort(-network.degrees, kind="stable")
    method = Method(policy, selector, "field")
    up, down = (relabelled_influences(network, order, method, 3) for order in (hubs_first, hubs_first[::-1]))
    assert ttest_rel(up, down).pvalue > 0.001
    assert np.mean(up) == pytest.approx(np.mean(down), rel=0.04)


def test_relabelling_changes_the_paper_protocol_only_by_its_tie_rule():
    """People never heard of are taken by the smallest number, so a numbering by degree would matter here."""
    network = hubs_and_leaves()
    method = Method("random", "greedy", "paper")
    means = [
        np.mean(relabelled_influences(network, np.random.default_rng(seed).permutation(network.n), method, seed))
        for seed in range(4)
    ]
    assert max(means) < 1.08 * min(means)


def test_the_selectors_coins_are_independent_of_the_referees(monkeypatch):
    selector_seeds = []

    def noted(rng: np.random.Generator) -> int:
        selector_seeds.append(draw_seed(rng))
        return selector_seeds[-1]

    monkeypatch.setattr("claim.selection.greedy.draw_seed", noted)
    starts = [(run, [1, 2, 3]) for run in range(5)]
    study_results(contacts(), Method("random", "greedy", "field"), StudySettings(seed=10), starts, [5])
    assert len(set(selector_seeds)) == 5
    assert evaluation_seed(10) not in selector_seeds


def test_leaders_that_fit_their_own_worlds_too_well_are_found_out_by_the_referee():
    """On three worlds the oracle promises far more than fresh worlds hold: the evaluator must not use the oracle's."""
    network = hubs_and_leaves()
    simulation = Simulation(network, list(range(network.n)), np.random.default_rng(0))
    promised, held = [], []
    for run in range(30):
        rng = np.random.default_rng(run)
        leaders = MethodSelector(samples=3).select(simulation.discovered, 6, rng)
        own = Worlds.draw(simulation.discovered.as_network(), 0.1, 3, draw_seed(np.random.default_rng(run)))
        promised.append(own.influence(leaders).mean)
        hidden = [simulation.people[leader] for leader in leaders]
        held.append(ReachEvaluator(network, 0.1, 2000, evaluation_seed(run)).influence(hidden))
    assert np.mean(promised) > 1.15 * np.mean(held)


def test_two_policies_that_discover_the_same_get_the_same_leaders():
    """The selector's coins are shared, so that equal studies are equal results and not noise."""
    chain = Network.from_edges(np.arange(29), np.arange(1, 30), name="chain")
    settings, starts = StudySettings(seed=1, budget=40, start_size=1), [(run, [0]) for run in range(5)]
    results = [
        study_results(chain, Method(policy, "greedy", "field"), settings, starts, [40])
        for policy in ("random", "snowball")
    ]
    assert results[0] == results[1]


def test_change_published_draws_its_own_start_people():
    network, settings = hubs_and_leaves(), StudySettings(seed=3)
    fresh = set()
    for run in range(20):
        simulation, _ = simulate(network, policy_named("change-published"), settings, run, [0, 1, 2, 3, 4])
        people = tuple(simulation.people[person] for person in simulation.discovered.start)
        assert len(people) == 5
        fresh.add(people)
    assert len(fresh) == 20
    common, _ = simulate(network, policy_named("change"), settings, 0, [0, 1, 2, 3, 4])
    assert [common.people[person] for person in common.discovered.start] == [0, 1, 2, 3, 4]


def test_only_the_clairvoyant_is_shown_the_network():
    network, settings = hubs_and_leaves(), StudySettings(seed=3)
    simulation, shown = simulate(network, policy_named("clairvoyant"), settings, 0, [0, 1])
    best = shown.choose(simulation.discovered, np.random.default_rng(0))[0]
    degrees = [simulation.true_degree(person) for person in simulation.discovered.frontier]
    assert simulation.true_degree(best) == max(degrees)
    for name in HONEST:
        assert simulate(network, policy_named(name), settings, 0, [0, 1])[1] is policy_named(name)


def test_checkpoints_along_one_study_equal_studies_that_end_there():
    network, settings, starts = (
        contacts(),
        StudySettings(seed=2, leaders=4),
        [(run, [run, run + 9]) for run in range(4)],
    )
    for policy in ("random", "change", "degree+inverse"):
        method = Method(policy, "greedy", "field")
        along = study_results(network, method, settings, starts, [0, 2, 5])
        for i, budget in enumerate((0, 2, 5)):
            alone = study_results(network, method, settings, starts, [budget])
            assert [outcomes[i] for outcomes in along] == [outcomes[0] for outcomes in alone]


def test_a_dry_frontier_ends_the_surveys_and_not_the_run():
    network = Network.from_edges([0, 1], [1, 2], n=8, name="mostly alone")
    (outcomes,) = study_results(
        network, Method("random", "greedy", "field"), StudySettings(seed=0), [(0, [0])], [0, 5, 50]
    )
    assert [outcome.discovered for outcome in outcomes] == [2, 3, 3]
    assert sorted(outcomes[-1].leaders) == [0, 1, 2]


@pytest.mark.parametrize("directed", [False, True])
def test_the_referee_counts_certain_cascades_exactly(directed):
    chain = Network.from_edges([0, 1, 2], [1, 2, 3], n=6, directed=directed)
    assert ReachEvaluator(chain, 1.0, 50, 1).influence([1]) == (3 if directed else 4)
    assert ReachEvaluator(chain, 0.0, 50, 1).influence([1, 5]) == 2


def test_a_network_too_large_to_keep_its_worlds_is_judged_alike(monkeypatch):
    network = hubs_and_leaves()
    kept = ReachEvaluator(network, 0.1, 4000, 1).influence([1, 2, 3])
    monkeypatch.setattr("claim.evaluation.runs.MOST_STORED", 0)
    assert ReachEvaluator(network, 0.1, 4000, 1).influence([1, 2, 3]) == pytest.approx(kept, rel=0.05)
