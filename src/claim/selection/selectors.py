"""Selectors by name, and the baselines: random, degree, degree discount and PageRank."""

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from claim.cascades import IC, Model
from claim.discovery import Discovered, Selector
from claim.discovery.protocols import Limits
from claim.errors import InputError
from claim.networks import Network
from claim.networks.groups import UNKNOWN, Groups
from claim.networks.network import BoolArray, FloatArray
from claim.selection.fair import Fair, choose_fairly
from claim.selection.greedy import Candidates, Chosen, Method, Task, Ties, greedy, picked_in_turn
from claim.selection.kernels import best_candidate
from claim.selection.observed import NOTHING, Observed
from claim.selection.ris import ris
from claim.selection.robust import beliefs_of, robust_greedy

DAMPING = 0.85
CLOSE_ENOUGH = 1e-9
MOST_ROUNDS = 200


@dataclass(frozen=True)
class MethodSelector:
    """One of ``METHODS`` on the seen edges: people whose other contacts are unknown count as if they had none.

    By default it is the greedy method, the paper's oracle; it alone plans for attendance, a range of p and other models
    than ``ic``.

    ``fair`` says how the greedy method balances groups, as far as they are known of at least two.
    ``attendance`` is the probability that a leader comes. With ``p_range`` leaders are chosen by the mean over these
    probabilities instead of for ``p`` alone. ``observed`` is what is known of earlier leaders.
    """

    p: float = 0.1
    samples: int = 1000
    ties: Ties = "random"
    attendance: float = 1.0
    p_range: tuple[float, ...] = ()
    model: Model = IC
    fair: str = "none"
    name: str = "greedy"
    observed: Observed = NOTHING

    def select(self, discovered: Discovered, k: int, rng: np.random.Generator, **limits: Unpack[Limits]) -> list[int]:
        """``k`` leaders as indices into what was discovered, or all candidates if they are fewer."""
        network = self.observed.left(discovered).as_network()
        candidates = Candidates.of(network.n, k, **limits)
        task = Task(network, candidates, k, self.p, self.samples, rng, self.ties, self.model)
        if self.name == "greedy" and self.fair != "none" and len(set(discovered.groups.values())) > 1:
            groups = Groups.of("group", [discovered.groups.get(person, UNKNOWN) for person in range(len(discovered))])
            return choose_fairly(task, groups, Fair.of(self.fair))[0]
        if self.name == "greedy" and (self.attendance != 1 or self.p_range):
            beliefs = beliefs_of([self.model], self.p_range or (self.p,))
            return robust_greedy(task, beliefs, self.attendance, certain=self.observed.reached)
        return METHODS[self.name](task).leaders


def selector_named(
    name: str,
    p: float = 0.1,
    *,
    family: str | None = None,
    people: float | None = None,
    model: Model = IC,
    **settings: Any,
) -> Selector:
    """The selector of that name; an unknown name raises an error that lists the known ones.

    ``settings`` are those of :class:`MethodSelector`, which foresight has, too. ``family`` is that of the network, if
    known: ``foresight:1`` takes the model fitted to it. ``people`` is the number of people, if known; only foresight
    makes use of it, and knows no other ``model`` than ``ic``.
    """
    if name in METHODS:
        return MethodSelector(p, **settings, model=model, name=name)
    if name.partition(":")[0] == "foresight":
        from claim.selection.foresight import foresight_named  # its models take time to load

        if not model.is_plain:
            raise InputError(f"{name} knows the model ic only, got {model}")
        return foresight_named(name, family, p=p, people=people, **settings)
    raise InputError(f"no selector is called {name!r} (known: {', '.join(METHODS)}, foresight)")


def random(task: Task) -> Chosen:
    """A random choice."""
    return _highest(task, np.zeros(task.network.n))


def degree(task: Task) -> Chosen:
    """Those with the most contacts (out-degree on a directed network)."""
    return _highest(task, task.network.degrees)


def pagerank(task: Task) -> Chosen:
    """Those of the highest PageRank."""
    return _highest(task, np.round(pagerank_scores(task.network), 12))  # equals differ in the last digits


def degree_discount(task: Task) -> Chosen:
    """Degree discount (Chen, Wang and Yang, "Efficient influence maximization in social networks", KDD 2009).

    A person of degree d with t chosen contacts counts d - 2t - (d - t) t p: chosen contacts are reached already, and
    they may have reached this person. On a directed network d counts who can be reached directly and t the leaders who
    reach this person directly; where edges have probabilities of their own, p is their mean.
    """
    network, priority = task.network, task.priority()
    p = task.p if network.probabilities is None or not len(network.contacts) else float(network.probabilities.mean())
    degrees = network.degrees.astype(np.float64)
    chosen_contacts = np.zeros(network.n)

    def best(free: BoolArray) -> int:
        return int(best_candidate(discounted(degrees, chosen_contacts, p), free, priority))

    def take(person: int) -> None:
        chosen_contacts[network.contacts_of(person)] += 1

    return Chosen(picked_in_turn(task.candidates, task.k, best, take))


def discounted(degrees: FloatArray, chosen_contacts: FloatArray, p: float) -> FloatArray:
    """Degrees less what chosen contacts take away."""
    return degrees - 2 * chosen_contacts - (degrees - chosen_contacts) * chosen_contacts * p


def pagerank_scores(network: Network, damping: float = DAMPING) -> FloatArray:
    """PageRank by power iteration; edges weigh their probability if they have one.

    Rank flows against the edges of a directed network, from the influenced to the influencer. People whom no one can
    influence pass their rank to all people alike.
    """
    n = network.n
    sources = np.repeat(np.arange(n), network.degrees)
    weights = np.ones(len(sources)) if network.probabilities is None else network.probabilities
    received = np.bincount(network.contacts, weights, minlength=n)
    share = np.divide(weights, received[network.contacts], out=np.zeros(len(sources)), where=weights > 0)
    rank = np.full(n, 1.0 / n)
    for _ in range(MOST_ROUNDS):
        flow = np.bincount(sources, rank[network.contacts] * share, minlength=n)
        new = (1 - damping) / n + damping * (flow + rank[received == 0].sum() / n)
        if np.abs(new - rank).sum() < CLOSE_ENOUGH:
            return new  # type: ignore[no-any-return]
        rank = new
    return rank


def _highest(task: Task, scores: npt.NDArray[np.generic]) -> Chosen:
    """The people of ``must``, then the highest scores; among equals the highest priority."""
    candidates = task.candidates
    order = np.lexsort((task.priority(), scores))[::-1]
    best = order[candidates.open_to_choice()[order]]
    return Chosen([*candidates.must, *best[: task.k - len(candidates.must)].tolist()])


METHODS: dict[str, Method] = {
    "greedy": lambda task: Chosen(greedy(task)),
    "ris": ris,
    "degree": degree,
    "degree-discount": degree_discount,
    "pagerank": pagerank,
    "random": random,
}
