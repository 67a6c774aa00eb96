"""Fit the models of foresight and calibrate their ranges."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from claim.cascades.worlds import Worlds
from claim.fitting.foresight_data import (
    BUDGETS,
    CHANCES,
    LEADERS,
    TRUE_WORLDS,
    Guess,
    Rows,
    State,
    gain_rows,
    hidden_rows,
    studies,
)
from claim.fitting.random_graphs import look_alikes
from claim.networks import Network, load
from claim.networks.catalogue import family_networks
from claim.networks.network import FloatArray
from claim.randomness import draw_seed, named_seed
from claim.selection.foresight.features import BEFORE
from claim.selection.foresight.model import FREE, SCHEMA, Model, save_model, write_json
from claim.selection.foresight.ranges import Ranges, Sample
from claim.selection.foresight.selector import FittedForesight, Foresight, FreeForesight
from claim.selection.foresight.trees import Growth, Trees, grow
from claim.selection.greedy import Candidates

JUDGING_WORLDS = 1000
SELECTING_WORLDS = 300


@dataclass
class Judged:
    """Guess, known part and truth of the reach of the leaders in many studies."""

    network: list[str] = field(default_factory=list)
    features: list[FloatArray] = field(default_factory=list)
    guess: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    truth: list[float] = field(default_factory=list)

    def sample(self, real: Sequence[str]) -> Sample:
        """The studies as arrays; those on the ``real`` networks together count as much as all others."""
        names = list(dict.fromkeys(self.network))
        number = np.array([names.index(name) for name in self.network], dtype=np.float64)
        trusted = np.isin(self.network, list(real))
        share = max(trusted.mean(), 1.0 / len(trusted)), max((~trusted).mean(), 1.0 / len(trusted))
        known, guess = np.array(self.known), np.array(self.guess)
        extra, weight = np.maximum(guess - known, 0.0), np.where(trusted, 1.0 / share[0], 1.0 / share[1])
        return Sample(np.array(self.features), known, extra, np.array(self.truth) - known, number, weight)

    def reach(self) -> dict[str, float]:
        """The mean true reach on each network."""
        names, truth = np.array(self.network), np.array(self.truth)
        return {name: round(float(truth[names == name].mean()), 2) for name in dict.fromkeys(self.network)}

    def covered(self, ranges: Ranges) -> "Covered":
        """How well the ranges hold the truth."""
        found = zip(self.guess, self.known, self.features, strict=True)
        mean, low, high = np.array([ranges.around(*each) for each in found]).T
        truth = np.array(self.truth)
        near = 1e-6 * truth  # where everybody was surveyed the range is a point
        held = (low - near <= truth) & (truth <= high + near)
        figures = (float(values.mean()) for values in (held, truth, mean, low, high))
        return Covered(len(truth), *figures)


@dataclass(frozen=True)
class Covered:
    """Means over studies: the share whose truth lies in the range, the people reached, and those expected."""

    studies: int
    held: float
    reached: float
    expected: float
    low: float
    high: float


def judged_studies(
    networks: Iterable[tuple[Network, int]],
    selectors: Mapping[str, Foresight],
    rng: np.random.Generator,
    budgets: Sequence[int] = BUDGETS,
    chances: Sequence[float] = CHANCES,
) -> dict[str, Judged]:
    """Studies on each network (as many as said), with leaders by each selector."""
    judged = {name: Judged() for name in selectors}
    for network, count in networks:
        truth: dict[float, Worlds] = {}
        for state in studies(network, count, rng, budgets, chances):
            if state.p not in truth:
                truth[state.p] = Worlds.draw(network, state.p, JUDGING_WORLDS, draw_seed(rng))
            for name, selector in selectors.items():
                _judge(judged[name], state, selector, truth[state.p], rng)
    return judged


def _judge(judged: Judged, state: State, selector: Foresight, truth: Worlds, rng: np.random.Generator) -> None:
    fast = replace(selector, p=state.p, samples=SELECTING_WORLDS)
    k = min(LEADERS, state.view.n)
    leaders = fast.select_in(state.view, Candidates.of(state.view.n, k), k, rng)
    guess, known, features = fast.guess_reach(state.view, leaders, draw_seed(rng))
    judged.network.append(state.network.name)
    judged.features.append(features)
    judged.guess.append(guess)
    judged.known.append(known)
    judged.truth.append(truth.influence(state.people[leaders].tolist()).mean)


T = TypeVar("T")
Progress = Callable[[int, int], None]  # steps done, steps in all

HIDDEN = Growth(trees=160, depth=4, rate=0.06, least=40.0)
FIRST = Growth(trees=80, depth=4, rate=0.1, least=100.0)
GAIN = Growth(trees=320, depth=5, rate=0.04, least=120.0)

SMALLEST_MEAN = 0.05  # people


@dataclass(frozen=True)
class Plan:
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


def train_family(
    family: str,
    networks: Sequence[Network],
    out: Path | str,
    rng: np.random.Generator,
    progress: Progress | None = None,
    plan: Plan | None = None,
    command: str = "",
) -> Path:
    """Train the models of a family and write them to a file; returns its path."""
    plan, fresh = plan or Plan(), rng.spawn(1)[0]
    alike = look_alikes(family, plan.look_alikes, rng)
    sizes = [plan.studies] * len(networks) + [plan.studies_each] * len(alike)
    steps = _Steps(progress, 4 * len(sizes) + len(networks) + plan.fresh_look_alikes)
    grounds = steps.each(zip([*networks, *alike], sizes, strict=True))
    states = [studies(network, size, rng) for network, size in grounds]
    rows = [Rows.joined([hidden_rows(state, rng) for state in group]) for group in steps.each(states)]
    hidden = fit(rows, plan.hidden, rng)
    gain = _gain_trees(states, hidden, plan, rng, steps)
    bare = Model(hidden.rounded(), gain.rounded())
    judged = judged_studies(steps.each(_fresh(family, networks, plan, fresh)), _judges(family, bare), fresh)
    ranges = Ranges.fitted(judged["fitted"].sample([network.name for network in networks]), fresh)
    return save_model(replace(bare, ranges=ranges, card=_card(family, networks, plan, judged, command)), Path(out))


def _judges(family: str, model: Model) -> dict[str, Foresight]:
    """The form trained, and the one without training for comparison."""
    return {"fitted": FittedForesight(family=family, model=model), "free": FreeForesight()}


def _fresh(family: str, networks: Sequence[Network], plan: Plan, rng: np.random.Generator) -> list[tuple[Network, int]]:
    """Networks and numbers of studies that ranges are made from: look-alikes that nothing was trained on among them."""
    alike = look_alikes(family, plan.fresh_look_alikes, rng)
    return [(network, 4 * plan.fresh_studies) for network in networks] + [(each, plan.fresh_studies) for each in alike]


def fit(parts: Sequence[Rows], growth: Growth, rng: np.random.Generator) -> Trees:
    """Trees for the factor between the truth and what ``free`` expects."""
    rows = Rows.joined(parts)
    weights = np.concatenate([_weights(part) for part in parts])
    return grow(rows.features, rows.truth / _positive(rows.free), weights, growth, rng)


def _weights(rows: Rows) -> FloatArray:
    """What ``free`` expects, relative to the mean truth on the same network with the same probability.

    Otherwise the examples with the largest probability, where most people are reached, would count for most.
    """
    chances = rows.features[:, BEFORE.index("p")]
    weights = _positive(rows.free)
    for p in np.unique(chances):
        weights[chances == p] /= max(float(rows.truth[chances == p].mean()), SMALLEST_MEAN)
    return weights


def _positive(free: FloatArray) -> FloatArray:
    return np.maximum(free, 1e-6)


def _gain_trees(
    states: Sequence[list[State]], hidden: Trees, plan: Plan, rng: np.random.Generator, steps: "_Steps"
) -> Trees:
    """Two rounds: leaders picked as ``free`` would, then as the trees of the first round would."""
    first = [_picked(group, hidden.predict, None, 0.3, plan, rng) for group in steps.each(states)]
    trees = fit(first, plan.first, rng)
    second = [_picked(group, hidden.predict, trees.predict, 0.2, plan, rng) for group in steps.each(states)]
    return fit([*first, *second], plan.gain, rng)


def _picked(
    states: Sequence[State], guess: Guess, gain: Guess | None, wander: float, plan: Plan, rng: np.random.Generator
) -> Rows:
    """The rows of all studies on one network."""
    rows: list[Rows] = []
    truth: dict[float, Worlds] = {}
    for i, state in enumerate(states):
        if i % plan.worlds_for == 0:
            truth = {}
        if state.p not in truth:
            truth[state.p] = Worlds.draw(state.network, state.p, TRUE_WORLDS, draw_seed(rng))
        rows.append(gain_rows(state, truth[state.p], guess, gain, wander, rng))
    return Rows.joined(rows)


class _Steps:
    """Counts the steps of the work for whoever wants to see them."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.count = progress, total, 0

    def each(self, things: Iterable[T]) -> Iterator[T]:
        """The things one by one, each a step that is done when the next is asked for."""
        for thing in things:
            yield thing
            self.count += 1
            if self.progress is not None:
                self.progress(self.count, self.total)


