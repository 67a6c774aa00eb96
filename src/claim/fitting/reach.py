"""Calibrate the reach to expect on simulated studies, and check it on others."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from claim.cascades.worlds import Worlds
from claim.errors import InputError
from claim.fitting.leaders import FitAmounts, FitGains, read_model
from claim.fitting.studies import Pool, SimulatedStudy, StudyPlan, simulated_studies
from claim.jobs import Job, Result, key_of
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import draw_seed, named_seed
from claim.selection.foresight.reach import (
    FORMS,
    QUANTILES,
    REACH_FEATURES,
    Reach,
    bounded,
    estimated_people,
    reach_features,
)
from claim.selection.foresight.selector import FittedForesight, FreeForesight
from claim.selection.foresight.trees import Growth, Trees, grow
from claim.selection.greedy import Candidates

LEADERS = (3, 5, 5, 10, 10, 10, 20)
PLAN = StudyPlan(chances=(0.02, 0.05, *4 * (0.1,), 0.2, 0.4))
WORLDS = 1000  # in which the truth is counted
SELECTING_WORLDS = 300
ON_AVERAGE, ON_EACH = 0.92, 0.8  # of studies on kinds of networks left out, which ranges have to hold
STEP = 0.01  # of the logarithm by which ends are moved


class ReachRows(NamedTuple):
    """One row a study: features by form, the logarithm of the true reach over the bounded guess, and the kind."""

    known: FloatArray  # (studies, features) with the number of people known
    estimated: FloatArray
    known_error: FloatArray  # (studies,)
    estimated_error: FloatArray


@dataclass(frozen=True, eq=False)
class ReachExamples:
    """Leaders of a model in many studies on one network, with the true reach."""

    pool: Pool
    seed: int
    models: tuple[FitAmounts, FitGains, FitAmounts]

    @property
    def name(self) -> str:
        """Shown while it runs."""
        return f"reach on {self.pool.network.name}"

    @property
    def effort(self) -> float:
        """Seconds, about."""
        return self.pool.studies * 0.04

    @property
    def needs(self) -> tuple[Job, ...]:
        """The trees that choose the leaders and guess their reach."""
        return self.models

    def identity(self) -> dict[str, Any]:
        """The network, and what is simulated."""
        network = self.pool.network
        return {"network": [network.name, network.checksum], "studies": [self.pool.studies, self.seed]}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """The rows, in a file of the workspace."""
        rng = np.random.default_rng(named_seed(self.seed, "reach", self.pool.network.name))
        selector = FittedForesight(model=read_model(*inputs))
        studies = simulated_studies(self.pool.network, self.pool.studies, rng, PLAN)
        rows = [reach_row(*found) for found in lead(studies, selector, LEADERS, rng)]
        path = workspace / "examples" / f"{key_of(self)}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = dict(zip(ReachRows._fields, map(np.array, zip(*rows, strict=True)), strict=True))
        np.savez_compressed(path, **arrays)
        return {"rows": path.name}


class Led(NamedTuple):
    """A study with its leaders, the selector that chose them, and their true reach."""

    study: SimulatedStudy
    selector: FreeForesight
    leaders: list[int]
    reach: float


def lead(
    studies: Iterable[SimulatedStudy], selector: FreeForesight, leaders: Sequence[int], rng: np.random.Generator
) -> Iterable[tuple[Led, int]]:
    """Choose leaders in each study, as many as one of ``leaders``; with a seed for guesses of the reach."""
    truth: dict[float, Worlds] = {}
    network: Network | None = None
    for study in studies:
        if study.network is not network:
            truth, network = {}, study.network
        if study.p not in truth:
            truth[study.p] = Worlds.draw(study.network, study.p, WORLDS, draw_seed(rng))
        fast = replace(selector, p=study.p, samples=SELECTING_WORLDS)
        k = min(int(rng.choice(leaders)), study.view.n)
        chosen = fast.select_in(study.view, Candidates.of(study.view.n, k), k, rng)
        reached = truth[study.p].influence(study.people[chosen].tolist()).mean
        yield Led(study, fast, chosen, reached), draw_seed(rng)


def reach_row(led: Led, seed: int) -> tuple[FloatArray, FloatArray, float, float]:
    """The columns of :class:`ReachRows` for one study."""
    view = led.study.view
    guess, study = led.selector.guess(view, led.leaders, seed)
    people = float(led.study.network.n), estimated_people(view)[0]
    features = [reach_features(view, study, guess, each) for each in people]
    errors = [float(np.log(led.reach / bounded(guess.reach, each))) for each in people]
    return features[0], features[1], errors[0], errors[1]


@dataclass(frozen=True, eq=False)
class FitReach:
    """Trees of the quantiles, and how far their ends have to be moved for kinds of networks that are left out."""

    examples: tuple[ReachExamples, ...]
    growth: Growth
    seed: int
    name: str = "reach"

    @property
    def needs(self) -> tuple[Job, ...]:
        """The examples."""
        return self.examples

    @property
    def effort(self) -> float:
        """Seconds, about."""
        return 120.0

    def identity(self) -> dict[str, Any]:
        """How the trees are grown."""
        return {"growth": asdict(self.growth), "seed": self.seed}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """The calibration as in a model's file, and the coverage on each kind when it was left out."""
        columns, kinds = [], []
        for each, found in zip(self.examples, inputs, strict=True):
            with np.load(workspace / "examples" / found["rows"]) as file:
                columns.append(ReachRows(*(file[name].astype(np.float64) for name in ReachRows._fields)))
            kinds += [each.pool.group] * len(columns[-1].known_error)
        rows, kind = ReachRows(*map(np.concatenate, zip(*columns, strict=True))), np.array(kinds)
        trees, wider, coverage = {}, {}, {}
        uncertain = rows.known[:, REACH_FEATURES.index("unseen share")] > 0  # otherwise the range is a point
        rows, kind = ReachRows(*(column[uncertain] for column in rows)), kind[uncertain]
        for form in FORMS:
            features, errors = getattr(rows, form), getattr(rows, f"{form}_error")
            trees[form] = self._quantiles(features, errors, kind, np.ones(len(kind), dtype=np.bool_))
            ends = np.empty((3, len(errors)))
            for left in np.unique(kind):
                fitted = self._quantiles(features, errors, kind, kind != left)
                ends[:, kind == left] = [np.log(each.predict(features[kind == left])) for each in fitted]
            wider[form], coverage[form] = widened(errors, np.sort(ends, axis=0), kind)
        reach = Reach({form: tuple(found) for form, found in trees.items()}, wider)  # type: ignore[misc]
        return {"reach": reach.to_dict(), "coverage": coverage}

    def _quantiles(self, features: FloatArray, errors: FloatArray, kind: Any, rows: Any) -> list[Trees]:
        """Trees of each quantile; kinds weigh the same."""
        kinds, counts = np.unique(kind[rows], return_counts=True)
        weight = (len(counts) / counts)[np.searchsorted(kinds, kind[rows])]
        rng = np.random.default_rng(named_seed(self.seed, self.name))
        return [
            grow(features[rows], errors[rows], weight / weight.mean(), self.growth, rng, quantile=each).rounded()
            for each in QUANTILES
        ]


