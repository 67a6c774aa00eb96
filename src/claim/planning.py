"""How many surveys are worth it: expected reach against the number of surveys, from simulated studies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from claim.cascades import influence
from claim.cascades.influence import check_probability
from claim.discovery import POLICIES, Discovered, Policy, Selector, Simulation, is_reference, surveys
from claim.errors import InputError
from claim.fitting.random_graphs import RETWEET, VOLE, WHOLE, Ranges
from claim.networks import Network
from claim.networks.network import FloatArray, OffsetArray
from claim.networks.synthetic import retweet_like, vole_like
from claim.randomness import named_seed
from claim.registry import check_policy, is_marked, policy_of
from claim.selection import selector_named
from claim.selection.foresight import Expected, FreeForesight
from claim.selection.foresight.selection_state import View, closure
from claim.selection.greedy import BoolArray

Kind = Literal["stars", "clustered", "unknown"]
Recipe = tuple[Callable[..., Network], Ranges]

STARS: Recipe = (retweet_like, RETWEET)
CLUSTERED: Recipe = (vole_like, VOLE)
KINDS: dict[Kind, tuple[Recipe, ...]] = {"stars": (STARS,), "clustered": (CLUSTERED,), "unknown": (STARS, CLUSTERED)}


def check_kind(kind: str) -> Kind:
    """The kind of that name, or an error that lists the kinds there are."""
    for known in get_args(Kind):
        if kind == known:
            return known  # type: ignore[no-any-return]
    raise InputError(f"no kind of network is called {kind!r} (known: {', '.join(get_args(Kind))})")


def look_alike(kind: Kind, number: int, people: int, mean_degree: float, rng: np.random.Generator) -> Network:
    """A network of the kind; the generators of a kind take turns by number, their other settings are drawn."""
    make, ranges = KINDS[kind][number % len(KINDS[kind])]
    drawn = {setting: float(rng.uniform(low, high)) for setting, (low, high) in ranges.items()}
    settings = {setting: round(value) if setting in WHOLE else value for setting, value in drawn.items()}
    return make(rng=rng, **(settings | {"people": people, "mean_degree": mean_degree}))


MEAN_STEPS = 30
NEAR = 2.0  # how far nearby ends may be apart, in circles of contacts
UNLIKE = 1.0  # answers from somebody with e times the contacts count this much less, as a power of e
DOUBT = 1.0  # named people whom everybody surveyed, named or not, stands for together


def completed(seen: Discovered, people: int, mean_degree: float | None, rng: np.random.Generator) -> Network:
    """A network of so many people that agrees with what was seen; the people seen come first, in their order."""
    if people < len(seen):
        raise InputError(f"{len(seen)} people are known already, so there cannot be {people} in all")
    view = View.of(seen)
    wanted, mean = _degrees(view, seen, people, mean_degree, rng)
    known = np.zeros(people)
    known[: view.n] = view.degree
    open_ends = np.maximum(wanted - known, 0).astype(np.int64)
    open_ends[: view.n][view.surveyed] = 0
    ends = np.repeat(np.arange(people), open_ends)
    room = max(people * mean - known.sum(), 0.0)  # of all contacts that everybody has, those not yet seen
    ends = ends[rng.random(len(ends)) * len(ends) < room]
    return _joined(seen, view, ends, people, mean, rng)


def _degrees(
    view: View, seen: Discovered, people: int, mean_degree: float | None, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """A degree for everybody and the mean degree; those of people surveyed are drawn as well, but not needed."""
    surveyed = np.flatnonzero(view.surveyed & (view.degree > 0))
    found = view.degree[surveyed] if len(surveyed) else np.ones(1)
    trust = rng.exponential(size=len(found))
    mean, everybody = _population(found, trust, _met_first(seen, surveyed))
    scale = 1.0 if mean_degree is None else mean_degree / mean
    wanted = np.empty(people)
    unheard = np.ones(people, dtype=np.bool_)
    for who in _alike(view):
        unheard[who] = False
        weights = _likeness(view, who[0], surveyed) * trust * found ** (view.named[who[0]] - 1.0)
        wanted[who] = rng.choice(found, len(who), p=weights / weights.sum())
    wanted[unheard] = rng.choice(found, int(unheard.sum()), p=everybody / everybody.sum())
    further = rng.poisson(np.maximum(wanted * scale - 1.0, 0.0)).astype(np.float64)
    return 1.0 + further, mean * scale


def _met_first(seen: Discovered, surveyed: OffsetArray) -> BoolArray:
    """Who was known before anybody named them: nobody surveyed earlier is a contact."""
    order = {person: i for i, person in enumerate(seen.surveyed)}
    first = [all(order.get(contact, len(order)) > order[who] for contact in seen.contacts[who]) for who in surveyed]
    return np.array(first or [True])


def _population(found: FloatArray, trust: FloatArray, first: BoolArray) -> tuple[float, FloatArray]:
    """The mean degree of everybody, and how much each of the people surveyed stands for somebody nobody named."""
    mean = float(np.average(found, weights=trust))
    for _ in range(MEAN_STEPS):
        weights = trust * np.where(first, 1.0, mean / found)
        mean = float(np.average(found, weights=weights))
    return mean, weights


def _alike(view: View) -> list[OffsetArray]:
    """Named people who were not surveyed, those whom nothing seen can tell apart together."""
    named = np.flatnonzero(~view.surveyed & (view.named > 0))
    groups = view.group[named]
    return [named[groups == group] for group in np.unique(groups)]


def _likeness(view: View, who: int, surveyed: OffsetArray) -> FloatArray:
    """How much each of the people surveyed tells of somebody: by how alike those are who named them."""
    logs = np.log(np.maximum(view.degree, 1.0))
    namers = _surveyed_contacts(view, who)
    here = logs[namers].mean()
    told = np.full(len(surveyed), DOUBT / len(surveyed))
    for i, person in enumerate(surveyed):
        theirs = _surveyed_contacts(view, int(person))
        told[i] += np.exp(-UNLIKE * np.abs(logs[theirs] - here)).max(initial=0.0)
    return told


def _surveyed_contacts(view: View, who: int) -> OffsetArray:
    contacts = view.network.contacts_of(who)
    return contacts[view.surveyed[contacts]].astype(np.int64)


def _joined(
    seen: Discovered, view: View, ends: OffsetArray, people: int, mean: float, rng: np.random.Generator
) -> Network:
    near = rng.random(len(ends)) < closure(view)
    places = _places(seen, people, rng)[ends] + NEAR * (mean + 1.0) / people * rng.random(len(ends))
    pairs = np.concatenate([_paired(ends[near][np.argsort(places[near])]), _paired(rng.permutation(ends[~near]))])
    first = Network.from_edges(pairs[:, 0], pairs[:, 1], n=people)
    lost = np.repeat(np.arange(people), np.bincount(ends, minlength=people) - first.degrees)
    again = _paired(rng.permutation(lost))  # pairs of one person, or joined twice, count for nothing
    sources, targets, _ = view.network.edges()
    one, other = ([*ends_of, *pairs[:, side], *again[:, side]] for side, ends_of in enumerate((sources, targets)))
    return Network.from_edges(one, other, n=people, name="completed")


def _places(seen: Discovered, people: int, rng: np.random.Generator) -> FloatArray:
    """Where on a circle of length 1 people are: with whoever named them first, else anywhere."""
    places = rng.random(people)
    for person in range(len(seen)):
        namers = seen.surveyed_contacts(person)
        if namers:
            places[person] = places[namers[0]]
    return places


def _paired(ends: OffsetArray) -> OffsetArray:
    """Neighbours in the list as pairs; an odd one is left over."""
    return ends[: len(ends) // 2 * 2].reshape(-1, 2)


SURVEYS = (0, 5, 10, 15, 20, 30, 40, 50)
STUDIES = 100
JUDGING_WORLDS = 1000
SELECTING_WORLDS = 300
NINE_IN_TEN = (0.05, 0.95)
MOST_PEOPLE = 100_000  # in all look-alikes together; beyond that several studies share one
FEWEST_NETWORKS = 10

Progress = Callable[[int, int], None]  # studies done, studies in all


@dataclass(frozen=True)
class Setting:
    """How the team works: leaders, chance that word passes, survey policy and selector."""

    leaders: int = 10
    p: float = 0.1
    policy: str = ""  # the recommended one
    selector: str = "foresight:free"
    surveys: tuple[int, ...] = SURVEYS
    studies: int = STUDIES
    seed: int = 0

    def __post_init__(self) -> None:
        check_probability(self.p)
        for name, value, least in (("leaders", self.leaders, 1), ("studies", self.studies, 2), ("seed", self.seed, 0)):
            if value < least:
                raise InputError(f"{name} must be at least {least}, not {value}")
        if not self.surveys or min(self.surveys) < 0 or list(self.surveys) != sorted(set(self.surveys)):
            raise InputError("numbers of surveys are whole numbers from 0 up, each larger than the one before")
        check_policy(self.policy_name)
        if is_marked(self.policy_name, is_reference):
            raise InputError(f"{self.policy_name} is a reference that must see the whole network; nobody can survey so")
        selector_named(self.selector)

    @property
    def policy_name(self) -> str:
        """The policy given, or the one that is recommended."""
        return self.policy or recommended_policy()

    def survey_policy(self) -> Policy:
        """The policy itself; a shipped one is that for the most surveys looked at, or the nearest there is."""
        return policy_of(self.policy_name, None, self.surveys[-1])


@dataclass(frozen=True)
class Point:
    """What so many surveys lead to: people reached on average and in nine of ten studies, and people discovered.

    ``gain`` is how many people each survey since the point before adds; the first point has none.
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
class Plan:
    """The reach against the number of surveys."""

    setting: Setting
    points: list[Point]

    def enough(self, worth: float) -> int | None:
        """The number of surveys from which on each further one adds less than ``worth`` people; None if none is."""
        paying = [point for point in self.points if point.gain is not None and point.gain >= worth]
        last = paying[-1] if paying else self.points[0]
        return None if last is self.points[-1] else last.surveys

    def advice(self, worth: float) -> str:
        """What to do, in a sentence or two."""
        if len(self.points) < 2:
            return "One number of surveys says nothing of what further ones add."
        number, last = self.enough(worth), self.points[-1]
        if number is None:
            here = last
            begin = f"Even after {last.surveys} surveys a survey adds {worth:g} people or more."
        else:
            here = next(point for point in self.points if point.surveys == number)
            begin = f"After {number} surveys each further survey adds less than {worth:g} people."
        span = f"between {here.low:.0f} and {here.high:.0f} in nine of ten studies"
        return f"{begin} Expect to reach about {here.mean:.0f} people then, {span}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        settings = asdict(self.setting) | {"policy": self.setting.policy_name, "surveys": list(self.setting.surveys)}
        return {"settings": settings, "points": [asdict(point) for point in self.points]}


