"""Every policy against its definition, on networks small enough to work out by hand."""

import re
from collections import Counter

import numpy as np
import pytest
from discovery_cases import hubs_and_leaves, star, study
from scipy.stats import chisquare

from claim.discovery import POLICIES, Discovered, draws_own_start, is_reference, only_open, policy_named
from claim.discovery.policies.simple import (
    Clairvoyant,
    named_by_many,
    named_by_many_and_lonely,
    named_by_the_lonely,
    named_by_the_popular,
)
from claim.discovery.protocols import best_scored, highest
from claim.discovery.reasons import reasons_of
from claim.errors import InputError
from claim.networks import Network

HONEST = [name for name, policy in POLICIES.items() if not is_reference(policy) and not only_open(policy)]


def seen_from(ties: list[tuple[int, int]], surveyed: list[int], n: int | None = None) -> Discovered:
    sources, targets = zip(*ties, strict=True)
    return Discovered.from_network(Network.from_edges(sources, targets, n=n), surveyed)


# A (0) is surveyed and knows 2, 3, 4, 5; B (1) is surveyed and knows 5, 6; C (7) is surveyed and knows only 8.
THREE_NAMERS = [(0, 2), (0, 3), (0, 4), (0, 5), (1, 5), (1, 6), (7, 8)]


@pytest.fixture
def seen() -> Discovered:
    return seen_from(THREE_NAMERS, [0, 1, 7])


def frequencies(name: str, seen: Discovered, draws: int = 1200) -> Counter:
    rng = np.random.default_rng(5)
    return Counter(policy_named(name).choose(seen, rng)[0] for _ in range(draws))


def assert_uniform(found: Counter, over: list[int]) -> None:
    assert set(found) == set(over)
    if len(over) > 1:
        assert chisquare([found[person] for person in over]).pvalue > 0.001


def test_random_is_uniform_over_people(seen):
    assert_uniform(frequencies("random", seen), [2, 3, 4, 5, 6, 8])


def test_random_class_is_uniform_over_classes_and_then_over_members(seen):
    found = frequencies("random-class", seen)
    by_class = Counter({2: found[2] + found[3] + found[4], 5: found[5], 6: found[6], 8: found[8]})
    assert_uniform(by_class, [2, 5, 6, 8])
    assert_uniform(Counter({person: found[person] for person in (2, 3, 4)}), [2, 3, 4])


def test_random_class_takes_every_class_once_before_any_twice(seen):
    for seed in range(20):
        chosen = policy_named("random-class").choose(seen, np.random.default_rng(seed), 6)
        assert len({2 if person in (2, 3, 4) else person for person in chosen[:4]}) == 4
        assert set(chosen) == {2, 3, 4, 5, 6, 8}


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (named_by_many, {2: 1, 5: 2, 6: 1, 8: 1}),
        (named_by_the_lonely, {2: 1 / 4, 5: 1 / 4 + 1 / 2, 6: 1 / 2, 8: 1}),
        (named_by_many_and_lonely, {2: 5 / 4, 5: 2 + 3 / 4, 6: 3 / 2, 8: 2}),
        (named_by_the_popular, {2: 4, 5: 4, 6: 2, 8: 1}),
    ],
)
def test_scores_are_what_their_formula_says(seen, score, expected):
    assert {person: score(seen, person) for person in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("max-degree", [5]),
        ("inverse-degree", [8]),
        ("degree+inverse", [5]),
        ("max-contact", [2, 3, 4, 5]),
    ],
)
def test_the_highest_score_is_surveyed_and_ties_are_broken_at_random(seen, name, best):
    assert_uniform(frequencies(name, seen), best)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("max-degree", [{5}, {2, 3, 4, 6, 8}]),
        ("inverse-degree", [{8}, {5}, {6}, {2, 3, 4}]),
        ("degree+inverse", [{5}, {8}, {6}, {2, 3, 4}]),
        ("max-contact", [{2, 3, 4, 5}, {6}, {8}]),
    ],
)
def test_several_are_chosen_best_first(seen, name, order):
    chosen = policy_named(name).choose(seen, np.random.default_rng(0), 6)
    for people in order:
        assert set(chosen[: len(people)]) == people
        chosen = chosen[len(people) :]
    assert chosen == []


def test_only_surveyed_contacts_speak_for_a_person():
    seen = seen_from([(0, 1), (0, 2), (2, 3), (2, 4), (3, 4)], [0])
    assert set(frequencies("max-degree", seen, 200)) == {1, 2}
    assert named_by_the_popular(seen, 3) == 0


