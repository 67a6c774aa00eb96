"""Fit the models of foresight to simulated studies, and calibrate the ranges of the expected reach."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from claim.cascades.worlds import Worlds
from claim.discovery import Simulation, policy_named, surveys
from claim.fitting.random_graphs import look_alikes
from claim.networks import Network
from claim.networks.catalogue import EVERY_FAMILY, load_all, networks_given
from claim.networks.network import FloatArray, OffsetArray
from claim.randomness import draw_seed, named_seed
from claim.selection.foresight.features import BEFORE, SMALL, FeatureState
from claim.selection.foresight.kernels import true_gains
from claim.selection.foresight.model import FREE, SCHEMA, Model, save_model, write_json
from claim.selection.foresight.ranges import Ranges, Sample
from claim.selection.foresight.selection_state import SeenNetwork
from claim.selection.foresight.selector import FittedForesight, FreeForesight
from claim.selection.foresight.trees import Growth, Trees, grow, lightgbm
from claim.selection.greedy import Candidates
from claim.selection.kernels import gains_beyond

T = TypeVar("T")
Progress = Callable[[int, int], None]  # steps done, steps in all
Predict = Callable[[FloatArray], FloatArray]  # features to factors

# Simulated studies
POLICIES = ("random", "change", "degree+inverse", "max-contact", "random-class", "max-degree")
BUDGETS = (0, 5, 5, 5, 10, 10, 20, 20, 50)
START = 5
CHANCES = (0.05, *6 * (0.1,), 0.2)  # p
LEADERS = 10
# Training examples
SEEN_WORLDS = 150
TRUE_WORLDS = 200
MOST_CLASSES = 16  # recorded at a pick
MOST_MEMBERS = 12  # of a class, whose true gains are averaged
SMALLEST_MEAN = 0.05  # people
HIDDEN = Growth(trees=160, depth=4, rate=0.06, least=40.0)
FIRST = Growth(trees=80, depth=4, rate=0.1, least=100.0)
GAIN = Growth(trees=320, depth=5, rate=0.04, least=120.0)
# Fresh studies, for the ranges
EVALUATION_WORLDS = 1000
SELECTING_WORLDS = 300


@dataclass(frozen=True)
class FitSettings:
    """How much is simulated and how trees are grown."""

    look_alikes: int = 216
    studies: int = 600  # on each training network
    studies_each: int = 40  # on each look-alike
    fresh_look_alikes: int = 42  # for the ranges: none of them is trained on
    fresh_studies: int = 30
    worlds_for: int = 60  # studies that share the same true worlds
    hidden: Growth = HIDDEN
    first: Growth = FIRST
    gain: Growth = GAIN


def train_by_name(
    family: str, out: Path | str, seed: int = 0, progress: Progress | None = None, data_dir: str | None = None
) -> Path:
    """Do what ``claim foresight train --family`` does: fit to the family's training networks, from one seed."""
    rng = np.random.default_rng(named_seed(seed, "foresight", family))
    command = f"claim foresight train --family {family} --seed {seed} --out {out}"
    return train_family(family, training_networks(family, data_dir), out, rng, progress, command=command)


def training_networks(family: str, data_dir: str | None = None) -> list[Network]:
    """The training networks of a family's model; for ``all`` and ``free`` those of every family."""
    return load_all(networks_given(EVERY_FAMILY if family == FREE else family, "train"), data_dir)


def train_family(
    family: str,
    networks: Sequence[Network],
    out: Path | str,
    rng: np.random.Generator,
    progress: Progress | None = None,
    plan: FitSettings | None = None,
    command: str = "",
) -> Path:
    """Fit the model of a family, or only the ranges for ``free``, and write it to a file; returns its path."""
    plan = plan or FitSettings()
    steps = _Steps(progress, len(networks) + plan.fresh_look_alikes)
    selectors: dict[str, FreeForesight] = {FREE: FreeForesight()}
    fresh = rng
    if family != FREE:
        fresh = rng.spawn(1)[0]
        model = _fit_trees(family, networks, plan, steps, rng)
        selectors = {"fitted": FittedForesight(family=family, model=model), **selectors}
    # Ranges come from fresh studies, among them some on look-alikes that nothing was trained on
    studies = [(network, 4 * plan.fresh_studies) for network in networks]
    alike = look_alikes("all" if family == FREE else family, plan.fresh_look_alikes, fresh)
    studies += [(network, plan.fresh_studies) for network in alike]
    outcomes = evaluate_studies(steps.each(studies), selectors, fresh)
    real = [network.name for network in networks]
    ranges = Ranges.fitted(range_sample(next(iter(outcomes.values())), real), fresh)
    reach = {name: mean_reach(found) for name, found in outcomes.items()}
    card = {"family": family, "command": command, "networks": {each.name: each.checksum for each in networks}}
    if family == FREE:
        free = {"schema": SCHEMA, "card": {**card, "reach": reach[FREE]}, "ranges": ranges.to_dict()}
        return write_json(Path(out), free)
    return save_model(replace(model, ranges=ranges, card={**card, "plan": asdict(plan), "reach": reach}), Path(out))


