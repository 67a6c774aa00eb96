"""Explanations are those of the policy itself, and every change is what its text says."""

from typing import Any

import numpy as np
import pytest
from learning_cases import quick, study

from claim.discovery import Discovered, Status
from claim.learning.explain import explain, redrawn, what_ifs
from claim.learning.network import new_network
from claim.learning.policy import LearnedPolicy
from claim.networks import Network, load


def policy(**changes: object) -> LearnedPolicy:
    config = quick(**changes)
    return LearnedPolicy(new_network(config.shape, config.seed), config)


def named(person: int) -> str:
    return f"person {person}"


def seen_by(seed: int, surveyed: int = 4) -> Discovered:
    return study(load("stars4"), seed, surveyed).discovered


def explained(trained: LearnedPolicy, seen: Discovered) -> dict[str, Any]:
    return explain(trained, seen, range(len(seen)))


@pytest.mark.parametrize("goal", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_explained_choice_is_the_choice(goal: bool, seed: int) -> None:
    trained, seen = policy(goal=goal), seen_by(seed)
    explanation = explained(trained, seen)
    values = [each["value"] for each in explanation["classes"]]
    assert values == sorted(values, reverse=True)
    members = {tuple(each["members"]) for each in explanation["classes"]}
    assert members == {group.members for group in seen.frontier_classes}
    for rng in range(3):
        (chosen,) = trained.choose(seen, np.random.default_rng(rng))
        assert chosen in explanation["classes"][0]["members"]
    assert explanation["lead"] == pytest.approx(values[0] - values[1])


def test_plain_features_are_those_seen() -> None:
    seen = seen_by(1)
    for each in explained(policy(), seen)["classes"]:
        assert each["named_by"] == sorted(seen.surveyed_contacts(each["members"][0]))
        assert each["namer_degrees"] == [seen.degree(namer) for namer in each["named_by"]]
        assert each["contacts"] == seen.degree(each["members"][0])


def test_changes_have_the_choice_of_the_policy_on_the_changed_network() -> None:
    trained, seen = policy(goal=False), seen_by(3)
    explanation = explained(trained, seen)
    ranked = [tuple(each["members"]) for each in explanation["classes"]]
    chosen = ranked[0][0]
    changes = list(what_ifs(seen, ranked, named))
    assert len(changes) == len(explanation["changes"]) > 3
    for change, outcome in zip(changes, explanation["changes"], strict=True):
        graph, values = trained.scores(change.seen)
        members = [[change.origin[who] for who in graph.members[row]] for row in graph.frontier]
        assert (chosen not in members[int(values.argmax())]) == outcome["changed"]
        own = next(value for value, who in zip(values, members, strict=True) if chosen in who)
        rest = [value for value, who in zip(values, members, strict=True) if chosen not in who]
        assert outcome["lead"] == pytest.approx(own - max(rest), abs=1e-5)


def test_explaining_changes_nothing_and_is_repeatable() -> None:
    seen = seen_by(4)
    before = seen.copy()
    one, other = explained(policy(), seen), explained(policy(), seen)
    assert seen == before
    assert one == other


def test_no_choice_and_only_one_choice() -> None:
    alone = Discovered()
    alone.record_start(alone.add_person())
    empty = explained(policy(), alone)
    assert (empty["classes"], empty["changes"], empty["lead"]) == ([], [], None)
    alone.add_tie(0, alone.add_person())
    explanation = explained(policy(), alone)
    assert explanation["lead"] is None
    assert [each["members"] for each in explanation["classes"]] == [[1]]
    assert any(each["lead"] is None for each in explanation["changes"])


def two_stars() -> Discovered:
    """0 and 1 were surveyed; 2, 3, 4 were named by 0, 5 by both, 6 by 1; 4 refused; 7 is only on a list."""
    network = Network.from_edges([0, 0, 0, 0, 1, 1], [2, 3, 4, 5, 5, 6], n=8)
    return Discovered.from_network(network, [0, 1], [4])


def test_a_network_redrawn_without_changes_is_the_same() -> None:
    for seen in (two_stars(), seen_by(5)):
        same, origin = redrawn(seen)
        assert same == seen
        assert origin == list(range(len(seen)))
        assert [group.members for group in same.classes] == [group.members for group in seen.classes]


def test_lost_ties_take_along_who_was_only_heard_of_through_them() -> None:
    other, origin = redrawn(two_stars(), [frozenset((0, 2)), frozenset((0, 4)), frozenset((1, 5))])
    assert origin == [0, 1, 3, 4, 5, 6, 7]  # 4 was asked, and 7 had no ties before
    assert other.status[origin.index(4)] == Status.REFUSED
    assert other.degree(0) == 2
    assert sorted(other.contacts[origin.index(5)]) == [0]


def test_strangers_are_named_and_may_be_chosen() -> None:
    other, origin = redrawn(two_stars(), strangers=(1, 2))
    assert origin[-2:] == [None, None]
    assert other.degree(1) == 4
    assert set(other.frontier) >= {8, 9}


def test_every_change_says_what_it_does() -> None:
    seen = two_stars()
    by_contacts = {group.contacts: group.members for group in seen.frontier_classes}
    ranked = [by_contacts[(0, 1)], by_contacts[(0,)], by_contacts[(1,)], by_contacts[()]]
    found = {change.text: change for change in what_ifs(seen, ranked, named)}
    without = found["person 0 had not named person 5"]
    assert without.seen.degree(0) == 3
    fewer = found["person 0 had not named 2 other people"]
    assert fewer.seen.degree(0) == 2
    assert fewer.origin == [0, 1, 4, 5, 6, 7]
    more = found["person 1 had named 2 more people"]
    assert more.seen.degree(1) == 4
    rival = found["person 1 had named person 2 too"]
    assert rival.about == "rival"
    assert rival.seen.degree(1) == 3


def test_one_of_many_alike_can_be_imagined_alone() -> None:
    seen = two_stars()
    by_contacts = {group.contacts: group.members for group in seen.frontier_classes}
    ranked = [by_contacts[(0,)], by_contacts[(1,)]]
    found = {change.text: change for change in what_ifs(seen, ranked, named)}
    alone = found["person 2 were the only one of these 2 people"]
    assert alone.origin == [0, 1, 2, 4, 5, 6, 7]
    assert not any("had not named person 2" in text for text in found)  # nobody else named them