def test_equal_sums_of_fractions_are_ties_in_whatever_order_they_are_summed():
    # Persons 0, 1, 2 have degrees 3, 6, 2 and all named x; persons 3, 4, 5 have degrees 2, 3, 6 and all named y.
    ties, newest = [], 8
    for namer, degree, named in ((0, 3, 6), (1, 6, 6), (2, 2, 6), (3, 2, 7), (4, 3, 7), (5, 6, 7)):
        ties.append((namer, named))
        for _ in range(degree - 1):
            ties.append((namer, newest))
            newest += 1
    seen = seen_from(ties, [0, 1, 2, 3, 4, 5])
    for score in (named_by_the_lonely, named_by_many_and_lonely):
        assert score(seen, 6) == score(seen, 7)
    assert_uniform(frequencies("inverse-degree", seen), [6, 7])


def test_scores_that_differ_by_a_rounding_error_are_ties():
    assert 0.1 + 0.2 != 0.3
    rng = np.random.default_rng(0)
    assert_uniform(Counter(highest([6, 7], [0.1 + 0.2, 0.3], rng, 1)[0] for _ in range(400)), [6, 7])


def test_best_scored_takes_nobody_from_an_empty_frontier():
    assert best_scored(Discovered(), named_by_many, np.random.default_rng(0), 3) == []


