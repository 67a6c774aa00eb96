"""One run: a study from a start set to the reach of its leaders."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from claim.cascades import IC, Diffusion, EdgeSampler, Worlds
from claim.cascades.influence import check_people
from claim.discovery import (
    Discovered,
    Frame,
    Policy,
    Selector,
    Simulation,
    at_checkpoints,
    draws_own_start,
    surveys,
)
from claim.discovery.policies.simple import Clairvoyant
from claim.discovery.simulation import BUDGET, BudgetUnit, Entry, check_entry
from claim.errors import InputError, check_number, check_whole
from claim.networks import Network
from claim.networks.catalogue import PUBLIC_NETWORKS, family_of
from claim.randomness import named_seed
from claim.registry import PolicyLike, SelectorLike, find_policy, find_selector, name_of, own_object
from claim.selection import Candidates, select
from claim.selection.greedy import Task, robust_greedy

ProtocolName = Literal["field", "paper"]
Population = Literal["unknown", "known"]
OWN = "own"  # the selector of a policy that chooses its leaders itself


ORACLE: dict[ProtocolName, dict[str, Any]] = {  # how a protocol runs the selector
    "field": {"samples": 1000, "ties": "random"},
    "paper": {"samples": 100, "ties": "first"},
}


def check_protocol(name: str) -> ProtocolName:
    """The name of a protocol, or an error that lists them."""
    if name not in ORACLE:
        raise InputError(f"no protocol is called {name!r} (known: {', '.join(ORACLE)})")
    return name


def choose_leaders(
    protocol: ProtocolName, simulation: Simulation, selector: Selector, k: int, rng: np.random.Generator
) -> list[int]:
    """The leaders, by the network's own indices."""
    if protocol == "field":
        offered, people = simulation.discovered, simulation.people
    else:
        offered, people = offer_all_people(simulation, k)
    if not people:
        return []
    return [people[leader] for leader in selector.select(offered, min(k, len(offered)), rng)]


def offer_all_people(simulation: Simulation, k: int) -> tuple[Discovered, list[int]]:
    """The discovered people and undiscovered people, in the network's order, and their indices.

    Undiscovered people differ by their ids only, and ties go to the smallest id: at most the first ``k`` of them can be
    chosen, so only those are offered.
    """
    known = set(simulation.people)
    undiscovered = (who for who in range(simulation.network.n) if who not in known)
    people = sorted([*known, *(who for _, who in zip(range(k), undiscovered, strict=False))])
    place = {who: i for i, who in enumerate(people)}
    seen, offered = simulation.discovered, Discovered()
    new_index = [place[who] for who in simulation.people]
    for _ in people:
        offered.add_person()
    for one, other in zip(*(ends.tolist() for ends in seen.ties()), strict=True):
        offered.add_tie(new_index[one], new_index[other])
    for person in seen.surveyed:
        record = offered.record_start if person in seen.start else offered.record_survey
        record(new_index[person])
    for person in seen.refused:
        offered.record_refusal(new_index[person])
    return offered, people


Starts = Literal["published", "fresh"]


def draw_start_sets(network: Network, runs: int, size: int, seed: int, starts: Starts | None = None) -> list[list[int]]:
    """One start set per run: by default the published ones where they exist."""
    if starts not in (None, *get_args(Starts)):
        raise InputError(f"start sets are {' or '.join(get_args(Starts))}, not {starts!r}")
    published = published_start_seed(network)
    if starts == "published" and published is None:
        raise InputError(f"no start sets are published for {network.name}: use fresh ones")
    if published is not None and starts != "fresh":
        draws = np.random.RandomState(published)  # with replacement, as published; people drawn twice count once
        return [list(dict.fromkeys(draws.choice(network.n, size).tolist())) for _ in range(runs)]
    rng = np.random.default_rng(named_seed(seed, "start sets"))
    return [rng.choice(network.n, min(size, network.n), replace=False).tolist() for _ in range(runs)]