def recommended_policy() -> str:
    """The policy for networks of any kind."""
    return "scout" if "scout" in POLICIES else "degree+inverse"


def plan_new(
    people: int,
    mean_degree: float,
    kind: str = "unknown",
    start: int = 5,
    setting: Setting | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Studies on look-alike networks of the size and the mean degree that a team estimates."""
    if people < 1:
        raise InputError(f"people must be at least 1, not {people}")
    _check_mean_degree(mean_degree, people)
    if start < 1:
        raise InputError(f"start must be at least 1, not {start}")
    setting = setting or Setting()
    return _plan(_new_studies(people, mean_degree, check_kind(kind), start, setting), setting, progress)


def plan_further(
    seen: Discovered,
    people: int,
    mean_degree: float | None = None,
    setting: Setting | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Further surveys from what was discovered so far; the rest of the network is drawn to look like it.

    What leaders chosen now would reach, and the range, is what foresight expects; simulated studies tell by which
    factor further surveys raise it.
    """
    if not seen.surveyed:
        raise InputError("nobody was surveyed yet: plan on look-alikes instead")
    if mean_degree is not None:
        _check_mean_degree(mean_degree, people)
    setting = setting or Setting()
    from_now = replace(setting, surveys=tuple(sorted({0, *setting.surveys})))
    simulated = _plan(_further_studies(seen, people, mean_degree, from_now), from_now, progress).points
    points = _raised(simulated, _expected_now(seen, setting).at_most(people), people)
    if 0 not in setting.surveys:
        points = [replace(points[1], gain=None, gain_stderr=None), *points[2:]]
    return Plan(setting, points)


def _check_mean_degree(mean_degree: float, people: int) -> None:
    if not 0 < mean_degree < people:
        raise InputError(f"the mean degree must be above 0 and below the number of people, not {mean_degree}")


def _expected_now(seen: Discovered, setting: Setting) -> Expected:
    """What leaders chosen now are expected to reach."""
    rng = _rng(setting, "now", 0)
    selector = selector_named(setting.selector, setting.p, SELECTING_WORLDS)
    leaders = selector.select(seen, min(setting.leaders, len(seen)), rng)
    return FreeForesight(setting.p).expect(seen, leaders, rng)


def _raised(points: list[Point], now: Expected, people: int) -> list[Point]:
    """The points of simulated studies, brought to the level that is expected now."""
    level = now.mean / points[0].mean
    raised: list[Point] = []
    for point in points:
        growth = point.mean / points[0].mean
        mean, low, high = (min(value * growth, people) for value in now)
        gain = error = None
        if raised and point.gain_stderr is not None:
            gain = (mean - raised[-1].mean) / (point.surveys - raised[-1].surveys)
            error = level * point.gain_stderr
        raised.append(Point(point.surveys, mean, level * point.stderr, low, high, point.discovered, gain, error))
    return raised


def _rng(setting: Setting, purpose: str, number: int) -> np.random.Generator:
    return np.random.default_rng(named_seed(setting.seed, purpose, number))


def _new_studies(people: int, mean_degree: float, kind: Kind, start: int, setting: Setting) -> Iterator[Simulation]:
    networks = min(max(MOST_PEOPLE // people, FEWEST_NETWORKS), setting.studies)
    for number in range(networks):
        network = look_alike(kind, number, people, mean_degree, _rng(setting, "network", number))
        for study in range(number, setting.studies, networks):
            rng = _rng(setting, "study", study)
            yield Simulation(network, rng.choice(people, min(start, people), replace=False), rng)


def _further_studies(
    seen: Discovered, people: int, mean_degree: float | None, setting: Setting
) -> Iterator[Simulation]:
    for study in range(setting.studies):
        rng = _rng(setting, "study", study)
        yield Simulation.under_way(completed(seen, people, mean_degree, rng), seen, rng)


def _plan(studies: Iterator[Simulation], setting: Setting, progress: Progress | None) -> Plan:
    policy = setting.survey_policy()
    selector = selector_named(setting.selector, setting.p, SELECTING_WORLDS)
    curves = []
    for number, simulation in enumerate(studies):
        curves.append(reach_curve(simulation, policy, selector, setting, _rng(setting, "surveys", number)))
        if progress is not None:
            progress(number + 1, setting.studies)
    reach, discovered = (np.array(each, dtype=float) for each in zip(*curves, strict=True))
    return Plan(setting, _points(setting.surveys, reach, discovered))


def reach_curve(
    simulation: Simulation, policy: Policy, selector: Selector, setting: Setting, rng: np.random.Generator
) -> tuple[list[float], list[int]]:
    """People reached and discovered at each number of surveys along one study."""
    progress = surveys(simulation, policy, setting.surveys[-1], rng)
    spent, reach, discovered = 0, [], []
    for number in setting.surveys:
        while spent < number:
            spent = next(progress, number)  # nobody left to survey: further surveys change nothing
        seen = simulation.discovered
        chosen = selector.select(seen, min(setting.leaders, len(seen)), rng)
        reach.append(_judged(simulation.network, [simulation.people[who] for who in chosen], setting, rng))
        discovered.append(len(seen))
    return reach, discovered


def _judged(network: Network, leaders: list[int], setting: Setting, rng: np.random.Generator) -> float:
    return influence(network, leaders, setting.p, JUDGING_WORLDS, rng).mean


def _points(numbers: Sequence[int], reach: FloatArray, discovered: FloatArray) -> list[Point]:
    points = []
    for i, number in enumerate(numbers):
        low, high = np.quantile(reach[:, i], NINE_IN_TEN)
        gain = gain_error = None
        if i:
            gains = (reach[:, i] - reach[:, i - 1]) / (number - numbers[i - 1])
            gain, gain_error = float(gains.mean()), _error(gains)
        mean, error, people = float(reach[:, i].mean()), _error(reach[:, i]), float(discovered[:, i].mean())
        points.append(Point(number, mean, error, float(low), float(high), people, gain, gain_error))
    return points


def _error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


__all__ = ["Plan", "Point", "plan_further", "plan_new"]
