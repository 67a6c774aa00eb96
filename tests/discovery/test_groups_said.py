"""Groups that people are asked for: only what was said is known, and interviews can be steered by it."""

from collections import Counter

import numpy as np
import pytest
from discovery_cases import hubs_and_leaves

from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.discovery.policies.quota import Quota
from claim.errors import InputError
from claim.networks.groups import UNKNOWN, Groups
from claim.registry import check_policy, find_policy, is_marked


def regions(n: int, unknown: int = 0) -> Groups:
    """Every fourth person is in the south; of the first people nothing is known."""
    values = ["south" if person % 4 == 0 else "north" for person in range(n)]
    return Groups.of("region", [UNKNOWN] * unknown + values[unknown:])


def studied(contacts: bool, policy="random", unknown: int = 0, budget: int = 10, seed: int = 0) -> Simulation:
    network, rng = hubs_and_leaves(), np.random.default_rng(seed)
    groups = regions(network.n, unknown)
    simulation = Simulation(network, [3, 50, 99], rng, groups=groups, groups_of_contacts=contacts)
    for _ in surveys(simulation, find_policy(policy), budget, rng):
        pass
    return simulation


@pytest.mark.parametrize("contacts", [False, True])
def test_only_what_was_said_is_known(contacts):
    simulation, seen = studied(contacts, unknown=20), studied(contacts, unknown=20).discovered
    truth = regions(simulation.network.n, unknown=20)
    asked = range(len(seen)) if contacts else seen.surveyed
    said = {person: name for person in asked if (name := truth.name_of(simulation.people[person])) is not None}
    assert seen.groups == said
    assert len(said) < len(asked)


def test_groups_change_nothing_else_of_a_study():
    simulation = studied(contacts=False)
    plain = Simulation(hubs_and_leaves(), [3, 50, 99], np.random.default_rng(0))
    for _ in surveys(plain, policy_named("random"), 10, np.random.default_rng(0)):
        pass
    assert len(plain.discovered.start) == len(simulation.discovered.start)
    assert not plain.discovered.groups


def test_people_of_different_groups_can_be_told_apart():
    seen = Discovered()
    ana = seen.add_person()
    seen.record_start(ana)
    for _ in range(4):
        seen.add_tie(ana, seen.add_person(ana))
    assert [people.size for people in seen.classes] == [4]
    seen.record_group(1, "north")
    seen.record_group(2, "south")
    assert {people.members: people.group for people in seen.classes} == {(1,): "north", (2,): "south", (3, 4): None}
    seen.record_group(2, "north")
    assert {people.members: people.group for people in seen.classes} == {(1, 2): "north", (3, 4): None}
    other = seen.copy()
    other.record_group(3, "south")
    assert 3 not in seen.groups
    assert other != seen


def test_interviews_follow_the_shares():
    def asked(policy: str) -> Counter:
        found = Counter()
        for seed in range(6):
            seen = studied(True, policy, budget=16, seed=seed).discovered
            found.update(seen.groups[person] for person in seen.surveyed if person not in seen.start)
        return found

    plain, equal = asked("random"), asked("quota:equal:random")
    assert plain["south"] < 0.35 * plain.total()
    assert 0.45 * equal.total() <= equal["south"] <= 0.55 * equal.total() + 6
    mostly = asked("quota:south=0.8+north=0.2:random")
    assert mostly["south"] > 0.6 * mostly.total()


def test_a_quota_says_why_and_leaves_the_order_within_groups_to_the_other_policy():
    seen = studied(True, budget=4).discovered
    quota = find_policy("quota:equal:scout")
    ranked = policy_named("scout").choose(seen, np.random.default_rng(1), len(seen.frontier))
    chosen = quota.choose(seen, np.random.default_rng(1), 5)
    for group in ("north", "south"):
        order = [person for person in ranked if seen.groups[person] == group]
        found = [person for person in chosen if seen.groups[person] == group]
        assert found == order[: len(found)]
    behind = next(person for person in chosen if seen.groups[person] == "south")
    assert any("south" in str(reason) for reason in quota.reasons(seen, behind))


def test_without_groups_a_quota_is_the_other_policy():
    rng = np.random.default_rng
    plain = Simulation(hubs_and_leaves(), [3, 50, 99], rng(0)).discovered
    every = len(plain.frontier)
    ranked = policy_named("scout").choose(plain, rng(2), every)
    assert Quota(policy_named("scout")).choose(plain, rng(2), 3) == ranked[:3]


@pytest.mark.parametrize(
    "name", ["quota:", "quota:equal", "quota:north:scout", "quota:north=x:scout", "quota:a=-1:scout"]
)
def test_a_quota_that_is_none_is_refused(name):
    with pytest.raises(InputError, match="a quota is quota:equal:POLICY"):
        check_policy(name)


def test_a_quota_of_no_policy_is_refused():
    with pytest.raises(InputError, match="did you mean scout"):
        check_policy("quota:equal:scoot")
    assert is_marked("quota:equal:clairvoyant")
