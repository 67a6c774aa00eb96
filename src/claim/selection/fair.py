"""Leaders who reach all groups: by welfare, by the smallest share, or as much as each group could reach by itself.

R_c is the expected number of people of group c who are reached, n_c its size and u_c = R_c / n_c its share. People of
whom the group is not known count in the reach, and are in no group.

* ``welfare:ALPHA`` maximises the sum of n_c u_c^α / α, α at most 1, or of n_c log u_c at α = 0 (Rahmattalabi et al.,
  "Fair Influence Maximization: A Welfare Optimization Approach", AAAI 2021). α = 1 is the plain reach; the smaller α,
  the more the smallest shares count.
* ``maximin`` maximises the smallest share (Tsang et al., "Group-Fairness in Influence Maximization", IJCAI 2019).
* ``diversity`` maximises the reach under the condition that each group reaches at least what ⌈k n_c / n⌉ leaders of its
  own could reach within it (Tsang et al.).

docs/concepts/fairness.md says what is guaranteed.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from claim.cascades.kernels import kernel
from claim.cascades.worlds import EdgeSampler, Worlds
from claim.errors import InputError
from claim.networks import Network
from claim.networks.groups import Groups
from claim.networks.network import FloatArray, OffsetArray
from claim.randomness import draw_seed
from claim.selection.greedy import MOST_STORED, SAME, Candidates, Task, greedy, picked_in_turn

Kind = Literal["none", "welfare", "maximin", "diversity"]
Value = Callable[[FloatArray], FloatArray]  # of R (..., groups and the people in none)

FORMS = "none, welfare:ALPHA, maximin or diversity"
FLOOR = 0.01  # people added to each group's reach, so that a share of 0 has a welfare where α is 0 or less
STARTS = (1.0, 0.0, -2.0, -9.0, -30.0)  # welfares whose leaders the search begins from, whatever it is for
LADDER = (1.0, 0.0, -1.0, -2.0, -4.0, -9.0, -30.0)  # welfares that it passes through, down and up
NEAREST = 3  # of the leaders met on the way: those that the search begins from, too
STEEP = (-2.0, -9.0, -30.0)  # those that maximin begins from
BEFORE_MAXIMIN = -9.0  # the welfare whose smallest share it is to reach at the least
FINER = 10_000_000  # memberships of the worlds that leaders are compared on
BISECTIONS = 12
SWEEPS = 10  # over all leaders, at most, in search of better ones
WEIGHTS = (0, 1, 2, 4, 8, 16, 64, 256, 4096)  # of a person who is missing for diversity
TIE = 1e-6  # weight of the reach where the smallest shares are equal
SAMPLES, FEWEST = 10_000, 100  # worlds that shares are estimated from, at most and at least


@dataclass(frozen=True)
class Fair:
    """What is asked for, as in ``--fair``."""

    kind: Kind = "none"
    alpha: float = 1.0

    @classmethod
    def of(cls, text: str) -> "Fair":
        """Read ``none``, ``welfare:ALPHA``, ``maximin`` or ``diversity``."""
        if text in ("none", "maximin", "diversity"):
            return cls(text)  # type: ignore[arg-type]
        kind, _, number = text.partition(":")
        if kind != "welfare":
            raise InputError(f"fair must be {FORMS}, got {text!r}")
        try:
            alpha = float(number)
        except ValueError:
            alpha = math.nan
        if not -30 <= alpha <= 1:
            raise InputError(f"welfare:ALPHA takes a number from -30 to 1, got {text!r}")
        return cls("welfare", alpha)


@dataclass(frozen=True)
class GroupReach:
    """The people of one group whom the leaders reach."""

    size: int
    reached: float
    share: float
    stderr: float  # of the share
    least: float | None = None  # what leaders of its own would reach; with diversity only

    def to_dict(self) -> dict[str, Any]:
        """Without what does not apply."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class FairReach:
    """How far leaders reach into each group, and what that costs.

    ``gap`` is the largest minus the smallest share of a world, on average; ``gaps`` are those of two groups each.
    ``price`` compares with leaders chosen for the plain reach.
    """

    attribute: str
    reach: float
    stderr: float
    groups: dict[str, GroupReach]
    gap: float
    gaps: dict[tuple[str, str], float]
    price: float  # people
    percent: float
    unknown: int = 0  # people in no group

    @property
    def smallest(self) -> float:
        """The smallest share."""
        return min(each.share for each in self.groups.values())


