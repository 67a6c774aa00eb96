"""Choose leaders by any method, and estimate how many people they reach."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from claim.cascades import IC, Diffusion, Influence, Model
from claim.cascades.influence import FEWEST_FOR_REGRESSION
from claim.discovery.protocols import Limits
from claim.discovery.simulation import Entry, check_entry
from claim.errors import InputError, check_number, check_whole
from claim.jobs import BackendName
from claim.networks import Label, Network, NetworkLike, load
from claim.networks.groups import Groups
from claim.networks.network import label_list
from claim.randomness import Rng, as_generator, draw_seed
from claim.registry import SelectorLike, name_of, own_object
from claim.results import Tabular
from claim.selection.fair import Fair, FairReach, choose_fairly, judge_fairly
from claim.selection.greedy import MOST_STORED, Candidates, Chosen, Task, Ties
from claim.selection.ris import ris
from claim.selection.robust import ROBUST, Belief, Judged, Robust, Search, beliefs_of, judge
from claim.selection.selectors import METHODS

if TYPE_CHECKING:
    from claim.advice import Marks
    from claim.selection.foresight import Expected
    from claim.selection.foresight.groups import ExpectedGroup

AUTO = "auto"
REPLACEMENTS = 5
SAMPLES = 10_000  # the most cascades that influence is estimated from
PILOT_SAMPLES = 100
PRECISION = 0.004  # standard error as a share of the influence; the pilot errs by about a tenth
CURVE = (1.0, 0.5, 0.0, -1.0, -2.0, -4.0, -6.0, -9.0)  # values of alpha
MOST_REACHED = 50_000_000  # people in all these cascades together: a few seconds


@dataclass(frozen=True)
class Selection(Tabular):
    """Leaders (labels, in the order of choice) and their influence on worlds they were not chosen with.

    ``guarantee`` is the share of the best possible influence that the method proves, where it proves one. Foresight
    adds the reach to be ``expected`` on the whole network, the ``reasons`` for each leader, and ``replacements``
    (labels, best first) for leaders who decline. ``fair`` is how far they reach into each group, if one was asked for.
    ``robust`` has the leaders for each belief and for all of them, judged by each; then ``influence`` is a mean over
    the beliefs.
    """

    leaders: list[Label]
    influence: float
    stderr: float
    method: str
    guarantee: float | None = None
    indices: list[int] = field(default_factory=list)  # of the leaders in the network
    expected: "Expected | None" = None
    reasons: list[list[str]] = field(default_factory=list)
    replacements: list[Label] = field(default_factory=list)
    fair: FairReach | None = None
    robust: list[Judged] = field(default_factory=list)
    expected_groups: "dict[str, ExpectedGroup]" = field(default_factory=dict)  # with foresight, if one was asked for

    def records(self) -> list[dict[str, Any]]:
        """One row per leader."""
        rows = [{"rank": rank, "leader": leader} for rank, leader in enumerate(self.leaders, 1)]
        return [row | {"reasons": why} for row, why in zip(rows, self.reasons, strict=True)] if self.reasons else rows


def select(
    network: NetworkLike,
    k: int = 10,
    p: float | Sequence[float] = 0.1,
    samples: int = 1000,
    rng: Rng = 0,
    method: SelectorLike = AUTO,
    *,
    may: Iterable[Label] | None = None,
    must: Iterable[Label] = (),
    must_not: Iterable[Label] = (),
    ties: Ties = "random",
    surveyed: Iterable[Label] = (),
    start: Iterable[Label] = (),
    people: int | None = None,
    marks: "Marks" = (),
    entry: Entry = "closed",
    group: str | None = None,
    fair: str = "none",
    model: str | Model | Sequence[str | Model] = "ic",
    robust: Robust | None = None,
    backend: BackendName = "local",
    address: str | None = None,
    workers: int | None = None,
) -> Selection:
    """Choose ``k`` leaders, or all candidates if they are fewer.

    ``may`` are the only people to choose from, ``must`` are leaders in any case, ``must_not`` in no case; all people
    are given by label. ``p`` is the probability that a message passes along a contact. ``samples`` is the number of
    worlds the greedy method chooses with, ``rng`` a seed or a generator.

    ``method`` is ``greedy``, ``ris``, ``degree``, ``degree-discount``, ``pagerank``, ``random``, or ``auto``, which is
    ``greedy`` as long as memory holds its worlds and ``ris`` beyond. For a network that is only partly known it is
    ``foresight`` or a selector of your own; then ``surveyed``, ``start``, ``marks`` and ``entry`` are those of
    :func:`claim.advise`, and ``people`` is the number of people in all.

    ``group`` is an attribute of the people (see :meth:`claim.Network.groups`) whose groups the reach is reported for.
    ``fair`` is ``none``, ``welfare:ALPHA``, ``maximin`` or ``diversity``: how the greedy method balances these groups.
    Foresight balances by welfare or maximin; it expects a reach in each group, people who are not seen included.

    ``model`` is how the message spreads, ``ic``, ``ic:steps=N``, ``lt`` or ``threshold:N`` (see
    :func:`claim.influence`), for the greedy method and for the influence that is reported.

    ``robust`` chooses for several models, values of ``p``, or both: by the ``mean`` reach, or by the ``worst`` ratio to
    what leaders chosen for that model and p alone reach.

    With ``backend="ray"`` the method ``ris`` runs on the Ray cluster at an ``address``, or on one that is started on
    this machine, with so many ``workers`` (all cores by default); the result is the same.
    """
    network, surveyed = load(network), label_list(surveyed)
    check_entry(entry)
    if entry == "open":
        network = network.with_people(surveyed)
    if network.n == 0:
        raise InputError(f"{network.name} has no people to choose from")
    check_whole(1, k=k, samples=samples)
    several = list(p) if isinstance(p, Iterable) else [p]
    for each in several:
        check_number(0, 1, probability=each)
    beliefs = beliefs_of([Model.of(each) for each in ([model] if isinstance(model, str | Model) else model)], several)
    _check_beliefs(network, beliefs, robust, method, group)
    p, spreading = beliefs[0].p, beliefs[0].model
    if method == AUTO:
        is_plain = spreading.is_plain and robust is None and group is None and fair == "none" and backend == "local"
        method = "ris" if backend == "ray" or (is_plain and _is_large(network, p, samples)) else "greedy"
    _check_backend(backend, address, workers, method)
    limits: Limits = {"must": network.indices_of(must), "must_not": network.indices_of(must_not)}
    if may is not None:
        limits["may"] = network.indices_of(may)
    candidates = Candidates.of(network.n, k, **limits)
    generator = as_generator(rng)
    choosing, estimating = generator.spawn(2)
    wanted = Fair.of(fair)
    is_foresight = name_of(method).partition(":")[0] == "foresight"
    if wanted.kind != "none" and (group is None or not (is_foresight or method == "greedy")):
        raise InputError(f"fair selection by {fair} needs a group, and the method greedy or foresight")
    if isinstance(method, str) and method in METHODS:
        if marks:
            raise InputError(f"{method} chooses by ties alone: marks are for foresight")
        k = min(k, len(candidates.must) + int(candidates.open_to_choice().sum()))
        if k == 0:
            return Selection([], 0.0, 0.0, method)
        task = Task(network, candidates, k, p, samples, choosing, ties, spreading)
        if robust is not None:
            return _robust(task, beliefs, robust, estimating)
        if not spreading.is_plain and group is not None:
            raise InputError(f"groups and the model {spreading} do not go together")
        if group is not None:
            return _balanced(task, method, network.groups(group), wanted, estimating)
        chosen = METHODS[method](task) if backend == "local" else _on_cluster(task, address, workers)
        return _evaluated(network, chosen.leaders, p, estimating, method, chosen.guarantee, spreading)
    if not spreading.is_plain:
        raise InputError(f"{name_of(method)} knows the model ic only, got {spreading}")
    if group is not None and not is_foresight:
        raise InputError(
            f"{name_of(method)} does not know groups: take greedy, foresight or a method for known networks"
        )
    from claim.advice import discovered_so_far
    from claim.selection.foresight import NAME, check_foresight, foresight_named, shown_reasons

    if is_foresight:
        check_foresight(network, name_of(method))
    seen = discovered_so_far(network, surveyed, (), start, marks=marks, entry=entry, group=group)
    own = own_object("selectors", method)
    if own is not None:
        given = {name: value for name, value in limits.items() if value or name == "may"}
        return _evaluated(network, own.select(seen, k, choosing, **given), p, estimating, name_of(method))
    if not is_foresight:
        raise InputError(f"there is no method {method!r} (known: {', '.join(METHODS)}, {NAME})")
    selector = foresight_named(str(method), p=p, samples=samples, people=people, fair=fair)
    expecting, reasoning, dividing = generator.spawn(3)
    ranked = selector.select(seen, k + REPLACEMENTS, choosing, **limits)
    leaders, waiting = ranked[:k], [network.labels[person] for person in ranked[k:]]
    expected = selector.expect(seen, leaders, expecting)
    found = selector.reasons(seen, leaders, reasoning, (expected.mean, len(leaders)), **limits)
    whys = shown_reasons(found, not expected.vague)
    reasons = [[str(reason) for reason in each] for each in whys]
    evaluated = _evaluated(network, leaders, p, estimating, NAME)
    by_group = selector.expect_groups(seen, leaders, expected, dividing)
    extra: dict[str, Any] = {"expected_groups": by_group, "reasons": reasons, "replacements": waiting}
    return replace(evaluated, expected=expected, **extra)


def fair_curve(
    network: NetworkLike, k: int = 10, p: float = 0.1, samples: int = 1000, rng: int = 0, **options: Any
) -> list[tuple[float, FairReach]]:
    """The reach of each group with ``welfare:ALPHA`` for falling values of alpha; the options are those of select."""
    network, found = load(network), []
    for alpha in CURVE:
        reach = select(network, k, p, samples, rng, fair=f"welfare:{alpha}", **options).fair
        if reach is None:
            raise InputError("fair_curve needs a group")
        found.append((alpha, reach))
    return found


def _check_beliefs(
    network: Network, beliefs: Sequence[Belief], robust: str | None, method: SelectorLike, group: str | None
) -> None:
    """Refuse several beliefs without a rule to weigh them, and what does not go with several."""
    if not beliefs:
        raise InputError("select needs at least one model and one value of p")
    if robust is None:
        if len(beliefs) > 1:
            raise InputError("several models or values of p need robust: mean or worst")
        return
    if robust not in get_args(Robust):
        raise InputError(f"robust must be {' or '.join(get_args(Robust))}, got {robust!r}")
    if method not in ("greedy", AUTO) or group is not None:
        raise InputError("robust selection is by the greedy method and knows no groups")
    if network.probabilities is not None and len({belief.p for belief in beliefs if belief.model.uses_p}) > 1:
        raise InputError(f"{network.name}: ties have probabilities of their own, and other values of p change nothing")


def _is_large(network: Network, p: float, samples: int) -> bool:
    """Whether the worlds of the greedy method do not fit into memory, or are too many cascades where ties are directed.

    Beyond that :func:`claim.selection.ris.ris` takes less time.
    """
    live = network.m * p if network.probabilities is None else float(network.probabilities.sum())
    return samples * max(2 * live, network.n * network.directed) > MOST_STORED


def _check_backend(backend: str, address: str | None, workers: int | None, method: SelectorLike) -> None:
    if backend not in get_args(BackendName):
        raise InputError(f"backend must be local or ray, got {backend!r}")
    if backend == "local" and (address is not None or workers is not None):
        raise InputError("address and workers are those of a Ray cluster: they go with the backend ray")
    if backend == "ray" and method != "ris":
        raise InputError(f"on Ray leaders are chosen by the method ris, got {name_of(method)}")
    if workers is not None:
        check_whole(1, workers=workers)


def _on_cluster(task: Task, address: str | None, workers: int | None) -> Chosen:
    """Reverse influence sampling on the workers of a Ray cluster."""
    from claim.selection.cluster import RayReverseSets

    return ris(task, holding=lambda sampler: RayReverseSets(sampler, address, workers))


def _robust(task: Task, beliefs: Sequence[Belief], by: Robust, rng: np.random.Generator) -> Selection:
    """Leaders for several beliefs, compared with leaders for each of them."""
    search, name = Search(task, beliefs), ROBUST[by]
    chosen = {str(belief): leaders for belief, (leaders, _) in zip(beliefs, search.alone, strict=True)}
    leaders = search.leaders(by)
    judged = judge(task.network, {**chosen, name: leaders}, beliefs, rng)
    reach, errors = (list(each.values()) for each in (judged[-1].reach, judged[-1].stderr))
    mean, error = float(np.mean(reach)), float(np.mean(errors))  # errors on the same worlds may be of one sign
    return Selection(judged[-1].leaders, mean, error, "greedy", indices=leaders, robust=judged)


def _balanced(task: Task, method: str, groups: Groups, fair: Fair, rng: np.random.Generator) -> Selection:
    """Leaders with their reach in each group; fair ones are compared with leaders for the plain reach."""
    chosen = METHODS[method](task)
    leaders, least = chosen.leaders, None
    if fair.kind != "none":
        leaders, least = choose_fairly(task, groups, fair)
    reach = judge_fairly(task.network, groups, task.p, leaders, chosen.leaders, rng, least)
    labels = [task.network.labels[leader] for leader in leaders]
    guarantee = chosen.guarantee if fair.kind == "none" else None
    return Selection(labels, reach.reach, reach.stderr, method, guarantee, leaders, fair=reach)


def _evaluated(
    network: Network,
    leaders: list[int],
    p: float,
    rng: Rng,
    method: str,
    guarantee: float | None = None,
    model: Model = IC,
) -> Selection:
    """The leaders with their influence on the network."""
    reach = estimate_influence(network, leaders, p, rng, model)
    labels = [network.labels[leader] for leader in leaders]
    return Selection(labels, reach.mean, reach.stderr, method, guarantee, leaders)


def estimate_influence(
    network: Network, leaders: Iterable[int], p: float, rng: Rng = 0, model: Model = IC
) -> Influence:
    """Influence with a standard error of at most 0.5 % of it, from 300 to 10,000 cascades.

    10,000 are not enough where reach differs much between cascades. Where cascades take long they are fewer, at least
    100. The number follows from a pilot, not from a clock, so the same generator gives the same result.
    """
    leaders, diffusion = list(leaders), Diffusion(network, model, p)
    pilot, full = (draw_seed(each) for each in as_generator(rng).spawn(2))
    trial = FEWEST_FOR_REGRESSION if network.n * FEWEST_FOR_REGRESSION <= MOST_REACHED else PILOT_SAMPLES
    found = diffusion.influence(leaders, trial, pilot)
    reach = max(found.mean, 1.0)
    needed = math.ceil(trial * (found.stderr / (PRECISION * reach)) ** 2)
    samples = min(max(needed, FEWEST_FOR_REGRESSION), SAMPLES, int(MOST_REACHED / reach))
    return diffusion.influence(leaders, max(samples, PILOT_SAMPLES), full)