def test_change_asks_a_contact_of_each_start_person_in_turn():
    # Start people 0, 1, 2 with three contacts each, which know nobody else.
    ties = [(s, 3 + 3 * s + i) for s in range(3) for i in range(3)]
    network = Network.from_edges(*zip(*ties, strict=True))
    for seed in range(20):
        simulation = study(network, policy_named("change"), [0, 1, 2], seed, budget=3)
        asked = [simulation.people[person] for person in simulation.discovered.surveyed[3:]]
        assert [(who - 3) // 3 for who in asked] == [0, 1, 2]


def test_change_asks_each_contact_with_the_same_chance():
    seen = seen_from([(0, 1), (0, 2), (0, 3), (4, 5)], [0, 4])
    assert_uniform(frequencies("change", seen), [1, 2, 3])


def test_change_goes_on_with_the_people_surveyed_later():
    # 0 is the start person; 1 is its only contact, 2 the only other contact of 1, and so on.
    network = Network.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    simulation = study(network, policy_named("change"), [0], seed=0, budget=4)
    assert [simulation.people[person] for person in simulation.discovered.surveyed] == [0, 1, 2, 3, 4]


def test_change_passes_over_people_without_unsurveyed_contacts():
    network = Network.from_edges([1, 1, 2], [3, 4, 5], n=6)
    simulation = study(network, policy_named("change"), [0, 1, 2], seed=0, budget=3)
    asked = [simulation.people[person] for person in simulation.discovered.surveyed[3:]]
    assert asked[0] in (3, 4)  # the turn of 0, who knows nobody, falls to 1
    assert set(asked) == {3, 4, 5}


def test_change_takes_anybody_where_nobody_surveyed_named_anybody():
    seen = seen_from([(0, 1), (2, 3)], [], n=4)
    assert_uniform(frequencies("change", seen), [0, 1, 2, 3])


def test_change_published_is_marked_as_drawing_its_own_start():
    assert draws_own_start(policy_named("change-published"))
    assert [name for name in POLICIES if draws_own_start(POLICIES[name])] == ["change-published"]


def test_snowball_finishes_a_wave_before_the_next():
    # A tree: 0 - (1, 2, 3), and each of those has two more.
    ties = [(0, 1), (0, 2), (0, 3)] + [(i, 2 * i + 2 + j) for i in (1, 2, 3) for j in (0, 1)]
    network = Network.from_edges(*zip(*ties, strict=True))
    first = Counter()
    for seed in range(300):
        simulation = study(network, policy_named("snowball"), [0], seed, budget=5)
        asked = [simulation.people[person] for person in simulation.discovered.surveyed[1:]]
        assert set(asked[:3]) == {1, 2, 3}
        assert set(asked[3:]) <= set(range(4, 10))
        first[asked[0]] += 1
    assert_uniform(first, [1, 2, 3])


def test_snowball_goes_by_distance_where_it_is_not_known_who_named_whom():
    path = Network.from_edges([3, 1, 0, 6, 4], [1, 0, 2, 4, 5], n=8)  # 3 - 1 - 0 - 2, and 5 - 4 - 6 apart; 7 alone
    seen = Discovered.from_network(path, [3])
    for seed in range(10):
        assert policy_named("snowball").choose(seen, np.random.default_rng(seed), 4)[:3] == [1, 0, 2]


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("count", [1, 3, 6, 50])
def test_different_people_of_the_frontier_are_chosen(seen, name, count):
    for seed in range(10):
        before = (seen.frontier, list(seen.status))
        chosen = policy_named(name).choose(seen, np.random.default_rng(seed), count)
        assert len(set(chosen)) == len(chosen) == min(count, 6)
        assert set(chosen) <= set(seen.frontier)
        assert all(type(person) is int for person in chosen)
        assert (seen.frontier, list(seen.status)) == before


@pytest.mark.parametrize("name", HONEST)
def test_an_empty_frontier_gives_nobody(name):
    everybody = seen_from([(0, 1)], [0, 1])
    assert policy_named(name).choose(everybody, np.random.default_rng(0), 3) == []
    assert policy_named(name).choose(Discovered(), np.random.default_rng(0)) == []


@pytest.mark.parametrize("name", HONEST)
def test_people_who_refused_are_not_asked_again(name):
    seen = Discovered.from_network(star(5), [0], refused=[1, 2])
    for seed in range(10):
        assert set(policy_named(name).choose(seen, np.random.default_rng(seed), 5)) == {3, 4, 5}


@pytest.mark.parametrize("name", HONEST)
def test_the_same_seed_makes_the_same_choices(name):
    one, other = (study(hubs_and_leaves(), policy_named(name), [0, 9], 7, budget=10).people for _ in range(2))
    assert one == other


def test_the_clairvoyant_is_a_reference_and_of_no_use_without_a_referee(seen):
    assert [name for name in POLICIES if is_reference(POLICIES[name])] == ["clairvoyant"]
    with pytest.raises(ValueError, match="true degrees"):
        policy_named("clairvoyant").choose(seen, np.random.default_rng(0))


def test_the_clairvoyant_takes_the_highest_true_degrees_and_breaks_ties_at_random(seen):
    degrees = {2: 5, 3: 9, 4: 9, 5: 1, 6: 0, 8: 7}
    policy = Clairvoyant(degrees.__getitem__)
    rng = np.random.default_rng(0)
    found = Counter()
    for _ in range(400):
        chosen = policy.choose(seen, rng, 6)
        assert chosen[2:] == [8, 2, 5, 6]
        found[chosen[0]] += 1
    assert_uniform(found, [3, 4])
    assert policy.choose(seen_from([(0, 1)], [0, 1]), rng) == []


def test_an_unknown_policy_is_refused_with_a_hint():
    with pytest.raises(InputError, match=re.escape("did you mean snowball?")):
        policy_named("snowbal")


def reasons(policy: str, discovered: Discovered, person: int, name=str) -> list[str]:
    return [reason.translated({}, name) for reason in reasons_of(policy_named(policy), discovered, person)]


def test_reasons_speak_of_namers_hubs_and_popular_people(seen):
    def name(person: int) -> str:
        return "ABxxxxxC"[person]

    assert reasons("degree+inverse", seen, 5, name)[0] == "named by A and B"
    lonely = ["named by C", "C knows almost nobody else, so this is likely the hub"]
    assert reasons("degree+inverse", seen, 8, name) == reasons("inverse-degree", seen, 8, name) == lonely
    unheard = seen_from([(0, 1), (2, 3)], [0])
    assert reasons("degree+inverse", unheard, 3) == ["nobody surveyed has named this person yet"]
    popular = seen_from([(0, i) for i in range(1, 12)], [0])
    assert reasons("max-contact", popular, 3) == ["named by 0", "0 is well connected (11 contacts)"]


def test_no_policy_gives_a_reason_that_it_does_not_go_by(seen):
    popular = seen_from([(0, i) for i in range(1, 12)], [0])
    for discovered, person in ((seen, 8), (popular, 3)):
        named = reasons("max-degree", discovered, person)
        assert len(named) == 1
        assert reasons("random", discovered, person) == [*named, "drawn by chance"]
        assert reasons("random-class", discovered, person) == [*named, "drawn by chance"]
        assert "turn" in reasons("change", discovered, person)[1]
        assert "nearer to the start" in reasons("snowball", discovered, person)[1]
    assert len(reasons("inverse-degree", popular, 3)) == 1
    assert len(reasons("max-contact", seen, 8)) == 1
    assert reasons("change", seen_from([(0, 1), (2, 3)], [0]), 3)[1] == "drawn by chance"


def test_a_policy_that_says_nothing_of_reasons_gets_only_who_named(seen):
    class Newest:
        name = "newest"

        def choose(self, discovered, rng, count=1):
            return discovered.frontier[::-1][:count]

    assert len(reasons_of(Newest(), seen, 8)) == 1
