"""Choose leaders by any method, and estimate how many people they reach."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from claim.cascades.influence import Influence, check_probability, check_samples, influence, people_in
from claim.discovery import Discovered
from claim.discovery.protocols import Limits
from claim.errors import InputError
from claim.networks import Label, Network, NetworkLike, load
from claim.randomness import Rng, as_generator
from claim.results import Tabular
from claim.selection import selectors
from claim.selection.greedy import Candidates, Chosen, Method, Task, Ties, greedy
from claim.selection.ris import ris

if TYPE_CHECKING:
    from claim.selection.foresight import Expected, FreeForesight

REPLACEMENTS = 5
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
class Selection(Tabular):
    """Leaders (indices and labels, in the order of choice) and their influence on worlds they were not chosen with.

    ``guarantee`` is the share of the best possible influence that the method proves, where it proves one. Foresight
    adds the reach to be ``expected`` on the whole network, the ``reasons`` for each leader, and ``replacements``
    (labels, best first) for leaders who decline.
    """

    leaders: list[int]
    influence: float
    stderr: float
    method: str
    guarantee: float | None = None
    labels: list[Label] = field(default_factory=list)
    expected: "Expected | None" = None
    reasons: list[list[str]] = field(default_factory=list)
    replacements: list[Label] = field(default_factory=list)

    def records(self) -> list[dict[str, Any]]:
        """One row per leader."""
        rows = [{"rank": rank, "leader": label} for rank, label in enumerate(self.labels, 1)]
        return [row | {"reasons": why} for row, why in zip(rows, self.reasons, strict=True)] if self.reasons else rows


def select(
    network: NetworkLike,
    k: int = 10,
    p: float = 0.1,
    samples: int = 1000,
    rng: Rng = 0,
    method: str = "greedy",
    *,
    may: Iterable[int | str] | None = None,
    must: Iterable[int | str] = (),
    must_not: Iterable[int | str] = (),
    ties: Ties = "random",
    surveyed: Iterable[Label] = (),
    start: Iterable[Label] = (),
    people: int | None = None,
) -> Selection:
    """Choose ``k`` leaders, or all candidates if they are fewer.

    ``may`` are the only people to choose from, ``must`` are leaders in any case, ``must_not`` in no case; all are
    indices, or labels if these are texts. ``samples`` is the number of worlds the greedy method chooses with.

    ``method`` is one of ``METHODS``, or ``foresight`` for a network that is only partly known: then ``surveyed`` and
    ``start`` are labels as for :func:`claim.advise`, and ``people`` is the number of people in all, if known.
    """
    network = load(network)
    foresight = method.partition(":")[0] == "foresight"
    if method not in METHODS and not foresight:
        raise InputError(f"there is no method {method!r}; known are {', '.join(METHODS)} and foresight")
    if network.n == 0:
        raise InputError(f"{network.name} has no people to choose from")
    check_probability(p)
    check_samples(samples)
    limits: Limits = {
        "may": None if may is None else people_in(network, may),
        "must": people_in(network, must),
        "must_not": people_in(network, must_not),
    }
    if foresight:
        from claim.advice import discovered_so_far
        from claim.selection.foresight import check_foresight, foresight_named

        check_foresight(network, method)
        seen, selector = discovered_so_far(network, surveyed, (), start), foresight_named(method, p=p, samples=samples)
        return _select_by_foresight(network, seen, selector, k, rng, limits, people)
    choosing, estimating = as_generator(rng).spawn(2)
    candidates = Candidates.of(network.n, k, **limits)
    k = min(k, len(candidates.must) + int(candidates.open_to_choice().sum()))
    if k == 0:
        return Selection([], 0.0, 0.0, method)
    chosen = METHODS[method](Task(network, candidates, k, p, samples, choosing, ties))
    reach = estimate_influence(network, chosen.leaders, p, estimating)
    labels = [network.labels[leader] for leader in chosen.leaders]
    return Selection(chosen.leaders, reach.mean, reach.stderr, method, chosen.guarantee, labels)


def estimate_influence(network: Network, leaders: Iterable[int], p: float, rng: Rng = 0) -> Influence:
    """Influence from 10,000 cascades, or fewer (at least 100) where so many would take long.

    The number follows from a first few cascades, not from a clock, so the same generator gives the same result.
    """
    leaders = list(leaders)
    pilot, full = as_generator(rng).spawn(2)
    reach = influence(network, leaders, p, PILOT_SAMPLES, pilot).mean
    samples = int(MOST_REACHED / max(reach, 1.0))
    return influence(network, leaders, p, min(max(samples, PILOT_SAMPLES), SAMPLES), full)


def _select_by_foresight(
    network: Network, seen: Discovered, selector: "FreeForesight", k: int, rng: Rng, limits: Limits, people: int | None
) -> Selection:
    """Choose leaders of a partly known network by their expected reach on the whole network of so many ``people``."""
    from claim.selection.foresight import NAME, shown_reasons

    Candidates.of(len(seen), k, **limits)  # refuses limits that only the longer list below could meet
    choosing, estimating, expecting, reasoning = as_generator(rng).spawn(4)
    ranked = selector.select(seen, k + REPLACEMENTS, choosing, **limits)
    leaders, replacements = ranked[:k], ranked[k:]
    reach = estimate_influence(network, leaders, selector.p, estimating)
    expected = selector.expect(seen, leaders, expecting)
    if people is not None:
        expected = expected.at_most(float(max(people, len(seen))))
    reasons = shown_reasons(selector.reasons(seen, leaders, reasoning, (expected.mean, len(leaders)), **limits))
    labels, waiting = ([network.labels[person] for person in group] for group in (leaders, replacements))
    texts = [[str(reason) for reason in whys] for whys in reasons]
    return Selection(leaders, reach.mean, reach.stderr, NAME, None, labels, expected, texts, waiting)