def _fit_trees(
    family: str, networks: Sequence[Network], plan: FitSettings, steps: "_Steps", rng: np.random.Generator
) -> Model:
    """Trees of the hidden reach, then of the gain in two rounds: leaders picked as ``free`` would pick them, then as
    the trees of the first round would.
    """
    lightgbm()  # before studies are simulated, which takes minutes
    training = [(network, plan.studies) for network in networks]
    training += [(network, plan.studies_each) for network in look_alikes(family, plan.look_alikes, rng)]
    steps.total += 4 * len(training)
    done = [simulated_studies(network, count, rng) for network, count in steps.each(training)]
    rows = [Rows.joined([hidden_rows(study, rng) for study in group]) for group in steps.each(done)]
    hidden = _fit(rows, plan.hidden, rng)

    def picked(gain: Predict | None, wander: float) -> list[Rows]:
        found = []
        for group in steps.each(done):
            parts: list[Rows] = []
            for i, study in enumerate(group):
                if i % plan.worlds_for == 0:
                    truth: dict[float, Worlds] = {}
                if study.p not in truth:
                    truth[study.p] = Worlds.draw(study.network, study.p, TRUE_WORLDS, draw_seed(rng))
                parts.append(gain_rows(study, truth[study.p], hidden.predict, gain, wander, rng))
            found.append(Rows.joined(parts))
        return found

    first = picked(None, 0.3)
    second = picked(_fit(first, plan.first, rng).predict, 0.2)
    return Model(hidden.rounded(), _fit([*first, *second], plan.gain, rng).rounded())


def _fit(parts: Sequence["Rows"], growth: Growth, rng: np.random.Generator) -> Trees:
    """Trees for the factor between the truth and what ``free`` expects; ``parts`` are the rows of each network.

    A row weighs what ``free`` expects, relative to the mean truth on the same network with the same p. Otherwise the
    examples with the largest p, where most people are reached, would dominate.
    """
    rows = Rows.joined(parts)
    weights = []
    for part in parts:
        weight, chances = np.maximum(part.free, 1e-6), part.features[:, BEFORE.index("p")]
        for p in np.unique(chances):
            weight[chances == p] /= max(float(part.truth[chances == p].mean()), SMALLEST_MEAN)
        weights.append(weight)
    factors = rows.truth / np.maximum(rows.free, 1e-6)
    return grow(rows.features, factors, np.concatenate(weights), growth, rng)


class _Steps:
    """Reports the steps done to ``progress``."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.count = progress, total, 0

    def each(self, things: Iterable[T]) -> Iterator[T]:
        """The things one by one, each a step that is done when the next is asked for."""
        for thing in things:
            yield thing
            self.count += 1
            if self.progress is not None:
                self.progress(self.count, self.total)


# Training examples ----------------------------------------------------------------------------------------------------


class SimulatedStudy(NamedTuple):
    """A study at its end: what is seen, the people's indices in the network, and the cascade probability."""

    network: Network
    view: SeenNetwork
    people: OffsetArray
    p: float


