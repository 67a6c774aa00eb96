"""Greedy for leaders who may not come, and for a probability that is only known by its range."""

from itertools import combinations

import numpy as np
import pytest

import claim
from claim.cascades import IC, Model, Worlds
from claim.discovery import Discovered
from claim.errors import InputError
from claim.networks import Network
from claim.randomness import draw_seed
from claim.selection import Candidates, MethodSelector, selector_named
from claim.selection.greedy import Task, greedy
from claim.selection.robust import Belief, Search, beliefs_of, mean, robust_greedy


def random_network(seed: int, n: int = 40, ties: int = 55) -> Network:
    ends = np.random.default_rng(seed).integers(0, n, (ties, 2))
    return Network.from_edges(ends[:, 0], ends[:, 1], n=n)


def two_stars(large: int, small: int) -> Network:
    """A star around person 0 and a smaller one around person 1; a second person in the large one can stand in."""
    sources = [0] * large + [1] * small
    return Network.from_edges(sources, range(2, 2 + large + small))


def expected(worlds: Worlds, leaders: tuple[int, ...], attendance: float) -> float:
    """Every combination of who comes, by hand."""
    total = 0.0
    for size in range(len(leaders) + 1):
        for there in combinations(leaders, size):
            chance = attendance**size * (1 - attendance) ** (len(leaders) - size)
            total += chance * worlds.influence(there).mean
    return total


@pytest.mark.parametrize("ties", ["random", "first"])
def test_sure_leaders_and_one_p_are_the_plain_oracle(ties):
    for seed in range(20):
        network = random_network(seed)
        everybody = Candidates.of(network.n, 6, must=[3], must_not=[4, 5])
        plain = greedy(Task(network, everybody, 6, 0.2, 200, np.random.default_rng(seed), ties))
        assert (
            robust_greedy(
                Task(network, everybody, 6, 0.5, 200, np.random.default_rng(seed), ties), [Belief(IC, 0.2)], 1.0
            )
            == plain
        )


def test_each_pick_adds_the_most_in_expectation_over_who_comes():
    network, p, attendance = random_network(1, n=12, ties=16), 0.5, 0.4
    leaders = robust_greedy(
        Task(network, Candidates.of(12, 4), 4, 0.5, 60, np.random.default_rng(5)), [Belief(IC, p)], attendance
    )
    worlds = Worlds.draw(network, p, 60, draw_seed(np.random.default_rng(5)))
    for i, leader in enumerate(leaders):
        before = tuple(leaders[:i])
        best = max(expected(worlds, (*before, who), attendance) for who in range(12) if who not in before)
        assert expected(worlds, (*before, leader), attendance) == pytest.approx(best)


def test_a_reserve_is_chosen_where_leaders_rarely_come():
    network = two_stars(large=30, small=3)
    everybody, rng = Candidates.of(network.n, 2), np.random.default_rng
    assert set(robust_greedy(Task(network, everybody, 2, 0.5, 20, rng(0)), [Belief(IC, 1.0)], 1.0)) & {
        1,
        *range(32, 35),
    }
    doubtful = robust_greedy(Task(network, everybody, 2, 0.5, 20, rng(0)), [Belief(IC, 1.0)], 0.3)
    assert all(who == 0 or 2 <= who < 32 for who in doubtful)


def test_an_unknown_p_is_averaged_over():
    """A star of 12 reaches more at a small p, a chain of 30 at a large one."""
    chain = range(13, 43)
    network = Network.from_edges([0] * 12 + list(chain)[:-1], [*range(1, 13), *list(chain)[1:]])

    def best(*chances: float) -> int:
        return robust_greedy(
            Task(network, Candidates.of(network.n, 1), 1, 0.5, 2000, np.random.default_rng(0)),
            beliefs_of([IC], chances),
            1.0,
        )[0]

    assert best(0.2) == 0
    assert best(0.97) in chain
    assert best(0.2, 0.97) in chain
    assert best(0.1, 0.2, 0.3, 0.4, 0.75) == 0


def test_the_selector_is_told_by_name():
    selector = selector_named("greedy", attendance=0.5, p_range=(0.1, 0.3))
    assert isinstance(selector, MethodSelector)
    assert (selector.attendance, selector.p_range) == (0.5, (0.1, 0.3))
    foresight = selector_named("foresight:free", attendance=0.5, p_range=(0.1, 0.3))
    assert (foresight.attendance, foresight.p_range) == (0.5, (0.1, 0.3))


@pytest.mark.parametrize("name", ["greedy", "foresight:free"])
@pytest.mark.parametrize("told", [{}, {"attendance": 0.5}, {"p_range": (0.05, 0.2)}])
def test_a_longer_list_is_the_leaders_and_then_their_replacements(name, told):
    network = random_network(3)
    seen = Discovered.from_network(network, range(8))
    selector = selector_named(name, samples=200, **told)
    leaders, longer = (selector.select(seen, k, np.random.default_rng(1)) for k in (5, 9))
    assert longer[:5] == leaders
    declined, stay = leaders[1], [who for who in leaders if who != leaders[1]]
    again = selector.select(seen, 5, np.random.default_rng(1), must=stay, must_not=[declined])
    assert again[:4] == stay
    assert again[4] not in leaders


@pytest.mark.parametrize("attendance", [0.0, -0.1, 1.1, float("nan")])
def test_an_attendance_that_is_none_is_refused(attendance):
    seen = Discovered.from_network(random_network(0), [0])
    with pytest.raises(InputError, match="attendance must be above 0 and at most 1"):
        selector_named("greedy", attendance=attendance).select(seen, 3, np.random.default_rng(0))


