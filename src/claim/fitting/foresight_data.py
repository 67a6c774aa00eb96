"""Training data: simulated studies, what can be seen in them, and what leaders really add."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from claim.cascades.worlds import Worlds
from claim.discovery import Simulation, policy_named, surveys
from claim.networks import Network
from claim.networks.network import FloatArray, OffsetArray
from claim.randomness import draw_seed
from claim.selection.foresight.features import SMALL, Features
from claim.selection.foresight.kernels import true_gains
from claim.selection.foresight.selection_state import BoolArray, Course, View
from claim.selection.kernels import first_gains

POLICIES = ("random", "change", "degree+inverse", "max-contact", "random-class", "max-degree")
BUDGETS = (0, 5, 5, 5, 10, 10, 20, 20, 50)
START = 5
CHANCES = (0.05, *6 * (0.1,), 0.2)  # p
SEEN_WORLDS = 150
TRUE_WORLDS = 200
LEADERS = 10
MOST_CLASSES = 16  # recorded at a pick
MOST_MEMBERS = 12  # of a class, whose true gains are averaged

Guess = Callable[[FloatArray], FloatArray]  # features to factors


@dataclass(frozen=True)
class State:
    """A study at its end: what is seen, who the people really are, and the cascade probability."""

    network: Network
    view: View
    people: OffsetArray
    p: float


@dataclass(frozen=True)
class Rows:
    """Examples: the features, what ``free`` expects, and the truth."""

    features: FloatArray
    free: FloatArray
    truth: FloatArray

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """All parts in one."""
        columns = zip(*((part.features, part.free, part.truth) for part in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))


def studies(
    network: Network,
    count: int,
    rng: np.random.Generator,
    budgets: Sequence[int] = BUDGETS,
    chances: Sequence[float] = CHANCES,
) -> list[State]:
    """Simulated studies of every budget and policy, by chance."""
    states = []
    for _ in range(count):
        start = rng.choice(network.n, min(START, network.n), replace=False)
        simulation = Simulation(network, start, rng)
        policy = policy_named(str(rng.choice(POLICIES)))
        for _ in surveys(simulation, policy, int(rng.choice(budgets)), rng):
            pass
        view = View.of(simulation.discovered)
        states.append(State(network, view, np.array(simulation.people), float(rng.choice(chances))))
    return states


def hidden_rows(state: State, rng: np.random.Generator) -> Rows:
    """For each class of people not surveyed: how many they reach when all surveyed people are taken away."""
    rest = _without(state.network, state.people[state.view.surveyed])
    worlds = Worlds.draw(rest, state.p, TRUE_WORLDS, draw_seed(rng))
    reach = first_gains(worlds.n, TRUE_WORLDS, worlds.members, worlds.starts) / TRUE_WORLDS - 1.0
    course = Course(state.view, state.p, 1, 0)
    before = Features(course).before
    group = state.view.group
    truth = np.bincount(group, weights=reach[state.people], minlength=state.view.groups) / course.size
    open_to_guess = ~state.view.surveyed[course.who]
    free = course.hidden.worth[course.who]
    return Rows(before[open_to_guess], free[open_to_guess], truth[open_to_guess])


def _without(network: Network, gone: OffsetArray) -> Network:
    sources, targets, _ = network.edges()
    left = np.ones(network.n, dtype=np.bool_)
    left[gone] = False
    keep = left[sources] & left[targets]
    return Network.from_edges(sources[keep], targets[keep], n=network.n)


def gain_rows(
    state: State, truth: Worlds, guess: Guess, gain: Guess | None, wander: float, rng: np.random.Generator
) -> Rows:
    """Pick leaders as the models would, now and then somebody else, and record what candidates would really add."""
    course = Course(state.view, state.p, SEEN_WORLDS, draw_seed(rng))
    table = Features(course)
    table.guess_hidden(guess(table.before))
    covered = np.zeros(len(truth.starts) - 1, dtype=np.bool_)
    rows = []
    for _ in range(min(LEADERS, state.view.n)):
        free = np.maximum(course.gains(), SMALL)
        features = table.rows(free)
        score = free if gain is None else free * gain(features)
        waiting = np.unique(state.view.group[course.left]).astype(np.int64)
        order = waiting[np.argsort(-score[waiting])]
        shown = _shown(order, rng)
        rows.append(Rows(features[shown], free[shown], _class_truth(state, course.left, shown, truth, covered, rng)))
        person = _somebody(state.view, course.left, _wandering(order, wander, rng), rng)
        table.take(person)
        course.take(person)
        who = state.people[person]
        covered[truth.member_numbers[truth.member_offsets[who] : truth.member_offsets[who + 1]]] = True
    return Rows.joined(rows)


def _shown(order: OffsetArray, rng: np.random.Generator) -> OffsetArray:
    """The best few classes and some of the others."""
    if len(order) <= MOST_CLASSES:
        return order
    best = MOST_CLASSES // 2
    return np.concatenate([order[:best], rng.choice(order[best:], MOST_CLASSES - best, replace=False)])


def _wandering(order: OffsetArray, wander: float, rng: np.random.Generator) -> int:
    """Mostly the best class, sometimes one of the best four, rarely any."""
    luck = rng.random()
    most = len(order) if luck < wander / 3 else min(4, len(order)) if luck < wander else 1
    return int(order[rng.integers(most)])


def _somebody(view: View, left: BoolArray, group: int, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero((view.group == group) & left)))


def _class_truth(
    state: State, left: BoolArray, groups: OffsetArray, truth: Worlds, covered: BoolArray, rng: np.random.Generator
) -> FloatArray:
    """What a random member of each class really adds: the mean over some of them."""
    position = np.full(state.view.groups, -1)
    position[groups] = np.arange(len(groups))
    people = rng.permutation(np.flatnonzero(left & (position[state.view.group] >= 0)))
    means: FloatArray = true_gains(
        state.people[people], position[state.view.group[people]], len(groups), MOST_MEMBERS, covered, truth.samples,
        truth.starts, truth.member_offsets, truth.member_numbers,
    )  # fmt: skip
    return means
