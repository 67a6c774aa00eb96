"""Training the models of a family: simulated studies on its training networks and on look-alikes of all sorts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from claim.cascades.worlds import Worlds
from claim.networks import Network, load
from claim.networks.catalogue import family_networks
from claim.networks.network import FloatArray
from claim.randomness import draw_seed, named_seed
from claim.selection.foresight.calibrate import Judged, judged_studies
from claim.selection.foresight.collect import TRUE_WORLDS, Guess, Rows, State, gain_rows, hidden_rows, studies
from claim.selection.foresight.features import BEFORE
from claim.selection.foresight.fitted import FittedForesight
from claim.selection.foresight.free import FreeForesight
from claim.selection.foresight.lookalikes import look_alikes
from claim.selection.foresight.model import FREE, SCHEMA, Model, save_model, write_json
from claim.selection.foresight.ranges import Ranges
from claim.selection.foresight.selector import Foresight
from claim.selection.foresight.trees import Growth, Trees, grow

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
