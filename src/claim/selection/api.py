"""Choose leaders by any method, and estimate how many people they reach."""

from collections.abc import Iterable
from dataclasses import dataclass

from claim.cascades.influence import Influence, check_probability, check_samples, influence
from claim.errors import InputError
from claim.networks import Network
from claim.randomness import Rng, as_generator
from claim.selection import selectors
from claim.selection.greedy import Candidates, Chosen, Method, Task, Ties, greedy
from claim.selection.ris import ris

SAMPLES = 10_000  # cascades that influence is estimated from
PILOT_SAMPLES = 100
MOST_REACHED = 50_000_000  # people in all these cascades together: a few seconds

METHODS: dict[str, Method] = {
    "greedy": lambda task: Chosen(greedy(task)),
    "ris": ris,
    "degree": selectors.degree,
    "degree-discount": selectors.degree_discount,
    "pagerank": selectors.pagerank,
    "random": selectors.random,
}


@dataclass(frozen=True)
class Selection:
    """Leaders (indices, in the order of choice) and their influence on worlds they were not chosen with.

    ``guarantee`` is the share of the best possible influence that the method proves, where it proves one.
    """

    leaders: list[int]
    influence: float
    stderr: float
    method: str
    guarantee: float | None = None


def select(
    network: Network,
    k: int = 10,
    p: float = 0.1,
    samples: int = 1000,
    rng: Rng = 0,
    method: str = "greedy",
    *,
    may: Iterable[int] | None = None,
    must: Iterable[int] = (),
    must_not: Iterable[int] = (),
    ties: Ties = "random",
) -> Selection:
    """Choose ``k`` leaders, or all candidates if they are fewer.

    ``may`` are the only people to choose from, ``must`` are leaders in any case, ``must_not`` in no case; all are
    indices. ``samples`` is the number of worlds the greedy method chooses with.
    """
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}; known are {', '.join(METHODS)}")
    if network.n == 0:
        raise InputError(f"{network.name} has no people to choose from")
    check_probability(p)
    check_samples(samples)
    choosing, estimating = as_generator(rng).spawn(2)
    candidates = Candidates.of(network.n, k, may, must, must_not)
    k = min(k, len(candidates.must) + int(candidates.open_to_choice().sum()))
    if k == 0:
        return Selection([], 0.0, 0.0, method)
    chosen = METHODS[method](Task(network, candidates, k, p, samples, choosing, ties))
    reach = estimate_influence(network, chosen.leaders, p, estimating)
    return Selection(chosen.leaders, reach.mean, reach.stderr, method, chosen.guarantee)


def estimate_influence(network: Network, leaders: Iterable[int], p: float, rng: Rng = 0) -> Influence:
    """Influence from 10,000 cascades, or fewer (at least 100) where so many would take long.

    The number follows from a first few cascades, not from a clock, so the same generator gives the same result.
    """
    leaders = list(leaders)
    pilot, full = as_generator(rng).spawn(2)
    reach = influence(network, leaders, p, PILOT_SAMPLES, pilot).mean
    samples = int(MOST_REACHED / max(reach, 1.0))
    return influence(network, leaders, p, min(max(samples, PILOT_SAMPLES), SAMPLES), full)
