"""What policies keep from one choice to the next equals what they would find by looking at everything again."""

from collections import Counter
from collections.abc import Iterator

import networkx
import numpy as np
import pytest

from claim.discovery import Discovered, Simulation, policy_named, ranking, surveys
from claim.discovery.policies.scout import APART, Answers, class_signals, classes_by_namers, study_signals
from claim.discovery.policies.scout_at_scale import ScoutAtScale
from claim.discovery.ranking import ScoreTree
from claim.networks import Network
from discovery.discovery_cases import hubs_and_leaves, star

SCORED = ("max-degree", "inverse-degree", "degree+inverse", "max-contact", "most-marked")
RULES = ("random", "random-class", "change", "snowball", *SCORED, "scout", "scout:1")
CONDITIONS = ({}, {"refusal": 0.3}, {"report_rate": 0.5}, {"hub_question": 0.5})


def circles(n: int = 150) -> Network:
    return Network.from_networkx(networkx.watts_strogatz_graph(n, 6, 0.2, seed=1))


def moments(policy: str, surveyed: int = 40, **conditions: float) -> Iterator[Discovered]:
    """Some studies after every survey."""
    for network in (hubs_and_leaves(), circles(), star(20)):
        rng = np.random.default_rng(4)
        simulation = Simulation(network, [3, 7, 11], rng, **conditions)
        for _ in surveys(simulation, policy_named(policy), surveyed, rng):
            yield simulation.discovered


@pytest.fixture
def every_study_is_large(monkeypatch):
    monkeypatch.setattr(ranking, "LARGE", 0)


@pytest.mark.parametrize("conditions", CONDITIONS, ids=str)
def test_signals_that_are_updated_equal_those_that_are_made_anew(conditions):
    scout, compared = policy_named("scout"), 0
    for seen in moments("scout", **conditions):
        scout._choose_at_scale(seen, np.random.default_rng(0), 1)
        state, answers = seen.kept(scout, ScoutAtScale), Answers.of(seen)
        np.testing.assert_allclose(state.study, study_signals(answers), atol=1e-9)
        named, _ = classes_by_namers(seen)
        if named:
            found = state.signals(np.array([seen.class_of(group.members[0]) for group in named]))
            expected = class_signals(answers, named)
            if "report_rate" in conditions:  # that two namers know each other may turn out later
                found, expected = (np.delete(each, 10, axis=1) for each in (found, expected))
            np.testing.assert_allclose(found, expected, atol=1e-9)
            compared += len(named)
    assert compared > 1000


@pytest.mark.parametrize("policy", ["scout", "scout:1"])
def test_marks_add_to_scores_as_they_do_in_small_studies(policy):
    scout, marked = policy_named(policy), 0
    for seen in moments("scout", hub_question=0.5):
        scout._choose_at_scale(seen, np.random.default_rng(0), 1)
        tree, (named, _) = seen.kept(scout, ScoutAtScale)._tree, classes_by_namers(seen)
        if named:
            before = scout._read(seen, named)
            found = [tree.score(seen.class_of(group.members[0])) for group in named]
            np.testing.assert_allclose(found, before.parts.sum(axis=1), atol=1e-9)
            assert tree.heat == pytest.approx(scout._chance(seen, before) * before.closure, rel=0.03)
            marked += sum(bool(group.marked_by) for group in named)
    assert marked > 20


def test_scout_draws_classes_as_often_as_with_gumbel_noise(every_study_is_large):
    scout = policy_named("scout")
    seen = list(moments("scout", surveyed=12))[11]
    rng = np.random.default_rng(1)
    draws = Counter(seen.class_of(scout.choose(seen, rng)[0]) for _ in range(4000))
    named, _ = classes_by_namers(seen)
    before = scout._read(seen, named)
    heat = scout._chance(seen, before) * before.closure
    weight = np.array([group.size for group in named]) * np.exp(before.parts.sum(axis=1) / heat)
    shares = [draws[seen.class_of(group.members[0])] / 4000 for group in named]
    np.testing.assert_allclose(shares, weight / weight.sum(), atol=0.03)
    assert max(shares) < 0.95


