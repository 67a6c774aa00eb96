"""Other ways in which a message spreads: a limited number of steps, linear thresholds, and two or more contacts.

* ``ic`` is the independent cascade: everyone who is reached tries once to reach each contact, with probability p.
* ``ic:steps=N`` ends after N steps; leaders are reached at step 0.
* ``lt`` is the linear threshold model in its live-edge form (Kempe, Kleinberg and Tardos, KDD 2003): at most one
  incoming tie of each person is live, drawn by weight. The weights are the probabilities of the ties, where the network
  has them, and else 1 / in-degree; p is not used.
* ``threshold:N`` (complex contagion) activates everyone who has N active contacts; nothing is random.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from claim.cascades.influence import Influence, RowSampler, check_people, in_chunks, simulate_cascades
from claim.cascades.kernels import (
    GOLDEN,
    ONE,
    gap,
    index,
    inlined,
    is_live,
    kernel,
    mix,
    random_bits,
    stream,
    uniform,
    world_state,
)
from claim.errors import InputError, check_number, check_whole
from claim.networks import Label, Network, NetworkLike, load
from claim.networks.network import BoolArray, FloatArray, IntArray, OffsetArray
from claim.randomness import Rng, as_generator, draw_seed

BitsArray = np.ndarray[tuple[int], np.dtype[np.uint64]]
ALL_BITS = 2**53  # the different random numbers of a stream
MOST_COVERED = 2_000_000_000  # people times worlds, a byte each
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
    def uses_p(self) -> bool:
        """Whether the probability that a message passes along a contact matters."""
        return self.kind == "ic"

    @property
    def is_plain(self) -> bool:
        """Whether it is the independent cascade without a limit."""
        return self == IC

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
    def outgoing(self) -> RowSampler:
        """The outgoing ties of each person."""
        return RowSampler.of(self.network, self.p)

    @cached_property
    def incoming(self) -> tuple[OffsetArray, IntArray, FloatArray]:
        """Offsets, sources and cumulative weights of the incoming ties of each person; no weights if all are equal."""
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
                f"{self.network.name}: the weights of the ties to {who} sum up to {sums.max():.3g}; lt needs at most 1"
            )
        return rows.offsets, rows.contacts, weights

    @cached_property
    def live_ties(self) -> "LiveTies":
        """The outgoing ties of each person with the random numbers with which they are live."""
        offsets, sources, weights = self.incoming
        order = np.lexsort((np.repeat(np.arange(self.network.n), np.diff(offsets)), sources))  # of outgoing ties
        if len(weights):
            upper = weights
        else:
            count = np.repeat(np.diff(offsets), np.diff(offsets))
            upper = (np.arange(len(sources)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1) / count
        lower = np.concatenate([[0.0], upper[:-1]])[: len(upper)]
        lower[offsets[:-1][np.diff(offsets) > 0]] = 0.0
        return LiveTies.of(self.outgoing.offsets, self.outgoing.contacts, np.column_stack([lower, upper])[order])

    def reach(self, leaders: Iterable[int], samples: int, seed: int) -> IntArray:
        """The number of people reached in each of the worlds that follow from the seed."""
        check_whole(1, samples=samples)
        chosen = check_people(self.network.n, leaders)
        reach = np.full(samples, len(chosen), dtype=np.int32)
        number = self.model.number or 0
        if self.model.kind == "threshold":
            active, counts = np.zeros((2, self.network.n), dtype=np.int32)
            activate(self.outgoing.offsets, self.outgoing.contacts, chosen, number, active, counts)
            reach[:] = active.sum()
        elif self.model.kind == "lt":
            ties = self.live_ties.beside(chosen)

            def linear(first: int, count: int) -> None:
                spread_linear_threshold(ties, chosen, seed, first, reach[first : first + count])

            in_chunks(linear, samples)
        elif self.outgoing.p > 0 and len(chosen):
            rows, steps = self.outgoing, self.model.number or self.network.n

            def limited(first: int, count: int) -> None:
                spread_in_steps(rows, chosen, steps, seed, first, reach[first : first + count])

            in_chunks(limited, samples)
        return reach

    def influence(self, leaders: Iterable[int], samples: int, seed: int) -> Influence:
        """Mean reach, with its standard error; 0 for a model in which nothing is random."""
        if self.model.is_plain:
            return Influence.of(*simulate_cascades(self.network, leaders, self.p, samples, seed))
        return Influence.of(self.reach(leaders, samples, seed))


class LiveTies(NamedTuple):
    """Outgoing ties under ``lt``, without those to leaves: people who know one person only, who reaches them always.

    A tie is live if the 53 random bits of the contact are among ``width`` numbers from ``low`` on.
    """

    offsets: OffsetArray  # (n + 1,)
    contacts: IntArray  # (ties,)
    low: BitsArray  # (ties,)
    width: BitsArray  # (ties,)
    leaves: IntArray  # (n,) whom each person reaches in every world, and who reach no one else
    leads_to: IntArray  # (n,) the only contact of a leaf, -1 for other people

    @classmethod
    def of(cls, offsets: OffsetArray, contacts: IntArray, intervals: FloatArray) -> "LiveTies":
        """From the interval (low, high] of uniform numbers with which each tie is live: (ties, 2)."""
        n = len(offsets) - 1
        low, high = np.floor(intervals * ALL_BITS).astype(np.uint64).T
        sources = np.repeat(np.arange(n), np.diff(offsets))
        ties = np.diff(offsets)
        only = np.append(contacts, -1)[np.minimum(offsets[:-1], len(contacts))]  # the first contact
        certain = high - low == ALL_BITS
        certain &= (ties[contacts] == 0) | ((ties[contacts] == 1) & (only[contacts] == sources))
        leads_to = np.full(n, -1, dtype=np.int32)
        leads_to[contacts[certain]] = sources[certain]
        leaves = np.bincount(sources[certain], minlength=n).astype(np.int32)
        return cls(offsets, contacts, low, high - low, leaves, leads_to).only(~certain)

    def only(self, kept: BoolArray) -> "LiveTies":
        """The same with these ties only."""
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return self._replace(offsets=offsets, contacts=self.contacts[kept], low=self.low[kept], width=self.width[kept])

    def beside(self, leaders: IntArray) -> "LiveTies":
        """The same without the ties to leaders, who are reached already."""
        leaves, sources = self.leaves.copy(), self.leads_to[leaders]
        np.subtract.at(leaves, sources[sources >= 0], 1)
        is_leader = np.zeros(len(leaves), dtype=np.bool_)
        is_leader[leaders] = True
        return self._replace(leaves=leaves).only(~is_leader[self.contacts])


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


class LinearThresholdGains:
    """The gains of all people under ``lt``, summed over fixed worlds and updated as leaders are taken.

    In a world each person has one live incoming tie at most. Following these ties incoming from a person leads to all
    people who reach them.
    """

    def __init__(self, diffusion: Diffusion, samples: int, seed: int) -> None:
        n = diffusion.network.n
        if samples * n > MOST_COVERED:
            raise InputError(f"{diffusion.network.name} is too large for {samples} worlds of lt: take fewer samples")
        self.diffusion, self.seed = diffusion, seed
        self.covered = np.zeros((samples, n), dtype=np.bool_)
        incoming = diffusion.incoming
        parts = in_chunks(lambda first, count: first_linear_threshold_gains(n, *incoming, seed, first, count), samples)
        self.gains: OffsetArray = np.sum(parts, axis=0)

    def keys(self, free: BoolArray) -> OffsetArray:
        """What people are sorted by: their gains."""
        return self.gains

    def take(self, person: int) -> None:
        """Make a person a leader."""
        rows = self.diffusion.outgoing
        cover_linear_threshold(
            rows.offsets, rows.contacts, *self.diffusion.incoming, person, self.seed, self.covered, self.gains
        )


class ThresholdGains:
    """The gains of all people under ``threshold:N``: how many people each would activate.

    One leader alone may activate no one else. Ties between gains go to the person who gives inactive people the most
    active contacts (exposures).
    """

    def __init__(self, diffusion: Diffusion) -> None:
        self.rows, self.number = diffusion.outgoing, diffusion.model.number or 0
        self.active, self.counts = np.zeros((2, diffusion.network.n), dtype=np.int32)

    def keys(self, free: BoolArray) -> OffsetArray:
        """Sort keys of the free people: the number of people activated, then the number of exposures."""
        activated, exposures = threshold_gains(
            self.rows.offsets, self.rows.contacts, free, self.number, self.active, self.counts
        )
        keys: OffsetArray = activated * (len(self.rows.contacts) + 1) + exposures
        return keys

    def take(self, person: int) -> None:
        """Make a person a leader."""
        leader = np.array([person], dtype=np.int32)
        activate(self.rows.offsets, self.rows.contacts, leader, self.number, self.active, self.counts)


# Kernels; tests/cascade_reference.py has the same in readable Python --------------------------------------------------


@kernel
def enqueue(leaders, world, active_in, queue):  # type: ignore[no-untyped-def]
    """Begin a cascade: the leaders are active, and first in the queue; returns how many they are."""
    for i in range(len(leaders)):
        active_in[leaders[i]] = world
        queue[i] = leaders[i]
    return len(leaders)


@kernel
def spread_in_steps(rows, leaders, steps, seed, first_world, reach):  # type: ignore[no-untyped-def]
    """Independent cascades of at most so many steps; the random numbers are those of the unlimited cascade."""
    offsets, contacts, probabilities, p, (at_most, guide, log_fail), silent_below = rows
    n = len(offsets) - 1
    active_in = np.full(n, -1, dtype=np.int32)
    queue = np.empty(n + 1, dtype=np.int32)
    for i in range(len(reach)):
        base = world_state(seed, first_world + i)
        count, head = enqueue(leaders, i, active_in, queue), 0
        for _ in range(steps):
            end_of_step = count
            if head == end_of_step:
                break
            while head < end_of_step:
                person = queue[head]
                head += 1
                state = stream(base, person)
                if mix(state) < silent_below[person]:
                    continue
                edge, end = index(offsets[person]), index(offsets[person + 1])
                edge += gap(mix(state), at_most, guide, log_fail)
                while edge < end:
                    live, state = is_live(edge, state + GOLDEN, probabilities, p)
                    if live:
                        contact = index(contacts[edge])
                        queue[count] = contact
                        count += active_in[contact] != i
                        active_in[contact] = i
                    edge += ONE + gap(mix(state), at_most, guide, log_fail)
        reach[i] = count


@inlined
def live_source(base, person, offsets, sources, weights):  # type: ignore[no-untyped-def]
    """The source of a person's live incoming tie in a world, -1 if none is live; ``weights`` are cumulative."""
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
def spread_linear_threshold(ties, leaders, seed, first_world, reach):  # type: ignore[no-untyped-def]
    """Cascades under the linear threshold model.

    A person has one live incoming tie at most, and leaders have none, so that no one can be reached twice.
    """
    offsets, contacts, low, width, leaves, _ = ties
    n = len(offsets) - 1
    queue = np.empty(n + 1, dtype=np.int32)
    for i in range(len(leaders)):
        queue[i] = leaders[i]
    for i in range(len(reach)):
        base = world_state(seed, first_world + i)
        end, head, alone = len(leaders), 0, 0
        while head < end:
            person = queue[head]
            head += 1
            alone += leaves[person]
            for edge in range(index(offsets[person]), index(offsets[person + 1])):
                contact = index(contacts[edge])
                queue[end] = contact
                end += random_bits(stream(base, contact)) - low[edge] < width[edge]
        reach[i] = end + alone