def test_nobody_to_choose_from_gives_nobody():
    network = random_network(0, n=5, ties=4)
    assert (
        robust_greedy(Task(network, Candidates.of(5, 9), 9, 0.5, 10, np.random.default_rng(0)), [Belief()], 0.5) != []
    )
    assert (
        robust_greedy(Task(network, Candidates.of(5, 2, may=[]), 2, 0.5, 10, np.random.default_rng(0)), [Belief()], 0.5)
        == []
    )


# Several models ------------------------------------------------------------------------------------------------------

MODELS = ["ic", "ic:steps=2", "lt", "threshold:2"]


def named(network: Network) -> Network:
    return Network.from_edges(*network.edges()[:2], n=network.n, directed=True)


def task_of(network: Network, k: int, samples: int = 300, seed: int = 0) -> Task:
    return Task(network, Candidates.of(network.n, k), k, 0.5, samples, np.random.default_rng(seed))


@pytest.mark.parametrize("model", ["ic", "ic:steps=2", "lt"])
@pytest.mark.parametrize("directed", [False, True])
def test_one_belief_of_any_model_is_the_plain_oracle(model, directed):
    network, belief = random_network(4), Belief(Model.of(model), 0.3)
    network = named(network) if directed else network
    plain = Task(network, Candidates.of(network.n, 6), 6, 0.3, 300, np.random.default_rng(1), model=belief.model)
    assert robust_greedy(task_of(network, 6, seed=1), [belief]) == greedy(plain)


@pytest.mark.parametrize("attendance", [1.0, 0.6])
def test_lazily_computed_gains_pick_whom_computing_all_gains_picks(attendance):
    network = named(random_network(2, n=25, ties=50))
    beliefs = beliefs_of([Model.of("ic"), Model.of("ic:steps=2"), Model.of("lt")], (0.2, 0.6))
    search = Search(task_of(network, 4, samples=100), beliefs, attendance)
    leaders, reached = search.pick(mean)
    for i in range(4):
        under = [begin() for begin in search.begin]
        for leader in leaders[:i]:
            for gains in under:
                gains.take(leader)
        free = np.ones(network.n, dtype=bool)
        for person in range(network.n):
            for gains in under:
                gains.tighten(person)
        total = sum(gains.of_all(free) for gains in under)
        total[leaders[:i]] = 0
        assert total[leaders[i]] == pytest.approx(total.max())
    again = [begin() for begin in search.begin]
    assert reached == pytest.approx([sum(gains.take(leader) for leader in leaders) for gains in again])


def test_the_worst_ratio_is_better_than_that_of_the_mean_and_of_each_belief():
    """Few contacts and many: what is best for rare messages, for chains and for complex contagion differs."""
    beliefs = beliefs_of([Model.of("ic"), Model.of("lt"), Model.of("threshold:2")], (0.05, 0.4))
    gained = 0.0
    for seed in range(16):
        network = random_network(seed, n=60, ties=110)
        search = Search(task_of(network, 5), beliefs)
        best = np.array([reached[i] for i, (_, reached) in enumerate(search.alone)])
        begun = [begin() for begin in search.begin]
        reached = np.zeros(len(beliefs))
        for leader in search.leaders("worst"):
            reached += [gains.take(leader) for gains in begun]
        others = [search.pick(mean)[1], *(each for _, each in search.alone)]
        worst, *found = [float((each / best).min()) for each in (reached, *others)]
        assert worst >= max(found)
        gained += worst - max(found)
    assert gained > 0


def test_leaders_are_judged_by_each_belief_on_cascades_of_their_own():
    network = random_network(1, n=60, ties=110)
    chosen = claim.select(network, 5, [0.1, 0.4], model=["ic", "threshold:2"], robust="worst")
    names = ["ic p=0.1", "ic p=0.4", "threshold:2"]
    assert [each.chosen_for for each in chosen.robust] == [*names, "the worst ratio"]
    for i, each in enumerate(chosen.robust[:3]):
        assert each.ratios[names[i]] == 1.0
        reach = claim.influence(network, each.leaders, 0.4, 20_000, rng=5).mean
        assert each.reach["ic p=0.4"] == pytest.approx(reach, rel=0.03)
    assert chosen.robust[-1].leaders == chosen.leaders
    assert chosen.influence == pytest.approx(np.mean(list(chosen.robust[-1].reach.values())))
    assert chosen.robust[-1].worst == min(chosen.robust[-1].ratios.values())


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"p": [0.1, 0.2]}, "need robust: mean or worst"),
        ({"model": ["ic", "lt"]}, "need robust: mean or worst"),
        ({"robust": "best"}, "robust must be mean or worst, got 'best'"),
        ({"robust": "mean", "method": "ris"}, "by the greedy method"),
        ({"robust": "mean", "group": "region"}, "knows no groups"),
        ({"robust": "mean", "p": []}, "at least one model"),
        ({"robust": "mean", "p": [0.1, 1.2]}, "probability must be between 0 and 1, got 1.2"),
        ({"robust": "mean", "model": ["ic", "sir"]}, "got 'sir'"),
    ],
)
def test_beliefs_that_make_no_sense_are_refused(given, problem):
    with pytest.raises(InputError, match=problem):
        claim.select(random_network(0), 3, **given)


def test_other_values_of_p_are_refused_where_ties_have_their_own():
    network = Network.from_edges([0, 1], [1, 2], probabilities=[0.5, 0.2])
    with pytest.raises(InputError, match="probabilities of their own"):
        claim.select(network, 1, [0.1, 0.3], robust="mean")
    assert claim.select(network, 1, 0.1, model=["ic", "threshold:2"], robust="mean").leaders