def test_a_round_of_scout_is_spread_and_leaves_the_scores_as_they_were(every_study_is_large):
    scout = policy_named("scout")
    for seen in moments("scout", surveyed=15):
        scout.choose(seen, np.random.default_rng(0))
        tree = seen.kept(scout, ScoutAtScale)._tree
        before = tree._best.copy(), tree._total.copy()
        chosen = scout.choose(seen, np.random.default_rng(0), 5)
        assert len(set(chosen)) == min(5, len(seen.frontier))
        assert set(chosen) <= set(seen.frontier)
        for kept, now in zip(before, (tree._best, tree._total), strict=True):
            np.testing.assert_allclose(now, kept)


def test_the_second_of_a_round_shares_fewer_contacts_with_the_first(every_study_is_large, monkeypatch):
    shared = {}
    for apart in (0.0, APART):
        monkeypatch.setattr("claim.discovery.policies.scout_at_scale.APART", 20 * apart)
        pairs = [
            policy_named("scout").choose(seen, np.random.default_rng(i), 2)
            for i, seen in enumerate(moments("random", surveyed=15))
            if len(seen.frontier) > 1
        ]
        both = zip(
            pairs, [seen.copy() for seen in moments("random", surveyed=15) if len(seen.frontier) > 1], strict=True
        )
        shared[apart] = sum(len(seen.contacts[a].keys() & seen.contacts[b].keys()) for (a, b), seen in both)
    assert shared[APART] < shared[0.0]


@pytest.mark.parametrize("conditions", CONDITIONS, ids=str)
@pytest.mark.parametrize("rule", SCORED)
def test_rules_take_the_people_of_the_highest_scores(rule, conditions, every_study_is_large):
    policy = policy_named(rule)
    for seen in moments(rule, **conditions):
        if seen.frontier:
            scores = {person: round(policy.score(seen, person), ranking.SAME) for person in seen.frontier}
            chosen = policy.choose(seen, np.random.default_rng(0), 3)
            assert [scores[person] for person in chosen] == sorted(scores.values(), reverse=True)[:3]
            assert len(set(chosen)) == len(chosen)


def test_people_of_equal_score_are_equally_likely(every_study_is_large):
    seen = next(moments("max-degree", surveyed=1))
    policy = policy_named("max-degree")
    scores = {person: policy.score(seen, person) for person in seen.frontier}
    best = [person for person in seen.frontier if scores[person] == max(scores.values())]
    rng = np.random.default_rng(0)
    draws = Counter(policy.choose(seen, rng)[0] for _ in range(300 * len(best)))
    assert set(draws) == set(best)
    assert all(220 < count < 380 for count in draws.values())


def test_every_class_is_equally_likely_and_comes_round_again(every_study_is_large):
    seen = Discovered()
    for _ in range(2):
        seen.record_start(seen.add_person())
    for namer, contacts in ((0, range(2, 6)), (1, range(6, 8))):
        for contact in contacts:
            seen.add_person(namer)
            seen.add_tie(namer, contact)
    policy, rng = policy_named("random-class"), np.random.default_rng(0)
    draws = Counter(policy.choose(seen, rng)[0] > 5 for _ in range(2000))
    assert abs(draws[True] - 1000) < 150
    for _ in range(20):
        chosen = policy.choose(seen, rng, 6)
        assert sorted(chosen) == [2, 3, 4, 5, 6, 7]
        assert all((a > 5) != (b > 5) for a, b in zip(chosen[:4:2], chosen[1:4:2], strict=True))


def test_snowball_and_clairvoyant_take_the_nearest_and_the_best_connected(every_study_is_large):
    for seen in moments("snowball"):
        if seen.frontier:
            nearest = min(seen.wave[person] for person in seen.frontier)
            assert {
                seen.wave[who] for who in policy_named("snowball").choose(seen, np.random.default_rng(0), 2)[:1]
            } == {nearest}
    rng = np.random.default_rng(4)
    simulation = Simulation(hubs_and_leaves(), [3, 7], rng, refusal=0.2)
    policy = type(policy_named("clairvoyant"))(simulation.true_degree)
    for _ in range(30):
        degrees = {person: simulation.true_degree(person) for person in simulation.discovered.frontier}
        chosen = policy.choose(simulation.discovered, rng, 2)
        assert [degrees[person] for person in chosen] == sorted(degrees.values(), reverse=True)[:2]
        simulation.ask(chosen[0])


