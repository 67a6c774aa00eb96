"""Selectors choose leaders from what was discovered, and see nothing else."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from claim.discovery import Selector
from claim.errors import InputError
from claim.networks import Network
from claim.selection.candidates import Candidates, Ties
from claim.selection.greedy import greedy


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
        from claim.selection.hedged import hedged_greedy  # it shares kernels with foresight, which takes time to load

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
