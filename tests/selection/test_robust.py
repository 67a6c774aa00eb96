"""Greedy for leaders who may not come, and for a probability that is only known by its range."""

from itertools import combinations

import numpy as np
import pytest

from claim.cascades import IC, Worlds
from claim.discovery import Discovered
from claim.errors import InputError
from claim.networks import Network
from claim.randomness import draw_seed
from claim.selection import Candidates, MethodSelector, selector_named
from claim.selection.greedy import Task, greedy
from claim.selection.robust import Belief, beliefs_of, robust_greedy


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
