"""Examples of what people reach and what leaders add in simulated studies, and trees grown on them, as jobs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from claim.cascades.worlds import Worlds
from claim.fitting.studies import Pool, SimulatedStudy, simulated_studies
from claim.jobs import Job, Result, key_of
from claim.networks import Network
from claim.networks.network import FloatArray, OffsetArray
from claim.randomness import draw_seed, named_seed
from claim.selection.foresight.features import BEFORE, FEATURES, SMALL, STUDY, FeatureState
from claim.selection.foresight.gate import Gate, fit_gate
from claim.selection.foresight.kernels import true_gains
from claim.selection.foresight.model import Model
from claim.selection.foresight.trees import Growth, Trees, grow
from claim.selection.kernels import gains_beyond

Predict = Callable[[FloatArray], FloatArray]  # features to factors

LEADERS = 10
SEEN_WORLDS = 150
TRUE_WORLDS = 200
WORLDS_FOR = 60  # studies that share the same true worlds
MOST_CLASSES = 16  # recorded at a pick
MOST_MEMBERS = 12  # of a class, whose true gains are averaged
SMALLEST_MEAN = 0.05  # people
STUDY_PLACES = [FEATURES.index(name) for name in STUDY]


class Rows(NamedTuple):
    """Examples: the features, what ``free`` expects, and the truth."""

    features: FloatArray  # (rows, columns)
    free: FloatArray  # (rows,)
    truth: FloatArray  # (rows,)

    @classmethod
    def joined(cls, parts: Iterable["Rows"]) -> "Rows":
        """All parts in one."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def as_shares(self, study: OffsetArray) -> "Rows":
        """What is expected and the truth as shares of their study (rows,): what sets the people of a study apart."""
        free, truth = (each / np.maximum(np.bincount(study, each), SMALL)[study] for each in (self.free, self.truth))
        return Rows(self.features, free, truth)

    def weights(self) -> FloatArray:
        """A row weighs what ``free`` expects, relative to the mean truth with the same p; together they weigh 1.

        Otherwise the examples with the largest p, where most people are reached, would dominate.
        """
        weight, chances = np.maximum(self.free, 1e-6), self.features[:, BEFORE.index("p")]
        for p in np.unique(chances):
            weight[chances == p] /= max(float(self.truth[chances == p].mean()), SMALLEST_MEAN)
        shares: FloatArray = weight / weight.sum()
        return shares


@dataclass(frozen=True, eq=False)  # compared by identity: each is made once, and its needs are many
class Examples:
    """Rows of many studies on one network; ``models`` are what is fitted so far (hidden reach, then gains).

    In the file, ``study`` numbers the study of each row, and ``studies`` has the features of each study.
    """

    pool: Pool
    seed: int
    models: tuple["FitAmounts | FitGains", ...] = ()
    wander: float = 0.0

    @property
    def name(self) -> str:
        """Shown while it runs."""
        return f"{('hidden reach', 'leaders', 'leaders again')[len(self.models)]} on {self.pool.network.name}"

    @property
    def effort(self) -> float:
        """Seconds, about."""
        return self.pool.studies * (0.05 if self.models else 0.02)

    @property
    def needs(self) -> tuple[Job, ...]:
        """The trees that hidden reach and leaders are guessed by."""
        return self.models

    def identity(self) -> dict[str, Any]:
        """The network, and what is simulated."""
        network = self.pool.network
        return {"network": [network.name, network.checksum], "studies": [self.pool.studies, self.seed, self.wander]}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """The rows, in a file of the workspace."""
        rng = np.random.default_rng(named_seed(self.seed, "examples", self.pool.network.name, len(self.models)))
        hidden = read_trees(inputs[0]["trees"]).predict if inputs else None
        model = read_model(*inputs) if len(inputs) > 1 else None
        parts: list[Rows] = []
        for i, study in enumerate(simulated_studies(self.pool.network, self.pool.studies, rng)):
            if hidden is None:
                parts.append(hidden_rows(study, rng))
                continue
            if i % WORLDS_FOR == 0:
                truth: dict[float, Worlds] = {}
            if study.p not in truth:
                truth[study.p] = Worlds.draw(study.network, study.p, TRUE_WORLDS, draw_seed(rng))
            parts.append(gain_rows(study, truth[study.p], hidden, model, self.wander, rng))
        path = workspace / "examples" / f"{key_of(self)}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [part for part in parts if len(part.truth)]
        arrays = {name: values.astype(np.float32) for name, values in Rows.joined(parts)._asdict().items()}
        studies = np.array([part.features[0, STUDY_PLACES] for part in parts], dtype=np.float32)
        numbers = np.repeat(np.arange(len(parts)), [len(part.truth) for part in parts])
        np.savez_compressed(path, **arrays, studies=studies, study=numbers)
        return {"rows": path.name}