class Rows(NamedTuple):
    """Examples: the features, what ``free`` expects, and the truth."""

    features: FloatArray  # (rows, columns)
    free: FloatArray  # (rows,)
    truth: FloatArray  # (rows,)

    @classmethod
    def joined(cls, parts: Iterable["Rows"]) -> "Rows":
        """All parts in one."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def simulated_studies(
    network: Network,
    count: int,
    rng: np.random.Generator,
    budgets: Sequence[int] = BUDGETS,
    chances: Sequence[float] = CHANCES,
) -> list[SimulatedStudy]:
    """Simulated studies with random policies, budgets and probabilities."""
    studies = []
    for _ in range(count):
        start = rng.choice(network.n, min(START, network.n), replace=False)
        simulation = Simulation(network, start, rng)
        policy = policy_named(str(rng.choice(POLICIES)))
        for _ in surveys(simulation, policy, int(rng.choice(budgets)), rng):
            pass
        view, people = SeenNetwork.of(simulation.discovered), np.array(simulation.people)
        studies.append(SimulatedStudy(network, view, people, float(rng.choice(chances))))
    return studies


def hidden_rows(study: SimulatedStudy, rng: np.random.Generator) -> Rows:
    """For each class of people not surveyed: how many they reach when all surveyed people are taken away."""
    network, view, people, p = study
    sources, targets, _ = network.edges()
    left = np.ones(network.n, dtype=np.bool_)
    left[people[view.surveyed]] = False
    keep = left[sources] & left[targets]
    worlds = Worlds.draw(Network.from_edges(sources[keep], targets[keep], n=network.n), p, TRUE_WORLDS, draw_seed(rng))
    alone = gains_beyond(np.zeros(0, dtype=np.int64), worlds.n, TRUE_WORLDS, worlds.members, worlds.starts)
    reach = alone / TRUE_WORLDS - 1.0
    state = FeatureState(view, p, 1, 0)
    truth = np.bincount(view.group, weights=reach[people], minlength=view.groups) / state.size
    rows = ~view.surveyed[state.member]
    return Rows(state.before[rows], state.hidden.reach[state.member][rows], truth[rows])


def gain_rows(
    study: SimulatedStudy, truth: Worlds, hidden: Predict, gain: Predict | None, wander: float, rng: np.random.Generator
) -> Rows:
    """Pick leaders as the models would, with probability ``wander`` another, and record what candidates really add."""
    view = study.view
    state = FeatureState(view, study.p, SEEN_WORLDS, draw_seed(rng))
    state.guess_hidden(hidden(state.before))
    covered = np.zeros(len(truth.starts) - 1, dtype=np.bool_)
    rows = []
    for _ in range(min(LEADERS, view.n)):
        free = np.maximum(state.gains(), SMALL)
        features = state.features(free)
        score = free if gain is None else free * gain(features)
        waiting = np.unique(view.group[state.left]).astype(np.int64)
        order = waiting[np.argsort(-score[waiting])]
        recorded = order
        if len(order) > MOST_CLASSES:  # the best few and some of the others
            best, others = np.split(order, [MOST_CLASSES // 2])
            recorded = np.concatenate([best, rng.choice(others, MOST_CLASSES - len(best), replace=False)])
        row = np.full(view.groups, -1)
        row[recorded] = np.arange(len(recorded))
        members = rng.permutation(np.flatnonzero(state.left & (row[view.group] >= 0)))
        rows_of, count = row[view.group[members]], len(recorded)
        added = true_gains(tuple(truth), study.people[members], rows_of, count, MOST_MEMBERS, covered)
        rows.append(Rows(features[recorded], free[recorded], added))
        drawn = rng.random()  # mostly the best class, sometimes one of the best four, rarely any
        most = len(order) if drawn < wander / 3 else min(4, len(order)) if drawn < wander else 1
        group = order[rng.integers(most)]
        person = int(rng.choice(np.flatnonzero((view.group == group) & state.left)))
        state.take(person)
        who = study.people[person]
        covered[truth.member_numbers[truth.member_offsets[who] : truth.member_offsets[who + 1]]] = True
    return Rows.joined(rows)


# Ranges ---------------------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """The reach of the leaders of one study: guessed, known along seen contacts, and true."""

    network: str
    features: FloatArray
    guess: float
    known: float
    truth: float


def evaluate_studies(
    networks: Iterable[tuple[Network, int]],
    selectors: Mapping[str, FreeForesight],
    rng: np.random.Generator,
    budgets: Sequence[int] = BUDGETS,
    chances: Sequence[float] = CHANCES,
) -> dict[str, list[Outcome]]:
    """Simulate the given number of studies on each network, and evaluate the leaders of each selector."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in selectors}
    for network, count in networks:
        truth: dict[float, Worlds] = {}
        for _, view, people, p in simulated_studies(network, count, rng, budgets, chances):
            if p not in truth:
                truth[p] = Worlds.draw(network, p, EVALUATION_WORLDS, draw_seed(rng))
            for name, selector in selectors.items():
                fast, k = replace(selector, p=p, samples=SELECTING_WORLDS), min(LEADERS, view.n)
                leaders = fast.select_in(view, Candidates.of(view.n, k), k, rng)
                guess, known, features = fast.guess_reach(view, leaders, draw_seed(rng))
                reached = truth[p].influence(people[leaders].tolist()).mean
                outcomes[name].append(Outcome(network.name, features, guess, known, reached))
    return outcomes


def range_sample(outcomes: Sequence[Outcome], real: Sequence[str]) -> Sample:
    """The outcomes as arrays; those on the ``real`` networks together weigh as much as all others."""
    network, features, guess, known, truth = (np.array(column) for column in zip(*outcomes, strict=True))
    names = list(dict.fromkeys(network.tolist()))
    number = np.array([names.index(name) for name in network.tolist()], dtype=np.float64)
    trusted = np.isin(network, list(real))
    share = np.maximum([trusted.mean(), (~trusted).mean()], 1.0 / len(trusted))
    weight = np.where(trusted, 1.0 / share[0], 1.0 / share[1])
    return Sample(features, known, np.maximum(guess - known, 0.0), truth - known, number, weight)


def mean_reach(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The mean true reach on each network."""
    names, truth = (np.array(column) for column in zip(*((each.network, each.truth) for each in outcomes), strict=True))
    return {name: round(float(truth[names == name].mean()), 2) for name in dict.fromkeys(names.tolist())}


def coverage(outcomes: Sequence[Outcome], ranges: Ranges) -> dict[str, float]:
    """Means over studies: the share whose truth the range holds, the people reached, those expected, and the range."""
    mean, low, high = np.array([ranges.around(each.guess, each.known, each.features) for each in outcomes]).T
    truth = np.array([each.truth for each in outcomes])
    near = 1e-6 * truth  # where everyone was surveyed the range is a point
    held = (low - near <= truth) & (truth <= high + near)
    means = {"held": held, "reached": truth, "expected": mean, "low": low, "high": high}
    return {"studies": len(truth), **{name: float(values.mean()) for name, values in means.items()}}
