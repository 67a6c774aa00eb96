"""Selectors by name: greedy, reverse influence sampling, and baselines."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from claim.discovery import Selector
from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.selection.greedy import Candidates, Chosen, Task, Ties, greedy
from claim.selection.kernels import best_candidate


class SeenNetwork(Protocol):
    """Something that can show the people and edges seen so far as a network."""

    def as_network(self) -> Network:
        """The seen people, in the order of their discovery, and the seen edges."""
        ...


@dataclass(frozen=True)
class GreedySelector:
    """The paper's oracle on the seen edges: people whose other contacts are unknown count as if they had none.

    ``attendance`` is the chance that a leader comes. With ``p_range`` leaders are chosen by the mean over these
    probabilities instead of for ``p`` alone.
    """

    name: ClassVar[str] = "greedy"
    p: float = 0.1
    samples: int = 1000
    ties: Ties = "random"
    attendance: float = 1.0
    p_range: tuple[float, ...] = ()

    def select(
        self,
        discovered: SeenNetwork,
        k: int,
        rng: np.random.Generator,
        *,
        may: Iterable[int] | None = None,
        must: Iterable[int] = (),
        must_not: Iterable[int] = (),
    ) -> list[int]:
        """``k`` leaders as indices into what was discovered, or all who can be chosen if they are fewer."""
        network = discovered.as_network()
        candidates = Candidates.of(network.n, k, may, must, must_not)
        if self.attendance == 1 and not self.p_range:
            return greedy(network, candidates, k, self.p, self.samples, rng, self.ties)
        from claim.selection.robust import hedged_greedy  # it shares kernels with foresight, which takes time to load

        chances = self.p_range or (self.p,)
        return hedged_greedy(network, candidates, k, chances, self.attendance, self.samples, rng, self.ties)


def selector_named(
    name: str,
    p: float = 0.1,
    samples: int = 1000,
    ties: Ties = "random",
    family: str | None = None,
    attendance: float = 1.0,
    p_range: tuple[float, ...] = (),
) -> Selector:
    """The selector of that name, or an error that lists the names there are.

    ``family`` is that of the network, where it is known: plain ``foresight`` takes the model made for it.
    ``attendance`` and ``p_range`` are what it is told of leaders who do not come and of an unknown p.
    """
    if name == "greedy":
        return GreedySelector(p, samples, ties, attendance, p_range)
    if name.partition(":")[0] == "foresight":
        from claim.selection.foresight import foresight_named  # only whoever asks for it loads its models

        return foresight_named(name, p, samples, ties, family, attendance, p_range)
    raise InputError(f"no selector is called {name!r} (known: greedy, foresight)")


DAMPING = 0.85
CLOSE_ENOUGH = 1e-9
MOST_ROUNDS = 200


def random(task: Task) -> Chosen:
    """Anybody."""
    return _highest(task, np.zeros(task.network.n))


def degree(task: Task) -> Chosen:
    """Those with the most contacts (out-degree on a directed network)."""
    return _highest(task, task.network.degrees)


def pagerank(task: Task) -> Chosen:
    """Those of the highest PageRank."""
    return _highest(task, np.round(pagerank_scores(task.network), 12))  # equals differ in the last digits


def degree_discount(task: Task) -> Chosen:
    """Degree discount (Chen, Wang and Yang, "Efficient influence maximization in social networks", KDD 2009).

    Somebody of degree d with t chosen contacts counts d - 2t - (d - t) t p: chosen contacts are reached already, and
    they may have reached this person. On a directed network d counts who can be reached directly and t the leaders who
    reach this person directly; where edges have probabilities of their own, p is their mean.
    """
    network, k = task.network, task.k
    p = task.p if network.probabilities is None or not len(network.contacts) else float(network.probabilities.mean())
    degrees = network.degrees.astype(np.float64)
    chosen_contacts = np.zeros(network.n)
    priority, free = task.priority(), task.candidates.open_to_choice()
    leaders: list[int] = []
    while len(leaders) < k:
        if len(leaders) < len(task.candidates.must):
            person = task.candidates.must[len(leaders)]
        else:
            person = int(best_candidate(discounted(degrees, chosen_contacts, p), free, priority))
        if person < 0:
            break
        leaders.append(person)
        free[person] = False
        chosen_contacts[network.contacts_of(person)] += 1
    return Chosen(leaders)


def discounted(degrees: FloatArray, chosen_contacts: FloatArray, p: float) -> FloatArray:
    """Degrees less what chosen contacts take away."""
    return degrees - 2 * chosen_contacts - (degrees - chosen_contacts) * chosen_contacts * p


def pagerank_scores(network: Network, damping: float = DAMPING) -> FloatArray:
    """PageRank by power iteration; edges weigh their probability if they have one.

    Rank flows against the edges of a directed network, from the influenced to the influencer. Whoever nobody can
    influence hands their rank to everybody alike.
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
    """Those who must be leaders, then the highest scores; among equals the highest priority."""
    candidates = task.candidates
    order = np.lexsort((task.priority(), scores))[::-1]
    best = order[candidates.open_to_choice()[order]]
    return Chosen([*candidates.must, *best[: task.k - len(candidates.must)].tolist()])
