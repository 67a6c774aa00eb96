"""How many surveys are worth their cost: the expected reach by number of surveys, from simulated studies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from claim.advice import check_survey_policy, discovered_so_far
from claim.cascades.influence import influence_of
from claim.discovery import Discovered, Policy, Selector, Simulation, at_checkpoints, surveys
from claim.errors import InputError, check_number, check_settings, check_whole
from claim.evaluation.statistics import standard_error
from claim.fitting.random_graphs import look_alike
from claim.networks import Label, Network, NetworkLike, load
from claim.networks.network import FloatArray, OffsetArray
from claim.randomness import named_seed
from claim.registry import DEFAULT, PolicyLike, SelectorLike, adviser, find_policy, find_selector, name_of
from claim.results import Tabular
from claim.selection.foresight import FreeForesight, check_foresight
from claim.selection.foresight.selection_state import SeenNetwork, closure

Progress = Callable[[int, int], None]  # studies done, studies in all

# The generators of random networks of each kind, which take turns
KINDS = {"stars": ("retweet",), "clustered": ("animal",), "unknown": ("retweet", "animal")}
EVALUATION_WORLDS = 1000
SELECTION_WORLDS = 300
NINE_IN_TEN = (0.05, 0.95)
MOST_PEOPLE = 100_000  # in all simulated networks together; beyond that several studies share one
FEWEST_NETWORKS = 10


@dataclass(frozen=True)
class PlanSettings:
    """How the simulated studies are run; validated on creation."""

    leaders: int = 10
    p: float = 0.1  # probability that a message passes along a contact
    policy: PolicyLike = DEFAULT
    selector: SelectorLike = "foresight:free"
    surveys: Sequence[int] = (0, 5, 10, 15, 20, 30, 40, 50)  # the numbers of surveys to compare, ascending
    studies: int = 100
    seed: int = 0
    worth: float = 0.2  # people that a survey must add to be worth its cost

    def __post_init__(self) -> None:
        check_number(0, 1, probability=self.p)
        check_whole(1, leaders=self.leaders)
        check_whole(2, studies=self.studies)
        check_whole(seed=self.seed)
        check_number(above=True, worth=self.worth)
        numbers = list(self.surveys) if isinstance(self.surveys, Sequence) else []
        if not numbers or min(numbers) < 0 or numbers != sorted(set(numbers)):
            problem = "numbers of surveys must be ascending whole numbers from 0, such as [0, 5, 10]"
            raise InputError(f"{problem}; got {self.surveys}")
        check_survey_policy(self.policy)
        find_selector(self.selector)


@dataclass(frozen=True)
class Point:
    """The outcome of a number of surveys: people reached (mean and range of nine in ten studies), and discovered.

    ``gain`` is the number of people that each survey since the previous point adds; None for the first point.
    """

    surveys: int
    mean: float
    stderr: float
    low: float
    high: float
    discovered: float
    gain: float | None = None
    gain_stderr: float | None = None


@dataclass(frozen=True)
class Plan(Tabular):
    """The expected reach at each number of surveys; ``basis`` is what the plan was made from."""

    settings: PlanSettings
    points: list[Point]
    basis: dict[str, Any]

    def records(self) -> list[dict[str, Any]]:
        """One row for each number of surveys."""
        return [asdict(point) for point in self.points]

    @property
    def enough(self) -> int | None:
        """The number of surveys after which each further one adds less than ``worth`` people; None if there is none."""
        paying = [point for point in self.points if point.gain is not None and point.gain >= self.settings.worth]
        last = paying[-1] if paying else self.points[0]
        return None if last is self.points[-1] else last.surveys

    @property
    def advice(self) -> str:
        """A recommendation of one or two sentences."""
        if len(self.points) < 2:
            return "One number of surveys does not show what further surveys add."
        begin = f"Even after {self.points[-1].surveys} surveys a survey adds {self.settings.worth:g} people or more."
        if self.enough is not None:
            begin = f"After {self.enough} surveys each further survey adds less than {self.settings.worth:g} people."
        here = next((point for point in self.points if point.surveys == self.enough), self.points[-1])
        span = f"between {here.low:.0f} and {here.high:.0f} in nine of ten studies"
        return f"{begin} Expect to reach about {here.mean:.0f} people then, {span}."

    def to_dict(self) -> dict[str, Any]:
        """The data that ``claim plan --json`` writes."""
        settings = vars(self.settings) | {"surveys": list(self.settings.surveys)}
        settings |= {"policy": name_of(self.settings.policy), "selector": name_of(self.settings.selector)}
        verdict = {"worth": settings.pop("worth"), "enough": self.enough, "advice": self.advice}
        return {**self.basis, "settings": settings, "points": self.records(), **verdict}


def plan(
    people: int,
    mean_degree: float | None = None,
    kind: str | None = None,
    start_size: int = 5,
    *,
    known: NetworkLike | Discovered | None = None,
    surveyed: Sequence[Label] = (),
    refused: Sequence[Label] = (),
    start: Sequence[Label] = (),
    settings: PlanSettings | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> Plan:
    """Estimate the reach of the leaders by number of surveys, for a network of so many ``people``.

    Without ``known`` ties, studies that begin with ``start_size`` people are simulated on random networks of a ``kind``
    and ``mean_degree``. With them, the plan is for further surveys: ``known``, ``surveyed``, ``refused`` and ``start``
    are those of :func:`claim.advise`, or ``known`` is a discovered network. Settings are given as an object or by
    keyword, such as ``leaders=20``.
    """
    check_settings("plan", PlanSettings, changes)
    settings = replace(settings or PlanSettings(), **changes)
    check_whole(1, people=people, start_size=start_size)
    if mean_degree is not None and not 0 < mean_degree < people:
        raise InputError(f"the mean degree must be above 0 and below the number of people, got {mean_degree}")
    used, note = adviser(settings.policy, None, settings.surveys[-1])
    settings = replace(settings, policy=used)
    basis: dict[str, Any] = {"people": people, "mean_degree": mean_degree, **({"note": note} if note else {})}
    if known is None:
        if mean_degree is None:
            raise InputError("a plan without known ties needs the mean degree, at least roughly")
        if surveyed or refused or start:
            raise InputError("a plan without known ties takes no lists of people: surveyed, refused or start")
        basis |= {"kind": kind or "unknown", "start": start_size}
        studies = _new_studies(people, mean_degree, kind or "unknown", start_size, settings)
        return Plan(settings, _points(studies, settings, progress), basis)
    if kind is not None:
        raise InputError(f"a kind of network is for plans without known ties, got {kind}")
    if not isinstance(known, Discovered):
        known = load(known)
        check_foresight(known, "a plan")
        known = discovered_so_far(known, surveyed, refused, start, _policy(settings))
    basis |= {"known": len(known), "start": len(known.start)}
    basis |= {"surveyed": len(known.surveyed), "refused": len(known.refused)}
    return Plan(settings, _further_points(known, people, mean_degree, settings, progress), basis)


def _policy(settings: PlanSettings) -> Policy:
    """Load the policy; a shipped one is that of the budget nearest to the largest number of surveys."""
    return find_policy(settings.policy, None, settings.surveys[-1])


def _selector(settings: PlanSettings) -> Selector:
    return find_selector(settings.selector, p=settings.p, samples=SELECTION_WORLDS)


def _rng(settings: PlanSettings, purpose: str, number: int) -> np.random.Generator:
    return np.random.default_rng(named_seed(settings.seed, purpose, number))


def _new_studies(
    people: int, mean_degree: float, kind: str, start: int, settings: PlanSettings
) -> Iterator[Simulation]:
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {kind}")
    networks = min(max(MOST_PEOPLE // people, FEWEST_NETWORKS), settings.studies)
    for number in range(networks):
        rng = _rng(settings, "network", number)
        network = look_alike(KINDS[kind], number, rng, people=people, mean_degree=mean_degree)
        for study in range(number, settings.studies, networks):
            rng = _rng(settings, "study", study)
            yield Simulation(network, rng.choice(people, min(start, people), replace=False), rng)


def _points(studies: Iterator[Simulation], settings: PlanSettings, progress: Progress | None) -> list[Point]:
    """Run the studies; average the people reached and discovered at each number of surveys."""
    policy, selector = _policy(settings), _selector(settings)
    curves = []
    for number, simulation in enumerate(studies):
        curves.append(reach_curve(simulation, policy, selector, settings, _rng(settings, "surveys", number)))
        if progress is not None:
            progress(number + 1, settings.studies)
    reach, discovered = (np.array(each, dtype=float).T for each in zip(*curves, strict=True))  # (surveys, studies)
    points: list[Point] = []
    for i, number in enumerate(settings.surveys):
        low, high = np.quantile(reach[i], NINE_IN_TEN)
        gain = gain_error = None
        if i:
            gains = (reach[i] - reach[i - 1]) / (number - settings.surveys[i - 1])
            gain, gain_error = float(gains.mean()), standard_error(gains)
        mean, error, people = float(reach[i].mean()), standard_error(reach[i]), float(discovered[i].mean())
        points.append(Point(number, mean, error, float(low), float(high), people, gain, gain_error))
    return points


def reach_curve(
    simulation: Simulation, policy: Policy, selector: Selector, settings: PlanSettings, rng: np.random.Generator
) -> tuple[list[float], list[int]]:
    """Simulate one study; returns the people reached and discovered at each number of surveys."""
    reach, discovered = [], []
    for _ in at_checkpoints(surveys(simulation, policy, settings.surveys[-1], rng), settings.surveys):
        seen = simulation.discovered
        chosen = selector.select(seen, min(settings.leaders, len(seen)), rng)
        leaders = [simulation.people[who] for who in chosen]
        reach.append(influence_of(simulation.network, leaders, settings.p, EVALUATION_WORLDS, rng).mean)
        discovered.append(len(seen))
    return reach, discovered


def _further_points(
    seen: Discovered, people: int, mean_degree: float | None, settings: PlanSettings, progress: Progress | None
) -> list[Point]:
    """Scale the reach that foresight expects of leaders chosen now by the growth in simulated further surveys."""
    if not seen.surveyed:
        raise InputError("a plan with known ties needs people who were surveyed; without any, plan without the ties")
    from_now = replace(settings, surveys=sorted({0, *settings.surveys}))
    randoms = (_rng(settings, "study", study) for study in range(settings.studies))
    studies = (Simulation.under_way(completed(seen, people, mean_degree, rng), seen, rng) for rng in randoms)
    simulated = _points(studies, from_now, progress)
    rng = _rng(settings, "now", 0)
    leaders = _selector(settings).select(seen, min(settings.leaders, len(seen)), rng)
    now = FreeForesight(settings.p).expect(seen, leaders, rng).at_most(people)
    base, level = simulated[0].mean, now.mean / simulated[0].mean
    points: list[Point] = []
    for point in simulated:
        mean, low, high = (min(value * (point.mean / base), people) for value in now)
        points.append(replace(point, mean=mean, stderr=level * point.stderr, low=low, high=high))
        if point.gain_stderr is not None:
            gain = (mean - points[-2].mean) / (point.surveys - points[-2].surveys)
            points[-1] = replace(points[-1], gain=gain, gain_stderr=level * point.gain_stderr)
    if 0 not in settings.surveys:
        points[:2] = [replace(points[1], gain=None, gain_stderr=None)]
    return points


MEAN_STEPS = 30
NEAR = 2.0  # people on a ring: nearby ties span up to NEAR (mean degree + 1) of them
UNLIKE = 1.0  # a surveyed person weighs exp(-UNLIKE d), d: difference in log contacts of the namers
DOUBT = 1.0  # weight of all surveyed people together beside that


def completed(seen: Discovered, people: int, mean_degree: float | None, rng: np.random.Generator) -> Network:
    """Draw a whole network that agrees with what was seen; the people seen come first, in their order."""
    if people < len(seen):
        raise InputError(f"{len(seen)} people are known already: people must be at least as many, got {people}")
    view = SeenNetwork.of(seen)
    degrees, mean = _degrees(view, seen, people, mean_degree, rng)
    known = np.zeros(people)
    known[: view.n] = view.degree
    open_ends = np.maximum(degrees - known, 0).astype(np.int64)
    open_ends[: view.n][view.surveyed] = 0
    ends = np.repeat(np.arange(people), open_ends)
    unseen = max(people * mean - known.sum(), 0.0)  # ends of ties that were not seen yet
    ends = ends[rng.random(len(ends)) * len(ends) < unseen]
    near = rng.random(len(ends)) < closure(view)
    places = _places(seen, people, rng)[ends] + NEAR * (mean + 1.0) / people * rng.random(len(ends))
    pairs = np.concatenate([_pairs(ends[near][np.argsort(places[near])]), _pairs(rng.permutation(ends[~near]))])
    first = Network.from_edges(pairs[:, 0], pairs[:, 1], n=people)
    lost = np.repeat(np.arange(people), np.bincount(ends, minlength=people) - first.degrees)  # self-loops and repeats
    again = _pairs(rng.permutation(lost))
    sources, targets, _ = view.network.edges()
    one, other = ([*seen_ends, *pairs[:, i], *again[:, i]] for i, seen_ends in enumerate((sources, targets)))
    return Network.from_edges(one, other, n=people, name="completed")


def _degrees(
    view: SeenNetwork, seen: Discovered, people: int, mean_degree: float | None, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Draw a degree for each of the people (those of surveyed people are not used), and the mean degree.

    Degrees are resampled from those of the people surveyed, with exponential weights (the Bayesian bootstrap).
    """
    surveyed = np.flatnonzero(view.surveyed & (view.degree > 0))
    found = view.degree[surveyed] if len(surveyed) else np.ones(1)
    trust = rng.exponential(size=len(found))
    order = {person: i for i, person in enumerate(seen.surveyed)}

    def came_first(who: int) -> bool:
        """Whether no contact was surveyed before; others were met in proportion to their degree."""
        return all(order.get(contact, len(order)) > order[who] for contact in seen.contacts[who])

    first = np.array([came_first(who) for who in surveyed.tolist()] or [True])
    mean, weights = float(np.average(found, weights=trust)), trust
    for _ in range(MEAN_STEPS):
        weights = trust * np.where(first, 1.0, mean / found)
        mean = float(np.average(found, weights=weights))
    scale = 1.0 if mean_degree is None else mean_degree / mean
    drawn, unnamed = np.empty(people), np.ones(people, dtype=np.bool_)
    named = np.flatnonzero(~view.surveyed & (view.named > 0))
    for group in np.unique(view.group[named]):
        who = named[view.group[named] == group]
        unnamed[who] = False
        chances = _likeness(view, who[0], surveyed) * trust * found ** (view.named[who[0]] - 1.0)
        drawn[who] = rng.choice(found, len(who), p=chances / chances.sum())
    drawn[unnamed] = rng.choice(found, int(unnamed.sum()), p=weights / weights.sum())
    further = rng.poisson(np.maximum(drawn * scale - 1.0, 0.0)).astype(np.float64)
    return 1.0 + further, mean * scale


def _likeness(view: SeenNetwork, who: int, surveyed: OffsetArray) -> FloatArray:
    """Weigh each surveyed person as a model for ``who``: by how alike the people are who named them."""
    logs = np.log(np.maximum(view.degree, 1.0))

    def namer_logs(person: int) -> FloatArray:
        contacts = view.network.contacts_of(person)
        namers: FloatArray = logs[contacts[view.surveyed[contacts]]]
        return namers

    here = namer_logs(who).mean()
    alike = [np.exp(-UNLIKE * np.abs(namer_logs(person) - here)).max(initial=0.0) for person in surveyed]
    return DOUBT / len(surveyed) + np.array(alike)


def _places(seen: Discovered, people: int, rng: np.random.Generator) -> FloatArray:
    """Draw a place on a circle of length 1 for each person; named people share that of the first who named them."""
    places = rng.random(people)
    for person in range(len(seen)):
        for namer in seen.surveyed_contacts(person)[:1]:
            places[person] = places[namer]
    return places


def _pairs(ends: OffsetArray) -> OffsetArray:
    """Pair neighbours in a list; the last one of an odd number is left out."""
    return ends[: len(ends) // 2 * 2].reshape(-1, 2)
