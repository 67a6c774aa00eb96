"""Other ways in which a message spreads: a limited number of steps, linear thresholds, and two or more contacts.

* ``ic`` is the independent cascade: everyone who is reached tries once to reach each contact, with probability p.
* ``ic:steps=N`` ends after N steps; leaders are reached at step 0.
* ``lt`` is the linear threshold model in its live-edge form (Kempe, Kleinberg and Tardos, KDD 2003): everyone listens
  to at most one of those who can tell them, drawn by weight, and is reached if that person is. The weights are the
  probabilities of the ties, where the network has them, and else 1 / the number of those who can tell; p is not used.
* ``threshold:N`` reaches everyone of whom N contacts are reached (complex contagion); nothing is random.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from claim.cascades.influence import Influence, RowSampler, check_people, in_chunks, simulate_cascades
from claim.cascades.kernels import GOLDEN, gap, inlined, is_live, kernel, stream, uniform, world_state
from claim.errors import InputError, check_number, check_whole
from claim.networks import Label, Network, NetworkLike, load
from claim.networks.network import BoolArray, FloatArray, IntArray, OffsetArray
from claim.randomness import Rng, as_generator, draw_seed

FORMS = "ic, ic:steps=N, lt or threshold:N"
_FORM = re.compile(r"(?P<kind>ic|lt)|ic:steps=(?P<steps>\d{1,6})|threshold:(?P<threshold>\d{1,6})")


@dataclass(frozen=True)
class Model:
    """A model of diffusion, as in ``--model``."""

    kind: Literal["ic", "lt", "threshold"] = "ic"
    number: int | None = None  # of steps, or of contacts

    @classmethod
    def of(cls, text: "str | Model") -> "Model":
        """Read ``ic``, ``ic:steps=N``, ``lt`` or ``threshold:N``."""
        if isinstance(text, Model):
            return text
        found = _FORM.fullmatch(text)
        if found is None:
            raise InputError(f"model must be {FORMS}, got {text!r}")
        if found["kind"]:
            return cls(found["kind"])  # type: ignore[arg-type]
        number = int(found["steps"] or found["threshold"])
        if number < 1:
            raise InputError(f"model must be {FORMS} with N of at least 1, got {text!r}")
        return cls("ic" if found["steps"] else "threshold", number)

    @property
    def is_plain(self) -> bool:
        """Whether it is the independent cascade without a limit."""
        return self == IC

    @property
    def submodular(self) -> bool:
        """Whether a leader adds the less, the more leaders there are, so that the bound of the greedy method holds."""
        return self.kind != "threshold" or self.number == 1

    def __str__(self) -> str:
        if self.number is None:
            return self.kind
        return f"ic:steps={self.number}" if self.kind == "ic" else f"threshold:{self.number}"


IC = Model()


@dataclass(frozen=True, eq=False)
class Diffusion:
    """A model on a network, prepared for cascades."""

    network: Network
    model: Model
    p: float

    def __post_init__(self) -> None:
        check_number(0, 1, probability=self.p)

    @cached_property
    def forth(self) -> RowSampler:
        """Whom each person can tell."""
        return RowSampler.of(self.network, self.p)

    @cached_property
    def back(self) -> tuple[OffsetArray, IntArray, FloatArray]:
        """Who can tell each person, and the cumulative weights of these ties (none if all weigh the same)."""
        rows = RowSampler.of(self.network, self.p, against=True)
        if not len(rows.probabilities):
            return rows.offsets, rows.contacts, rows.probabilities
        total = np.concatenate([[0.0], np.cumsum(rows.probabilities)])
        before = np.repeat(total[rows.offsets[:-1]], np.diff(rows.offsets))
        weights = total[1:] - before
        sums = total[rows.offsets[1:]] - total[rows.offsets[:-1]]
        if len(sums) and sums.max() > 1 + 1e-9:
            who = self.network.labels[int(sums.argmax())]
            raise InputError(
                f"{self.network.name}: the weights of those who can tell {who} sum up to {sums.max():.3g}, "
                "and lt needs at most 1"
            )
        return rows.offsets, rows.contacts, weights

    @cached_property
    def heard(self) -> FloatArray:
        """For each tie the numbers at which the contact listens to it, (ties, 2): above the first, up to the second."""
        offsets, sources, weights = self.back
        order = np.lexsort((np.repeat(np.arange(self.network.n), np.diff(offsets)), sources))  # as in the rows forth
        if len(weights):
            upper = weights
        else:
            count = np.repeat(np.diff(offsets), np.diff(offsets))
            upper = (np.arange(len(sources)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1) / count
        lower = np.concatenate([[0.0], upper[:-1]])[: len(upper)]
        lower[offsets[:-1][np.diff(offsets) > 0]] = 0.0
        return np.column_stack([lower, upper])[order]

    def reach(self, leaders: Iterable[int], samples: int, seed: int) -> IntArray:
        """The number of people reached in each of the worlds that follow from the seed."""
        check_whole(1, samples=samples)
        if self.model.is_plain:
            return simulate_cascades(self.network, leaders, self.p, samples, seed)[0]
        chosen = check_people(self.network.n, leaders)
        reach = np.full(samples, len(chosen), dtype=np.int32)
        number = self.model.number or 0
        if self.model.kind == "threshold":
            active, counts = np.zeros((2, self.network.n), dtype=np.int32)
            add_by_threshold(self.forth.offsets, self.forth.contacts, chosen, number, active, counts)
            reach[:] = active.sum()
        elif self.model.kind == "lt":
            offsets, contacts, heard = self.forth.offsets, self.forth.contacts, self.heard

            def listen(first: int, count: int) -> None:
                spread_by_listening(offsets, contacts, heard, chosen, seed, first, reach[first : first + count])

            in_chunks(listen, samples)
        elif self.forth.p > 0 and len(chosen):
            rows = self.forth

            def limited(first: int, count: int) -> None:
                spread_in_steps(rows, chosen, number, seed, first, reach[first : first + count])

            in_chunks(limited, samples)
        return reach

    def influence(self, leaders: Iterable[int], samples: int, seed: int) -> Influence:
        """Mean reach, with its standard error; 0 for a model in which nothing is random."""
        if self.model.is_plain:
            return Influence.of(*simulate_cascades(self.network, leaders, self.p, samples, seed))
        return Influence.of(self.reach(leaders, samples, seed))


def influence(
    network: NetworkLike,
    leaders: Iterable[Label],
    p: float = 0.1,
    samples: int = 10_000,
    rng: Rng = 0,
    model: str | Model = "ic",
) -> Influence:
    """Expected reach of the leaders, under the independent cascade model or another one.

    Every active person tries once to activate each contact, with probability ``p`` or, where the network has them, with
    the edge's own probability. ``leaders`` are labels of people; ``model`` is ``ic``, ``ic:steps=N``, ``lt`` or
    ``threshold:N``.
    """
    network = load(network)
    diffusion = Diffusion(network, Model.of(model), p)
    return diffusion.influence(network.indices_of(leaders), samples, draw_seed(as_generator(rng)))


class Listening:
    """Greedy under ``lt``: how many people each person adds in fixed worlds, updated as leaders are taken.

    In a world everyone listens to one person at most. Who is reached by a leader is found by going from listener to
    listener; who would reach a person, by going back.
    """

    def __init__(self, diffusion: Diffusion, samples: int, seed: int) -> None:
        self.diffusion, self.seed = diffusion, seed
        self.covered = np.zeros((samples, diffusion.network.n), dtype=np.bool_)
        back, n = diffusion.back, diffusion.network.n
        parts = in_chunks(lambda first, count: first_listeners(n, *back, seed, first, count), samples)
        self.gains: OffsetArray = np.sum(parts, axis=0)

    def take(self, person: int) -> None:
        """Make a person a leader."""
        rows = self.diffusion.forth
        cover_listeners(rows.offsets, rows.contacts, *self.diffusion.back, person, self.seed, self.covered, self.gains)


class ByThreshold:
    """Greedy under ``threshold:N``: whom each person would add to those who are active.

    One leader alone may add no one else. Of people who add as many, the one with the most contacts who are on the way
    (told by some, not by enough) comes first.
    """

    def __init__(self, diffusion: Diffusion) -> None:
        self.rows, self.number = diffusion.forth, diffusion.model.number or 0
        self.active, self.counts = np.zeros((2, diffusion.network.n), dtype=np.int32)

    def gains(self, free: BoolArray) -> OffsetArray:
        """For each free person, how many they add, and as the smaller part, how many times they tell others."""
        added, told = gains_by_threshold(
            self.rows.offsets, self.rows.contacts, free, self.number, self.active, self.counts
        )
        gains: OffsetArray = added * (len(self.rows.contacts) + 1) + told
        return gains

    def take(self, person: int) -> None:
        """Make a person a leader."""
        leader = np.array([person], dtype=np.int32)
        add_by_threshold(self.rows.offsets, self.rows.contacts, leader, self.number, self.active, self.counts)


# Kernels; tests/cascade_reference.py has the same in readable Python --------------------------------------------------


@kernel
def spread_in_steps(rows, leaders, steps, seed, first_world, reach):  # type: ignore[no-untyped-def]
    """Independent cascades of at most so many steps; the random numbers are those of the unlimited cascade."""
    offsets, contacts, probabilities, p, (power, guide, log_fail) = rows
    n = len(offsets) - 1
    active_in = np.full(n, -1, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    for i in range(len(reach)):
        base = world_state(seed, first_world + i)
        count = 0
        for leader in leaders:
            active_in[leader] = i
            queue[count] = leader
            count += 1
        head = 0
        for _ in range(steps):
            end_of_step = count
            if head == end_of_step:
                break
            while head < end_of_step:
                person = queue[head]
                head += 1
                end, state = offsets[person + 1], stream(base, person)
                edge = offsets[person] + gap(uniform(state), power, guide, log_fail)
                while edge < end:
                    live, state = is_live(edge, state + GOLDEN, probabilities, p)
                    contact = contacts[edge]
                    if live and active_in[contact] != i:
                        active_in[contact] = i
                        queue[count] = contact
                        count += 1
                    edge += 1 + gap(uniform(state), power, guide, log_fail)
        reach[i] = count


@inlined
def listens_to(base, person, offsets, sources, weights):  # type: ignore[no-untyped-def]
    """Whom a person listens to in a world, -1 if no one; ``weights`` are cumulative, or empty if all are equal."""
    begin, end = offsets[person], offsets[person + 1]
    chosen = -1
    if begin < end:
        number = uniform(stream(base, person))
        if len(weights):
            edge = begin
            while edge < end and weights[edge] < number:
                edge += 1
            chosen = sources[edge] if edge < end else -1
        else:
            chosen = sources[begin + np.int64(np.ceil(number * (end - begin))) - 1]
    return chosen


@kernel
def spread_by_listening(offsets, contacts, heard, leaders, seed, first_world, reach):  # type: ignore[no-untyped-def]
    """Cascades under the linear threshold model, from person to listener."""
    n = len(offsets) - 1
    active_in = np.full(n, -1, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    for i in range(len(reach)):
        base = world_state(seed, first_world + i)
        count = 0
        for leader in leaders:
            active_in[leader] = i
            queue[count] = leader
            count += 1
        head = 0
        while head < count:
            person = queue[head]
            head += 1
            for edge in range(offsets[person], offsets[person + 1]):
                contact = contacts[edge]
                if active_in[contact] != i:
                    number = uniform(stream(base, contact))
                    if heard[edge, 0] < number <= heard[edge, 1]:
                        active_in[contact] = i
                        queue[count] = contact
                        count += 1
        reach[i] = count


@kernel
def first_listeners(n, back, sources, weights, seed, first_world, worlds):  # type: ignore[no-untyped-def]
    """How many people each person reaches alone, summed over the worlds."""
    gains = np.zeros(n, dtype=np.int64)
    parent = np.empty(n, dtype=np.int32)
    seen = np.full(n, -1, dtype=np.int64)
    mark = 0
    for world in range(first_world, first_world + worlds):
        base = world_state(seed, world)
        for person in range(n):
            parent[person] = listens_to(base, person, back, sources, weights)
        for person in range(n):
            node = np.int32(person)
            while node >= 0 and seen[node] != mark:
                seen[node] = mark
                gains[node] += 1
                node = parent[node]
            mark += 1
    return gains


@kernel
def cover_listeners(offsets, contacts, back, sources, weights, leader, seed, covered, gains):  # type: ignore[no-untyped-def]
    """Cover whom a new leader reaches in each world, and take them from the gains of all who would reach them."""
    n = len(offsets) - 1
    queue = np.empty(n, dtype=np.int32)
    seen = np.full(n, -1, dtype=np.int64)
    mark = 0
    for world in range(len(covered)):
        if covered[world, leader]:
            continue
        base = world_state(seed, world)
        covered[world, leader] = True
        queue[0] = leader
        count, head = 1, 0
        while head < count:
            person = queue[head]
            head += 1
            node = person
            while node >= 0 and seen[node] != mark:
                seen[node] = mark
                gains[node] -= 1
                node = listens_to(base, node, back, sources, weights)
            mark += 1
            for edge in range(offsets[person], offsets[person + 1]):
                contact = contacts[edge]
                if not covered[world, contact] and listens_to(base, contact, back, sources, weights) == person:
                    covered[world, contact] = True
                    queue[count] = contact
                    count += 1


@kernel
def add_by_threshold(offsets, contacts, leaders, threshold, active, counts):  # type: ignore[no-untyped-def]
    """Activate leaders and everyone whom they and those active before make active; ``counts`` are active contacts."""
    queue = np.empty(len(active), dtype=np.int32)
    count = 0
    for leader in leaders:
        if not active[leader]:
            active[leader] = 1
            queue[count] = leader
            count += 1
    head = 0
    while head < count:
        person = queue[head]
        head += 1
        for edge in range(offsets[person], offsets[person + 1]):
            contact = contacts[edge]
            counts[contact] += 1
            if not active[contact] and counts[contact] >= threshold:
                active[contact] = 1
                queue[count] = contact
                count += 1
    return queue[:count]


@kernel
def gains_by_threshold(offsets, contacts, free, threshold, active, counts):  # type: ignore[no-untyped-def]
    """How many people each free person would activate, and how often people who stay inactive would be told."""
    added = np.full(len(active), -1, dtype=np.int64)
    told = np.zeros(len(active), dtype=np.int64)
    leader = np.empty(1, dtype=np.int32)
    for person in range(len(active)):
        if free[person]:
            leader[0] = person
            new = add_by_threshold(offsets, contacts, leader, threshold, active, counts)
            added[person] = len(new)
            for each in new:
                for edge in range(offsets[each], offsets[each + 1]):
                    told[person] += not active[contacts[edge]]
            for each in new:
                active[each] = 0
                for edge in range(offsets[each], offsets[each + 1]):
                    counts[contacts[edge]] -= 1
    return added, told
