"""Fit the model of foresight to simulated studies, in a folder of jobs that can be stopped and resumed.

Trees of the hidden reach come first, then those of what leaders add for each sort of networks, in two rounds: leaders
picked as ``free`` would pick them, then as the trees of the first round would. Trees for all sorts say how much leaders
add in people, and the reach to expect from them is calibrated on fresh studies.
"""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from claim.errors import ClaimError
from claim.fitting.leaders import Examples, FitAmounts, FitGains, read_model
from claim.fitting.reach import FitReach, ReachExamples
from claim.fitting.studies import Pool, PoolSettings, dense_pool, training_pool
from claim.jobs import Store, Sweep, Watch, backend_named
from claim.selection.foresight.model import Model, save_model
from claim.selection.foresight.reach import Reach
from claim.selection.foresight.trees import Growth, lightgbm


@dataclass(frozen=True)
class FitSettings:
    """How much is simulated and how trees are grown."""

    pool: PoolSettings = field(default_factory=PoolSettings)
    wander: tuple[float, float] = (0.3, 0.2)  # share of leaders not picked by the model, in the two rounds
    hidden: Growth = field(default_factory=lambda: Growth(trees=160, depth=4, rate=0.06, least=40.0))
    first: Growth = field(default_factory=lambda: Growth(trees=80, depth=4, rate=0.1, least=100.0))
    gain: Growth = field(default_factory=lambda: Growth(trees=200, depth=4, rate=0.05, least=120.0))
    level: Growth = field(default_factory=lambda: Growth(trees=320, depth=5, rate=0.04, least=120.0))
    reach: Growth = field(
        default_factory=lambda: Growth(trees=60, depth=3, rate=0.08, least=60.0, rows=0.7, features=0.7)
    )


@dataclass(frozen=True)
class Fit:
    """The jobs of a model, each of which needs those before it."""

    pools: tuple[Pool, ...]
    settings: FitSettings
    seed: int = 0
    dense: tuple[Pool, ...] = ()  # further networks for the calibration of the reach

    def _examples(self, *models: FitAmounts | FitGains, wander: float = 0.0) -> tuple[Examples, ...]:
        return tuple(Examples(pool, self.seed, models, wander) for pool in self.pools)

    @cached_property
    def hidden(self) -> FitAmounts:
        """Trees of the hidden reach."""
        return FitAmounts("hidden reach", self._examples(), self.settings.hidden, self.seed)

    @cached_property
    def led(self) -> tuple[Examples, ...]:
        """Examples of what leaders add, of both rounds."""
        first = self._examples(self.hidden, wander=self.settings.wander[0])
        guess = FitGains("gains, first round", first, self.settings.first, self.seed)
        return *first, *self._examples(self.hidden, guess, wander=self.settings.wander[1])

    @cached_property
    def gains(self) -> FitGains:
        """Trees of what leaders add for each sort of networks, and the gate between them."""
        return FitGains("gains", self.led, self.settings.gain, self.seed)

    @cached_property
    def level(self) -> FitAmounts:
        """Trees of how many people leaders add, for all sorts of networks."""
        return FitAmounts("level", self.led, self.settings.level, self.seed)

    @cached_property
    def reach(self) -> FitReach:
        """The calibration of the reach to expect."""
        examples = tuple(
            ReachExamples(pool, self.seed, (self.hidden, self.gains, self.level)) for pool in (*self.pools, *self.dense)
        )
        return FitReach(examples, self.settings.reach, self.seed)


def fit_model(fit: Fit, folder: Path, workers: int | None = None, watch: Watch = lambda standing: None) -> Model:
    """Do all jobs that are not done yet, in a folder that keeps their results; returns the model."""
    lightgbm()  # before studies are simulated, which takes minutes
    store = Store(folder)
    with store.locked():
        sweep = Sweep([fit.reach], store, backend_named("local", folder, workers, None), watch, stop_at_failure=True)
        sweep.run()
        if sweep.failures:
            raise ClaimError("; ".join(f"{name}: {reason}" for name, reason in sweep.failures.items()))
        hidden, gains, level, reach = (store.load(job) or {} for job in (fit.hidden, fit.gains, fit.level, fit.reach))
    networks = {pool.network.name: pool.network.checksum for pool in fit.pools if pool.real}
    card = {"networks": networks, "settings": asdict(fit.settings), "coverage on kinds left out": reach["coverage"]}
    return read_model(hidden, gains, level, reach=Reach.from_dict(reach["reach"]), card=card)


def train_by_name(
    family: str,
    out: Path,
    seed: int = 0,
    folder: Path | None = None,
    workers: int | None = None,
    watch: Watch = lambda standing: None,
    data_dir: str | None = None,
    settings: FitSettings | None = None,
) -> Path:
    """Do what ``claim foresight train --family`` does: fit to the family's training networks, from one seed."""
    settings = settings or FitSettings(PoolSettings(family))
    fit = Fit(training_pool(settings.pool, seed, data_dir), settings, seed, dense_pool(settings.pool, seed))
    model = fit_model(fit, folder or out.with_suffix(".jobs"), workers, watch)
    model.card["command"] = f"claim foresight train --family {family} --seed {seed} --out {out.name}"
    return save_model(model, out)
