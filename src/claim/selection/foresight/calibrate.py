"""How far guesses are from the truth: studies judged on the hidden network."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from claim.cascades.worlds import Worlds
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import draw_seed
from claim.selection.candidates import Candidates
from claim.selection.foresight.collect import BUDGETS, CHANCES, LEADERS, State, studies
from claim.selection.foresight.ranges import Ranges, Sample
from claim.selection.foresight.selector import Foresight

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
