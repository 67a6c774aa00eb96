"""Fair selection on discovered networks: groups of people who were not asked are estimated by mixing."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import claim
from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.errors import InputError
from claim.evaluation import compare
from claim.evaluation.runs import ReachEvaluator
from claim.io.text import Source
from claim.networks import Network
from claim.selection import selector_named
from claim.selection.foresight import foresight_named
from claim.selection.foresight.groups import FairSearch, SeenGroups, beyond_first
from claim.selection.foresight.selection_state import SeenNetwork, chain
from claim.selection.greedy import Candidates


@cache
def two_groups(folder: str) -> Network:
    """A large group of many contacts and a small one of few, mostly among themselves; a file names their groups."""
    rng, n, small = np.random.default_rng(5), 300, 60
    ends = [rng.integers(0, n - small, (700, 2)), rng.integers(n - small, n, (90, 2))]
    ends.append(np.column_stack([rng.integers(0, n - small, 25), rng.integers(n - small, n, 25)]))
    people = f"{folder}/people.csv"
    with open(people, "w") as file:
        file.write("person,region\n")
        file.writelines(f"{who},{'large' if who < n - small else 'small'}\n" for who in range(n))
    pairs = np.concatenate(ends)
    made = Network.from_edges(pairs[:, 0], pairs[:, 1], n=n, name="two-groups")
    return replace(made, people_file=Source(Path(people)))


@pytest.fixture
def network(tmp_path_factory) -> Network:
    return two_groups(str(tmp_path_factory.getbasetemp()))


def studied(network: Network, seed: int, contacts: bool = True, budget: int = 15) -> Simulation:
    rng = np.random.default_rng(seed)
    start = rng.choice(network.n, 6, replace=False)
    simulation = Simulation(network, start, rng, groups=network.groups("region"), groups_of_contacts=contacts)
    for _ in surveys(simulation, policy_named("random"), budget, rng):
        pass
    return simulation


def test_mixing_and_sizes_are_those_of_the_network(network):
    """Asked of everyone, the estimates are the truth."""
    rng, groups = np.random.default_rng(0), network.groups("region")
    everyone = Simulation(network, range(network.n), rng, groups=groups, groups_of_contacts=True)
    seen = SeenGroups.of(everyone.discovered)
    sources, targets = np.repeat(np.arange(network.n), network.degrees), network.contacts
    counts = np.zeros((2, 2))
    np.add.at(counts, (groups.numbers[sources], groups.numbers[targets]), 1)
    assert seen.names == groups.names
    assert seen.mixing == pytest.approx(counts / counts.sum(axis=1, keepdims=True), abs=0.04)
    assert seen.sizes == pytest.approx(groups.sizes / network.n, abs=0.06)


def test_people_who_were_not_asked_are_where_their_namers_contacts_are():
    seen = Discovered()
    ana, ben = (seen.add_person() for _ in range(2))
    for person, group in ((ana, "a"), (ben, "b")):
        seen.record_start(person)
        seen.record_group(person, group)
        for i in range(6):
            seen.add_tie(person, seen.add_person(person))
            if i < 4:
                seen.record_group(len(seen) - 1, group)
    groups = SeenGroups.of(seen)
    members = groups.members(SeenNetwork.of(seen), groups.mixing)
    assert members.sum(axis=1) == pytest.approx(np.ones(len(seen)))
    assert members[ana].tolist() == [1.0, 0.0]
    unsaid = [person for person in range(len(seen)) if person not in seen.groups]
    assert [members[person, 0] > 0.6 for person in unsaid] == [ana in seen.contacts[person] for person in unsaid]


def test_the_groups_behind_unseen_contacts_sum_up_to_all_of_them():
    mixing = np.array([[0.8, 0.2], [0.3, 0.7]])
    far = beyond_first(mixing, 0.6)
    assert far.sum(axis=1) == pytest.approx([1.0, 1.0])
    terms = [0.3**i * np.linalg.matrix_power(mixing, i + 1) for i in range(60)]
    assert far == pytest.approx(0.7 * np.sum(terms, axis=0))
    assert chain(0.1, 6.0) == pytest.approx(0.6 / 0.7)


def test_fair_leaders_reach_more_of_the_group_that_is_reached_least(network):
    groups, evaluator, found = network.groups("region"), ReachEvaluator(network, 0.1, 3000, 5), {}
    for fair in ("none", "welfare:-2", "maximin"):
        for name in ("greedy", "foresight:free"):
            shares = []
            for seed in range(4):
                study = studied(network, seed, budget=12)
                selector = selector_named(name, samples=200, fair=fair)
                chosen = selector.select(study.discovered, 8, np.random.default_rng(seed))
                shares.append(evaluator.shares([study.people[who] for who in chosen], groups))
            found[name, fair] = np.mean(shares, axis=0).min()
    for name in ("greedy", "foresight:free"):
        assert found[name, "welfare:-2"] > 1.1 * found[name, "none"]
        assert found[name, "maximin"] > 1.1 * found[name, "none"]


@pytest.mark.parametrize("contacts", [False, True])
def test_the_expected_reach_in_groups_covers_the_truth(network, contacts):
    groups, evaluator, inside = network.groups("region"), ReachEvaluator(network, 0.1, 3000, 5), []
    for seed in range(10):
        study, rng = studied(network, seed, contacts), np.random.default_rng(seed)
        selector = selector_named("foresight", people=network.n)
        leaders = selector.select(study.discovered, 8, rng)
        whole = selector.expect(study.discovered, leaders, rng)
        found = selector.expect_groups(study.discovered, leaders, whole, rng)
        assert sum(each.reached for each in found.values()) == pytest.approx(whole.mean, rel=0.02)
        true = evaluator.shares([study.people[who] for who in leaders], groups) * groups.sizes
        inside += [each.low <= true[groups.names.index(name)] <= each.high for name, each in found.items()]
    assert np.mean(inside) > 0.7


def test_a_comparison_reports_the_share_of_each_group(network):
    given = {"group": "region", "groups_of_contacts": True, "runs": 3, "leaders": 6, "budget": 8, "workers": 1}
    plain, fair = (
        compare(network, "random,quota:equal:scout", "greedy", fair=each, **given) for each in ("none", "maximin")
    )
    for row in (*plain.rows, *fair.rows):
        sizes = {"large": 240, "small": 60}
        assert sum(sizes[name] * share for name, share in row.shares.items()) == pytest.approx(row.mean, rel=1e-6)
    assert min(fair.rows[0].shares.values()) > min(plain.rows[0].shares.values())
    assert fair.manifest["command"].endswith("--group region --groups-of-contacts --fair maximin")


def test_select_expects_a_reach_in_each_group_of_a_partly_known_network(network):
    given = {"method": "foresight", "surveyed": [1, 2, 250, 260], "group": "region", "people": 300}
    plain, fair = (claim.select(network, 6, fair=each, **given) for each in ("none", "welfare:-9"))
    assert set(plain.expected_groups) == set(fair.expected_groups) == {"large", "small"}
    assert fair.expected_groups["small"].share > plain.expected_groups["small"].share
    for each in fair.expected_groups.values():
        assert 0 <= each.low <= each.reached <= each.high


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"fair": "maximin"}, "need a group"),
        ({"groups_of_contacts": True}, "need a group"),
        ({"group": "village"}, "'village' is not known|village is not known"),
        ({"group": "region", "model": "lt"}, "for the model ic"),
        ({"group": "region", "attendance": 0.5}, "leaders who all come"),
        ({"group": "region", "fair": "best"}, "fair must be"),
    ],
)
def test_studies_of_groups_that_make_no_sense_are_refused(network, given, problem):
    with pytest.raises(InputError, match=problem):
        compare(network, "random", runs=1, **given)


def test_diversity_needs_a_known_network(network):
    with pytest.raises(InputError, match="diversity needs a known network"):
        claim.select(network, 4, method="foresight", surveyed=[1, 250], group="region", fair="diversity")


@pytest.mark.parametrize("family", ["free", "all"])
@pytest.mark.parametrize("most", [1, 1000])
def test_what_is_kept_of_a_search_changes_no_reach(network, family, most):
    seen = studied(network, 3).discovered
    selector = foresight_named(f"foresight:{family}", p=0.2, samples=50, p_range=(0.1, 0.3), attendance=0.8)

    def fresh() -> FairSearch:
        view, candidates = SeenNetwork.of(seen), Candidates.of(len(seen), 3)
        return FairSearch(selector, view, SeenGroups.of(seen), 300.0, candidates, 3, 1, np.arange(len(seen)))

    search = fresh()
    search._most = most
    for leaders in ([0, 5], [0, 7, 9], [], [0], [0, 5, 9], [7, 0, 9], [0, 5]):
        for found, expected in zip(search.beyond(leaders), fresh().beyond(leaders), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert len(search._kept) <= max(most, 1)