def _card(
    family: str, networks: Sequence[Network], plan: Plan, judged: dict[str, Judged], command: str
) -> dict[str, Any]:
    return {
        "family": family,
        "command": command,
        "networks": {network.name: network.checksum for network in networks},
        "plan": asdict(plan),
        "reach": {name: result.reach() for name, result in judged.items()},
    }


def calibrate_free(
    networks: Sequence[Network],
    out: Path | str,
    rng: np.random.Generator,
    progress: Progress | None = None,
    plan: Plan | None = None,
    command: str = "",
) -> Path:
    """Range factors of the selector without training, from networks of all kinds; written to a file."""
    plan = plan or Plan()
    steps = _Steps(progress, len(networks) + plan.fresh_look_alikes)
    judged = judged_studies(steps.each(_fresh("all", networks, plan, rng)), {FREE: FreeForesight()}, rng)
    ranges = Ranges.fitted(judged[FREE].sample([network.name for network in networks]), rng)
    checksums = {network.name: network.checksum for network in networks}
    card = {"family": FREE, "command": command, "networks": checksums, "reach": judged[FREE].reach()}
    return write_json(Path(out), {"schema": SCHEMA, "card": card, "ranges": ranges.to_dict()})


def training_networks(family: str, data_dir: str | None = None) -> list[Network]:
    """The training networks of a family's model; ``all`` (and ``free``) stands for those of every family."""
    wanted = ["retweet", "animal", "zones"] if family in ("all", "free") else [family]
    known = [network for name in wanted for network in family_networks(name, "train")]
    return [load(network.address, data_dir=data_dir) for network in known]


def train_by_name(
    family: str, out: Path | str, seed: int = 0, progress: Progress | None = None, data_dir: str | None = None
) -> Path:
    """What ``claim foresight train --family`` does: train on the family's training networks, from one seed."""
    rng = np.random.default_rng(named_seed(seed, "foresight", family))
    command = f"claim foresight train --family {family} --seed {seed} --out {out}"
    networks = training_networks(family, data_dir)
    if family == FREE:
        return calibrate_free(networks, out, rng, progress, command=command)
    return train_family(family, networks, out, rng, progress, command=command)