def published_start_seed(network: Network) -> int | None:
    """The seed of a network's published start sets; known by its structure, whatever file it came from."""
    return next((known.start_seed for known in PUBLIC_NETWORKS if known.checksum == network.checksum), None)


OPTIMUM_SAMPLES = 4000  # worlds OPT is chosen with: fewer leave people on the table in small networks
MOST_STORED = 40_000_000  # memberships kept in memory; beyond that, the same cascades are simulated
ATTENDANCE_DRAWS = 200  # of who attends, where cascades are simulated; stored worlds need none


class ReachEvaluator:
    """Estimates the reach of all leader sets on the same worlds, which no selector has seen.

    Each leader attends with probability ``attendance``; the reach is the mean over who attends. With ``keep`` the
    worlds are stored, which pays off for many leader sets.
    """

    def __init__(
        self, network: Network, p: float, samples: int, seed: int, attendance: float = 1.0, keep: bool = True
    ) -> None:
        self.network, self.p, self.samples, self.seed, self.attendance = network, p, samples, seed, attendance
        self._worlds: Worlds | None = None
        if keep and not network.directed:
            edges = EdgeSampler.of(network, p)
            if 2 * edges.expected_live * samples <= MOST_STORED:
                self._worlds = Worlds.draw(edges, p, samples, seed)

    def influence(self, leaders: Iterable[int]) -> float:
        """The mean number of people reached."""
        if self._worlds is not None:
            if self.attendance < 1:
                return mean_over_attendance(self._worlds, leaders, self.attendance)
            return self._worlds.influence(leaders).mean
        draws = ATTENDANCE_DRAWS if self.attendance < 1 else 1
        comes = {who: np.random.default_rng((self.seed, who)).random(draws) for who in leaders}
        samples, reached = max(self.samples // draws, 1), 0.0
        for draw in range(draws):
            there = [who for who, chance in comes.items() if chance[draw] < self.attendance]
            reached += Diffusion(self.network, IC, self.p).reach(there, samples, self.seed ^ draw).mean()
        return float(reached / draws)

    def optimum(self, k: int, rng: np.random.Generator) -> float:
        """OPT: the reach of the greedy oracle on the whole network."""
        if self.attendance < 1 and self._worlds is not None:
            task = Task(self.network, Candidates.of(self.network.n, k), k, self.p, OPTIMUM_SAMPLES, rng)
            return self.influence(robust_greedy(task, (self.p,), self.attendance))
        return self.influence(select(self.network, k, self.p, OPTIMUM_SAMPLES, rng).indices)


def mean_over_attendance(worlds: Worlds, leaders: Iterable[int], attendance: float) -> float:
    """The mean reach when every leader attends with the same probability, exact in each world.

    A component with j leaders in it is reached unless all j are absent.
    """
    chosen = check_people(worlds.n, leaders).tolist()
    offsets = worlds.member_offsets
    parts = [worlds.member_numbers[offsets[who] : offsets[who + 1]] for who in chosen]
    numbers = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    components, leading = np.unique(numbers, return_counts=True)
    people = worlds.starts[components + 1] - worlds.starts[components]
    alone = len(chosen) * worlds.samples - len(numbers)
    reached = (people * (1.0 - (1.0 - attendance) ** leading)).sum() + attendance * alone
    return float(reached / worlds.samples)


@lru_cache(maxsize=2)  # jobs come network by network, and each evaluator holds tens of megabytes
def evaluator_for(network: Network, p: float, samples: int, seed: int, attendance: float = 1.0) -> ReachEvaluator:
    """The evaluator of a network, kept for the next job of the same process."""
    return ReachEvaluator(network, p, samples, seed, attendance)


EVALUATION_SAMPLES = 10_000
SLICES = 5  # values of p that represent a range for selectors


@dataclass(frozen=True)
class StudySettings:
    """The settings of simulated studies, the same for all methods that are compared.

    Field conditions: each leader attends with probability ``attendance``; the p of a run is drawn evenly from
    ``p_range``; a person who is surveyed names each contact with probability ``report_rate``. Selectors know the
    attendance and the range of p unless ``selector_informed`` is False.

    An ``open`` study begins with no person known, its budget counts all interviews, and new people are met as the
    ``frame`` says. ``hub_question`` is the noise of the answer who of the contacts knows the most people; None: the
    question is not asked.
    """

    seed: int
    budget: int = BUDGET  # surveys
    start_size: int = 5  # people known at the beginning
    leaders: int = 10
    p: float = 0.1
    per_round: int = 1  # surveys chosen together
    refusal: float = 0.0
    unit: BudgetUnit = "attempts"
    attendance: float = 1.0
    p_range: tuple[float, float] | None = None
    report_rate: float = 1.0
    selector_informed: bool = True
    entry: Entry = "closed"
    frame: str = "uniform"  # or degree:A, or share:S
    hub_question: float | None = None
    population: Population = "unknown"  # whether selectors are given the number of people

    def __post_init__(self) -> None:
        check_whole(1, start_size=self.start_size, leaders=self.leaders, per_round=self.per_round)
        check_whole(budget=self.budget, seed=self.seed)
        if self.unit not in get_args(BudgetUnit):
            raise InputError(f"unit must be {' or '.join(get_args(BudgetUnit))}, got {self.unit!r}")
        check_entry(self.entry, self.frame)
        if self.hub_question is not None:
            check_number(hub_question=self.hub_question)
        if self.population not in get_args(Population):
            raise InputError(f"population must be {' or '.join(get_args(Population))}, got {self.population!r}")
        check_number(0, 1, p=self.p, refusal=self.refusal)
        check_number(0, 1, above=True, attendance=self.attendance, report_rate=self.report_rate)
        if self.p_range is not None:
            ends = tuple(map(float, self.p_range))
            if len(ends) != 2 or not 0 <= ends[0] <= ends[1] <= 1:
                given = ",".join(map(str, self.p_range))
                raise InputError(f"p_range must be two numbers between 0 and 1, the smaller first, got {given}")
            object.__setattr__(self, "p_range", ends)

    def true_p(self, run: int) -> float:
        """The probability that a message passes along a contact in a run; hidden from policies and selectors."""
        if self.p_range is None:
            return self.p
        return float(np.random.default_rng(named_seed(self.seed, "p", run)).uniform(*self.p_range))

    def chances(self) -> tuple[float, ...]:
        """Evenly spread values that stand for the range of p: the middles of equal slices; none without a range."""
        if self.p_range is None:
            return ()
        return tuple(np.linspace(*self.p_range, 2 * SLICES + 1)[1::2].tolist())

    def recorded(self) -> dict[str, Any]:
        """The settings for the manifest; field conditions only where they differ from the default."""
        usual: dict[str, Any] = {"attendance": 1.0, "p_range": None, "report_rate": 1.0, "selector_informed": True}
        usual |= {"entry": "closed", "frame": "uniform", "hub_question": None, "population": "unknown"}
        return {name: value for name, value in asdict(self).items() if name not in usual or value != usual[name]}


@dataclass(frozen=True)
class Method:
    """A policy, a selector and the protocol they are evaluated by; policy and selector are names or objects."""

    policy: PolicyLike
    selector: SelectorLike
    protocol: ProtocolName

    @property
    def names(self) -> tuple[str, str, ProtocolName]:
        """Policy, selector and protocol as they are called in tables."""
        return name_of(self.policy), name_of(self.selector), self.protocol

    def with_objects(self) -> "Method":
        """The same with your own policy and selector as objects: worker processes know no names of yours."""
        policy = own_object("policies", self.policy) or self.policy
        selector = own_object("selectors", self.selector) or self.selector
        return Method(policy, selector, self.protocol)


@dataclass(frozen=True)
class StudyResult:
    """How far the leaders reached, how many people were discovered, and the leaders by the network's indices.

    ``new`` is the number of people who were interviewed as new people, or known at the outset.
    """

    influence: float
    discovered: int
    leaders: tuple[int, ...]
    new: int


def run_studies(
    network: Network,
    method: Method,
    settings: StudySettings,
    starts: Iterable[tuple[int, list[int]]],
    checkpoints: Sequence[int],
) -> Iterator[tuple[Simulation, list[StudyResult]]]:
    """Run one study per numbered start set: start, surveys, leaders, reach.

    Yields each study as it ended, with its outcomes at the checkpoints (numbers of surveys, ascending).
    """
    policy = find_policy(method.policy, family_of(network), settings.budget, settings.p)
    selector = None if method.selector == OWN else selector_for(method, network, settings)
    for run, start in starts:
        evaluator, outcomes = evaluator_of_run(network, settings, run), []
        fresh = copy.deepcopy(policy)  # what a policy remembers of one study must not reach the next
        simulation, seeing = simulate(network, fresh, settings, run, start)
        stream = getattr(policy, "stream", name_of(policy))
        rng = np.random.default_rng(named_seed(settings.seed, "policy", stream, run))
        study = surveys(simulation, seeing, checkpoints[-1], rng, settings.per_round, settings.unit)
        for _ in at_checkpoints(study, checkpoints):
            choosing = selector_rng(settings, run)
            choice: Any = fresh if selector is None else selector
            leaders = choose_leaders(method.protocol, simulation, choice, settings.leaders, choosing)
            counts = len(simulation.discovered), tuple(leaders), len(simulation.discovered.start)
            outcomes.append(StudyResult(evaluator.influence(leaders), *counts))
        yield simulation, outcomes


def selector_for(method: Method, network: Network, settings: StudySettings) -> Selector:
    """Build the selector with the settings it is allowed to see."""
    given = {"p": settings.p, **ORACLE[method.protocol]}
    if settings.selector_informed:
        given |= {"attendance": settings.attendance, "p_range": settings.chances()}
    if settings.population == "known":
        given["people"] = network.n
    return find_selector(method.selector, family=family_of(network), **given)


def evaluator_of_run(network: Network, settings: StudySettings, run: int) -> ReachEvaluator:
    """The evaluator of a network, or of a single run where p differs from run to run."""
    given = (network, settings.true_p(run), EVALUATION_SAMPLES, evaluation_seed(settings.seed), settings.attendance)
    return evaluator_for(*given) if settings.p_range is None else ReachEvaluator(*given, keep=False)


def evaluation_seed(seed: int) -> int:
    """The seed of the worlds in which all methods are evaluated."""
    return int(named_seed(seed, "referee").generate_state(1, np.uint64)[0] >> np.uint64(1))


def simulate(
    network: Network, policy: Policy, settings: StudySettings, run: int, start: list[int]
) -> tuple[Simulation, Policy]:
    """The study of one run before its first survey, and the policy; a clairvoyant one is shown the true degrees."""
    rng = np.random.default_rng(named_seed(settings.seed, "answers", run))
    if draws_own_start(policy):
        start = rng.choice(network.n, min(len(start), network.n), replace=False).tolist()
    frame = Frame.parse(settings.frame) if settings.entry == "open" else None
    simulation = Simulation(network, start, rng, settings.refusal, settings.report_rate, frame, settings.hub_question)
    if isinstance(policy, Clairvoyant):
        policy = Clairvoyant(simulation.true_degree)
    return simulation, policy


def selector_rng(settings: StudySettings, run: int) -> np.random.Generator:
    """The random numbers of a run's selector, the same for every policy.

    So two policies that discover the same network choose the same leaders.
    """
    return np.random.default_rng(named_seed(settings.seed, "selector", run))