def contact_of_turn(seen: Discovered, rng: np.random.Generator) -> int:
    """CHANGE by looking at everybody: a contact of the first surveyed person who has one waiting."""
    turn = len(seen.surveyed) + len(seen.refused) - len(seen.start)
    for i in range(len(seen.surveyed)):
        namer = seen.surveyed[(turn + i) % len(seen.surveyed)]
        if waiting := [contact for contact in seen.contacts[namer] if contact in seen.waiting]:
            return int(rng.choice(waiting))
    return int(rng.choice(seen.frontier))


@pytest.mark.parametrize("conditions", CONDITIONS, ids=str)
def test_change_passes_over_people_without_waiting_contacts(conditions):
    for seen in moments("change", surveyed=120, **conditions):
        if seen.frontier:
            one, other = np.random.default_rng(0), np.random.default_rng(0)
            assert policy_named("change").choose(seen, one) == [contact_of_turn(seen, other)]


def test_change_notices_that_a_person_passed_over_has_gained_a_contact():
    seen = Discovered()
    for _ in range(2):
        seen.record_start(seen.add_person())
    change, rng = policy_named("change"), np.random.default_rng(0)
    seen.add_tie(1, seen.add_person())
    assert change.choose(seen, rng) == [2]
    seen.add_tie(0, seen.add_person())
    assert change.choose(seen, rng) == [3]


def test_a_random_person_is_the_same_however_the_frontier_is_looked_up():
    for seen in moments("random", surveyed=100, refusal=0.3):
        assert [seen.waiting_at(place) for place in range(len(seen.frontier))] == seen.frontier
        if seen.frontier:
            expected = np.random.default_rng(3).choice(seen.frontier, min(4, len(seen.frontier)), replace=False)
            assert policy_named("random").choose(seen, np.random.default_rng(3), 4) == expected.tolist()


@pytest.mark.parametrize("rule", RULES)
def test_large_studies_ask_everybody_once_and_repeat_themselves(rule, every_study_is_large):
    network = hubs_and_leaves(60)

    def surveyed() -> list[int]:
        answers, choices = np.random.default_rng(5).spawn(2)
        simulation = Simulation(network, [1, 2], answers, refusal=0.1)
        for _ in surveys(simulation, policy_named(rule), 1000, choices, per_round=3):
            pass
        assert simulation.discovered.frontier == []
        return simulation.discovered.surveyed

    assert surveyed() == surveyed()


def test_a_choice_depends_on_the_study_and_the_numbers_only(every_study_is_large):
    for rule in ("degree+inverse", "scout"):
        for seen in moments(rule, surveyed=10):
            if seen.frontier:
                choices = [policy_named(rule).choose(seen, np.random.default_rng(7)) for _ in range(3)]
                assert (
                    choices[0]
                    == choices[1]
                    == choices[2]
                    == policy_named(rule).choose(seen.copy(), np.random.default_rng(7))
                )


def test_the_tree_draws_by_size_and_score_and_grows():
    rng, tree = np.random.default_rng(0), ScoreTree(heat=0.5)
    scores, sizes = rng.normal(size=20), rng.integers(0, 4, 20).astype(np.float64)
    for i in range(20):
        tree.put(np.array([i]), scores[[i]], sizes[[i]])
    weight = sizes * np.exp(scores / 0.5)
    draws = np.bincount([tree.draw(rng) for _ in range(20000)], minlength=20) / 20000
    np.testing.assert_allclose(draws, weight / weight.sum(), atol=0.015)
    tree.reheat(0.0)
    best = max(scores[sizes > 0])
    assert {scores[tree.draw(rng)] for _ in range(50)} == {best}
    tree.put(np.arange(20), scores, np.zeros(20))
    assert tree.empty