@dataclass(frozen=True, eq=False)
class FitTrees:
    """Trees for the factor between the truth and what ``free`` expects, all kinds of networks weighing the same."""

    name: str
    examples: tuple[Examples, ...]
    growth: Growth
    seed: int

    @property
    def needs(self) -> tuple[Job, ...]:
        """The examples."""
        return self.examples

    @property
    def effort(self) -> float:
        """Seconds, about."""
        return 60.0

    def identity(self) -> dict[str, Any]:
        """How the trees are grown."""
        return {"name": self.name, "growth": asdict(self.growth), "seed": self.seed}

    def grown(self, parts: Sequence[Rows], weights: Sequence[FloatArray], kinds: Sequence[str], sort: str = "") -> Any:
        """The trees as in a model's file; the ``weights`` of the rows of a network sum to 1."""
        each = [w / (kinds.count(kind) * len(set(kinds))) for w, kind in zip(weights, kinds, strict=True)]
        rows, weight = Rows.joined(parts), np.concatenate(each)
        rng = np.random.default_rng(named_seed(self.seed, self.name + sort))
        factors = rows.truth / np.maximum(rows.free, 1e-6)
        return grow(rows.features, factors, weight * len(weight), self.growth, rng).to_dict()


class FitAmounts(FitTrees):
    """Trees of numbers of people: of the hidden reach, or of what leaders add."""

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """The trees, as in a model's file."""
        parts = [read_rows(workspace, found).rows for found in inputs]
        return {"trees": self.grown(parts, [part.weights() for part in parts], [e.pool.kind for e in self.examples])}


class FitGains(FitTrees):
    """Trees of what leaders add in comparison with each other, for each sort of networks, and the gate between them.

    One set of trees for all networks mostly learns how networks differ, which changes no choice.
    """

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """The trees of each sort and the gate, as in a model's file."""
        pools = [each.pool for each in self.examples]
        sorts = tuple(sorted({pool.sort for pool in pools}))
        found = [read_rows(workspace, each) for each in inputs]
        parts, gains = [each.rows.as_shares(each.study) for each in found], []
        for sort in sorts:
            own = [i for i, pool in enumerate(pools) if pool.sort == sort]
            weights = [parts[i].free / parts[i].free.sum() for i in own]
            gains.append(self.grown([parts[i] for i in own], weights, [pools[i].kind for i in own], sort))
        gate = self._gate([each.studies for each in found], pools, sorts) if len(sorts) > 1 else None
        return {"gains": gains, "gate": gate and gate.to_dict()}

    def _gate(self, studies: Sequence[FloatArray], pools: Sequence[Pool], sorts: tuple[str, ...]) -> Gate:
        """All sorts weigh the same, as do the kinds of a sort, and the networks of a kind."""
        kinds, kind_sorts = [pool.kind for pool in pools], [sort for _, sort in {(p.kind, p.sort) for p in pools}]
        weights = [
            np.full(len(found), 1.0 / (len(found) * kinds.count(pool.kind) * kind_sorts.count(pool.sort)))
            for found, pool in zip(studies, pools, strict=True)
        ]
        sort = [np.full(len(found), sorts.index(pool.sort)) for found, pool in zip(studies, pools, strict=True)]
        return fit_gate(np.concatenate(studies), np.concatenate(sort), np.concatenate(weights), sorts)


class StudyRows(NamedTuple):
    """The rows of many studies, the study of each row (rows,), and the features of each study (studies, columns)."""

    rows: Rows
    study: OffsetArray
    studies: FloatArray


def read_rows(workspace: Path, found: Result) -> StudyRows:
    """The rows of a finished job."""
    with np.load(workspace / "examples" / found["rows"]) as file:
        rows = Rows(*(file[name].astype(np.float64) for name in Rows._fields))
        return StudyRows(rows, file["study"], file["studies"].astype(np.float64))


def read_trees(data: dict[str, Any]) -> Trees:
    """Trees of a finished job."""
    return Trees.from_dict(data, range(len(FEATURES)))


def read_model(hidden: Result, gains: Result, level: Result | None = None, **others: Any) -> Model:
    """A model of finished jobs."""
    gate = gains["gate"] and Gate.from_dict(gains["gate"])
    amounts = None if level is None else read_trees(level["trees"])
    return Model(read_trees(hidden["trees"]), tuple(map(read_trees, gains["gains"])), gate, amounts, **others)


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
    study: SimulatedStudy, truth: Worlds, hidden: Predict, model: Model | None, wander: float, rng: np.random.Generator
) -> Rows:
    """Pick leaders as the models would, with probability ``wander`` another, and record what candidates really add."""
    view = study.view
    state = FeatureState(view, study.p, SEEN_WORLDS, draw_seed(rng))
    state.guess_hidden(hidden(state.before))
    gain = None if model is None else model.gain_in(state.study)
    covered = np.zeros(len(truth.starts) - 1, dtype=np.bool_)
    rows = []
    for _ in range(min(LEADERS, view.n)):
        free = np.maximum(state.gains(), SMALL)
        features = state.features(free)
        score = free if gain is None else free * gain.predict(features)
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