def widened(errors: FloatArray, ends: FloatArray, kind: Any) -> tuple[float, dict[str, dict[str, float]]]:
    """The least by which both ends are moved so that ranges hold often enough, and how well they do on each kind.

    ``ends`` are the quantiles (3, studies) predicted for studies on kinds that were left out.
    """
    kinds = np.unique(kind)
    for step in range(200):
        wider = step * STEP
        held = (ends[0] - wider <= errors) & (errors <= ends[2] + wider)
        coverage = [float(held[kind == each].mean()) for each in kinds]
        if np.mean(coverage) >= ON_AVERAGE and min(coverage) >= ON_EACH:
            break
    ratio, error = np.exp(ends[2] - ends[0] + 2 * wider), np.abs(np.expm1(ends[1] - errors))
    rows = zip(coverage, *([np.median(each[kind == one]) for one in kinds] for each in (ratio, error)), strict=True)
    found = [
        {name: round(float(value), 3) for name, value in zip(("held", "ratio", "error"), row, strict=True)}
        for row in rows
    ]
    return wider, dict(zip(map(str, kinds), found, strict=True))


def coverage(
    studies: Iterable[SimulatedStudy], selector: FreeForesight, k: int, population: str, seed: int = 0
) -> dict[str, float]:
    """How often the range to expect holds the true reach, and how wide and how far off it is.

    ``population`` is what the selector is given as the number of people: ``known``, ``known:FACTOR`` (times the true
    one), or ``estimated`` (nothing).
    """
    factor = population_factor(population)
    held, ratio, error, reached, over = [], [], [], [], []
    for led, draw in lead(studies, selector, (k,), np.random.default_rng(seed)):
        informed = replace(led.selector, people=None if factor is None else factor * led.study.network.n)
        mean, low, high = informed.expect_in(led.study.view, led.leaders, draw)
        near = 1e-6 * led.reach  # where everyone was surveyed the range is a point
        held.append(low - near <= led.reach <= high + near)
        ratio.append(high / low)
        error.append(abs(mean / led.reach - 1.0))
        reached.append((led.reach, mean, low, high))
        over.append(high > led.study.network.n + near)
    means = dict(zip(("reached", "expected", "low", "high"), np.mean(reached, axis=0).tolist(), strict=True))
    spread = {"ratio": float(np.median(ratio)), "error": float(np.median(error)), "too many": float(np.mean(over))}
    return {"studies": len(held), "held": float(np.mean(held)), **means, **spread}


def population_factor(population: str) -> float | None:
    """What the true number of people is multiplied by; None if it is not given."""
    kind, _, number = population.partition(":")
    try:
        if kind == "estimated" and not number:
            return None
        factor = float(number or 1.0)
    except ValueError:
        factor = 0.0
    if kind != "known" or not 0 < factor < np.inf:
        raise InputError(f"population must be known, known:FACTOR or estimated, got {population!r}")
    return factor