def choose_fairly(task: Task, groups: Groups, fair: Fair) -> tuple[list[int], dict[str, float]]:
    """The leaders and, with diversity, what each group should reach at least."""
    _check(task.network, groups)
    edges = EdgeSampler.of(task.network, task.p)
    if 2 * edges.expected_live * task.samples > MOST_STORED:
        raise InputError(f"{task.network.name} is too large for {task.samples} worlds of groups: take fewer --samples")
    rng = task.rng
    seed, priority = draw_seed(rng), task.priority()
    search = Search(Worlds.draw(edges, task.p, task.samples, seed), groups, task.candidates, task.k, priority)
    if fair.kind == "diversity":
        least = least_reach(task, groups)
        return search.diverse(least), dict(zip(groups.names, least.tolist(), strict=True))
    samples = int(min(SAMPLES, FINER / max(2 * edges.expected_live, 1.0)))
    finer = search
    if samples > task.samples:
        finer = replace(search, worlds=Worlds.draw(edges, task.p, samples, draw_seed(rng)))
    return search.maximin(finer) if fair.kind == "maximin" else search.best(welfare(groups, fair.alpha), finer), {}


def _check(network: Network, groups: Groups) -> None:
    if network.directed:
        raise InputError(f"{network.name}: fair selection needs an undirected network")
    if len(groups.names) == 1:
        raise InputError(f"{groups.attribute} makes one group only, {groups.names[0]}: there is nothing to balance")


def plain(reached: FloatArray) -> FloatArray:
    """The reach, whatever the groups."""
    total: FloatArray = reached.sum(axis=-1)
    return total


def welfare(groups: Groups, alpha: float) -> Value:
    """The sum of n_c u_c^α / α, with u_c = (R_c + FLOOR) / n_c; people in no group count as at α = 1."""
    sizes = groups.sizes.astype(float)

    def value(reached: FloatArray) -> FloatArray:
        share = (reached[..., :-1] + FLOOR) / sizes
        each = np.log(share) if alpha == 0 else share**alpha / alpha
        return (sizes * each).sum(axis=-1) + reached[..., -1]  # type: ignore[no-any-return]

    return value