@kernel
def first_linear_threshold_gains(n, incoming, sources, weights, seed, first_world, worlds):  # type: ignore[no-untyped-def]
    """How many people each person reaches alone, summed over the worlds."""
    gains = np.zeros(n, dtype=np.int64)
    parent = np.empty(n, dtype=np.int32)
    seen = np.full(n, -1, dtype=np.int64)
    mark = 0
    for world in range(first_world, first_world + worlds):
        base = world_state(seed, world)
        for person in range(n):
            parent[person] = live_source(base, person, incoming, sources, weights)
        for person in range(n):
            node = np.int32(person)
            while node >= 0 and seen[node] != mark:
                seen[node] = mark
                gains[node] += 1
                node = parent[node]
            mark += 1
    return gains


@kernel
def cover_linear_threshold(offsets, contacts, incoming, sources, weights, leader, seed, covered, gains):  # type: ignore[no-untyped-def]
    """Cover everyone whom a new leader reaches, and subtract them from the gains of all people who reach them too."""
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
                node = live_source(base, node, incoming, sources, weights)
            mark += 1
            for edge in range(offsets[person], offsets[person + 1]):
                contact = contacts[edge]
                if not covered[world, contact] and live_source(base, contact, incoming, sources, weights) == person:
                    covered[world, contact] = True
                    queue[count] = contact
                    count += 1


@kernel
def activate(offsets, contacts, leaders, threshold, active, counts):  # type: ignore[no-untyped-def]
    """Activate the leaders and everyone who then has enough active contacts (``counts``); returns the newly active."""
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
def threshold_gains(offsets, contacts, free, threshold, active, counts):  # type: ignore[no-untyped-def]
    """How many people each free person would activate, and the ties from these to people who stay inactive."""
    activated = np.full(len(active), -1, dtype=np.int64)
    exposures = np.zeros(len(active), dtype=np.int64)
    leader = np.empty(1, dtype=np.int32)
    for person in range(len(active)):
        if free[person]:
            leader[0] = person
            new = activate(offsets, contacts, leader, threshold, active, counts)
            activated[person] = len(new)
            for each in new:
                for edge in range(offsets[each], offsets[each + 1]):
                    exposures[person] += not active[contacts[edge]]
            for each in new:
                active[each] = 0
                for edge in range(offsets[each], offsets[each + 1]):
                    counts[contacts[edge]] -= 1
    return activated, exposures