@dataclass
class Search:
    """The search for leaders on fixed worlds."""

    worlds: Worlds
    groups: Groups
    candidates: Candidates
    k: int
    priority: OffsetArray

    def beyond(self, leaders: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """R of the leaders (groups and none), and of the leaders with one more person (n, groups and none)."""
        given = np.array(leaders, dtype=np.int64)
        reached, gains = reach_by_group(tuple(self.worlds), self.groups.numbers, len(self.groups.names) + 1, given)
        samples = self.worlds.samples
        return reached / samples, (reached + gains) / samples

    def greedy(self, value: Value) -> list[int]:
        """The leaders by the largest value one after the other."""
        leaders: list[int] = []

        def best(free: np.ndarray[Any, Any]) -> int:
            people = np.flatnonzero(free)
            return self._best(value(self.beyond(leaders)[1][people]), people) if len(people) else -1

        return picked_in_turn(self.candidates, self.k, best, leaders.append)

    def swapped(self, leaders: Sequence[int], value: Value) -> list[int]:
        """Replace single leaders by others as long as that raises the value."""
        best, fixed = list(leaders), len(self.candidates.must)
        for _ in range(SWEEPS):
            before = list(best)
            for place in range(fixed, len(best)):
                rest = best[:place] + best[place + 1 :]
                free = self.candidates.open_to_choice()
                free[rest] = False
                people, values = np.flatnonzero(free), value(self.beyond(rest)[1])
                other = self._best(values[people], people)
                if round(float(values[other] - values[best[place]]), SAME) > 0:
                    best[place] = other
            if best == before:
                break
        return best

    def best(self, value: Value, finer: "Search") -> list[int]:
        """The best leaders by greedy and swaps from several starts; the last swaps are on the ``finer`` worlds."""

        def fine(leaders: Sequence[int]) -> float:
            return float(value(finer.beyond(leaders)[0]))

        begin = [self.greedy(each) for each in (value, *(welfare(self.groups, alpha) for alpha in STARTS))]
        nearest = sorted(dict.fromkeys(map(tuple, self.on_the_ladder())), key=fine, reverse=True)[:NEAREST]
        return finer.best_of((self.swapped(leaders, value) for leaders in (*begin, *nearest)), value)

    def on_the_ladder(self) -> list[list[int]]:
        """Leaders for the welfares of ``LADDER``, each by swaps from those of the welfare before, down and up.

        Neighbouring welfares have similar leaders, but swaps end in local optima that depend on where they began.
        """
        values, found = [welfare(self.groups, alpha) for alpha in LADDER], []
        for way in (values, values[::-1]):
            leaders = self.greedy(way[0])
            for value in way:
                leaders = self.swapped(leaders, value)
                found.append(leaders)
        return found

    def best_of(self, found: Iterable[Sequence[int]], value: Value) -> list[int]:
        """The best leaders of those found, after swaps."""
        swapped = [self.swapped(leaders, value) for leaders in dict.fromkeys(map(tuple, found))]
        return max(swapped, key=lambda leaders: float(value(self.beyond(leaders)[0])))

    def _best(self, values: FloatArray, people: OffsetArray) -> int:
        return int(people[np.lexsort((self.priority[people], np.round(values, SAME)))[-1]])

    def shares(self, reached: FloatArray) -> FloatArray:
        """u_c (..., groups)."""
        return reached[..., :-1] / self.groups.sizes

    def smallest(self, reached: FloatArray) -> FloatArray:
        """The smallest share and, where it is equal, the reach."""
        return self.shares(reached).min(axis=-1) + TIE * plain(reached)  # type: ignore[no-any-return]

    def maximin(self, finer: "Search | None" = None) -> list[int]:
        """The best of steep welfares and of SATURATE (Krause et al., 2008), then improved by swaps.

        With ``finer`` worlds, the best leaders by a steep welfare on these are among them.
        """
        found = [self.greedy(welfare(self.groups, alpha)) for alpha in STEEP]
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            level = (low + high) / 2
            found.append(self.greedy(self._up_to(level)))
            low, high = (level, high) if self._smallest_of(found[-1]) >= level else (low, level)
        saturated = self.swapped(max(found, key=self._smallest_of), self.smallest)
        if finer is None:
            return saturated
        return finer.best_of((saturated, self.best(welfare(self.groups, BEFORE_MAXIMIN), finer)), self.smallest)

    def _up_to(self, level: float) -> Value:
        def value(reached: FloatArray) -> FloatArray:
            return np.minimum(self.shares(reached), level).sum(axis=-1) + TIE * plain(reached)  # type: ignore[no-any-return]

        return value

    def _smallest_of(self, leaders: Sequence[int]) -> float:
        return float(self.smallest(self.beyond(leaders)[0]))

    def diverse(self, least: FloatArray) -> list[int]:
        """The largest reach with which no group falls short, or the smallest shortfall."""

        def short(reached: FloatArray) -> FloatArray:
            return np.maximum(least - reached[..., :-1], 0.0).sum(axis=-1)  # type: ignore[no-any-return]

        def missing(leaders: Sequence[int]) -> float:
            return round(float(short(self.beyond(leaders)[0])), SAME)

        tried = []
        for weight in WEIGHTS:
            value = _minus(plain, short, weight)
            tried.append(self.swapped(self.greedy(value), value))
            if not missing(tried[-1]):
                return tried[-1]
        return min(tried, key=missing)


def _minus(value: Value, cost: Value, weight: float) -> Value:
    return lambda reached: value(reached) - weight * cost(reached)


def least_reach(task: Task, groups: Groups) -> FloatArray:
    """What ⌈k n_c / n⌉ leaders of each group reach within it, by the greedy oracle on worlds of their own."""
    sources, targets, own = task.network.edges()
    found = []
    for group, size in enumerate(groups.sizes.tolist()):
        people = np.flatnonzero(groups.numbers == group)
        place = np.full(task.network.n, -1)
        place[people] = np.arange(size)
        inside = (place[sources] >= 0) & (place[targets] >= 0)
        p = None if own is None else own[inside]
        within = Network.from_edges(place[sources[inside]], place[targets[inside]], n=size, probabilities=p)
        leaders = math.ceil(task.k * size / task.network.n)
        chosen = greedy(Task(within, Candidates.of(size, leaders), leaders, task.p, task.samples, task.rng, task.ties))
        found.append(Worlds.draw(within, task.p, task.samples, draw_seed(task.rng)).influence(chosen).mean)
    return np.array(found)


def judge_fairly(
    network: Network,
    groups: Groups,
    p: float,
    leaders: Sequence[int],
    plain_leaders: Sequence[int],
    rng: np.random.Generator,
    least: dict[str, float] | None = None,
) -> FairReach:
    """Shares, gaps and price of leaders, on worlds that they were not chosen with; both sets on the same worlds."""
    edges = EdgeSampler.of(network, p)
    samples = int(min(SAMPLES, max(FEWEST, MOST_STORED / max(2 * edges.expected_live, 1.0))))
    worlds = Worlds.draw(edges, p, samples, draw_seed(rng))
    reached = people_of_groups(worlds, groups, leaders)
    total = reached.sum(axis=1)
    shares = reached[:, :-1] / groups.sizes
    plainly = people_of_groups(worlds, groups, plain_leaders).sum(axis=1).mean()
    error = shares.std(axis=0, ddof=1) / math.sqrt(samples)
    each = {
        name: GroupReach(
            int(groups.sizes[i]), float(reached[:, i].mean()), float(shares[:, i].mean()), float(error[i]),
            (least or {}).get(name),
        )
        for i, name in enumerate(groups.names)
    }  # fmt: skip
    pairs = combinations(range(len(groups.names)), 2)
    gaps = {(groups.names[i], groups.names[j]): float(np.abs(shares[:, i] - shares[:, j]).mean()) for i, j in pairs}
    price = float(plainly - total.mean())
    return FairReach(
        groups.attribute, float(total.mean()), float(total.std(ddof=1) / math.sqrt(samples)), each,
        float((shares.max(axis=1) - shares.min(axis=1)).mean()), gaps,
        price, 100 * price / float(plainly) if plainly else 0.0, groups.unknown,
    )  # fmt: skip


def people_of_groups(worlds: Worlds, groups: Groups, leaders: Sequence[int]) -> FloatArray:
    """The people reached (worlds, groups and none)."""
    out = np.zeros((worlds.samples, len(groups.names) + 1))
    reach_in_each_world(tuple(worlds), groups.numbers, np.array(leaders, dtype=np.int64), out)
    return out


@kernel
def reach_by_group(worlds, numbers, groups, leaders):  # type: ignore[no-untyped-def]
    """How many people of each group the leaders reach, and what each other person adds, summed over the worlds.

    ``numbers[u]`` is the group of person ``u``. Returns arrays (groups,) and (n, groups).
    """
    n, samples, members, starts, _, offsets, components = worlds
    covered = np.zeros(len(starts) - 1, dtype=np.bool_)
    is_leader = np.zeros(n, dtype=np.bool_)
    reached = np.zeros(groups)
    gains = np.zeros((n, groups))
    for leader in leaders:
        is_leader[leader] = True
        for i in range(offsets[leader], offsets[leader + 1]):
            covered[components[i]] = True
    for person in range(n):
        alone = samples - (offsets[person + 1] - offsets[person])
        if is_leader[person]:
            reached[numbers[person]] += alone
        else:
            gains[person, numbers[person]] += alone
    counts = np.zeros(groups)
    for component in range(len(starts) - 1):
        begin, end = starts[component], starts[component + 1]
        for i in range(begin, end):
            counts[numbers[members[i]]] += 1.0
        if covered[component]:
            for group in range(groups):
                reached[group] += counts[group]
        else:
            for i in range(begin, end):
                for group in range(groups):
                    gains[members[i], group] += counts[group]
        for group in range(groups):
            counts[group] = 0.0
    return reached, gains


@kernel
def reach_in_each_world(worlds, numbers, leaders, out):  # type: ignore[no-untyped-def]
    """``out[w, c]`` becomes the number of people of group ``c`` whom the leaders reach in world ``w``."""
    _, samples, members, starts, world_starts, offsets, components = worlds
    covered = np.zeros(len(starts) - 1, dtype=np.bool_)
    for leader in leaders:
        for world in range(samples):
            out[world, numbers[leader]] += 1.0
        world = 0
        for i in range(offsets[leader], offsets[leader + 1]):
            component = components[i]
            while component >= world_starts[world + 1]:
                world += 1
            out[world, numbers[leader]] -= 1.0  # counted with the component instead
            if not covered[component]:
                covered[component] = True
                for j in range(starts[component], starts[component + 1]):
                    out[world, numbers[members[j]]] += 1.0
