"""The grid behind the paper's tables and figures: what is trained, and which methods are evaluated where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, get_args

from claim.errors import InputError
from claim.evaluation.runs import ProtocolName
from claim.experiments.jobs import Centrality, Evaluate, Optimum, Train
from claim.experiments.published import PROPERTY_NETWORK
from claim.jobs import Job, key_of
from claim.learning.config import VARIANTS, variant_named
from claim.networks import Network, load
from claim.networks.catalogue import LOOK_ALIKES, family_networks, locate

PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
BASELINE, CLAIM, SCOUT, FORESIGHT = "geometric-dqn", "claim", "scout", "foresight"
UNTRAINED = "untrained"  # CLAIM's networks of all seeds before their first update
SURVEYS = 5  # the paper's budget
TRAINING_NETWORKS = 2  # of a family, at most


@dataclass(frozen=True)
class Method:
    """A policy and a selector; a variant of CLAIM stands for its trained policies of all seeds."""

    policy: str
    selector: str = "greedy"

    @property
    def name(self) -> str:
        """As tables name it: the selector is left out if it is the paper's oracle."""
        return self.policy if self.selector == "greedy" else f"{self.policy} + {self.selector}"


def _methods(*policies: str, selector: str = "greedy") -> tuple[Method, ...]:
    return tuple(Method(policy, selector) for policy in policies)


TABLE = (
    *_methods("random", "random-class", UNTRAINED, "change-published", "change", "degree+inverse"),
    *_methods(BASELINE, CLAIM, SCOUT),
    *_methods("change", CLAIM, SCOUT, selector=FORESIGHT),
)
ABLATION = (*_methods(*VARIANTS, SCOUT), *_methods(CLAIM, SCOUT, selector=FORESIGHT))
LARGER = _methods("random", "random-class", UNTRAINED, "change", "degree+inverse", BASELINE, CLAIM, SCOUT)
STABILITY = _methods(BASELINE, CLAIM)
PROPERTIES = _methods("random", BASELINE, CLAIM)
CURVED = ("random", "change", CLAIM, SCOUT)
CURVES = (*_methods(*CURVED), *_methods(*CURVED, selector=FORESIGHT))


@dataclass(frozen=True)
class Case:
    """Where methods are compared: on a network, in a protocol, after a number of surveys."""

    network: Network
    protocol: ProtocolName
    surveys: int = SURVEYS


@dataclass(frozen=True)
class FamilySplit:
    """The networks of a family that policies are trained on, and those that they are evaluated on."""

    family: str
    train: tuple[Network, ...]
    test: tuple[Network, ...]


@dataclass(frozen=True)
class Scale:
    """The size of the experiments: the full scale is the paper's, the quick one shows that everything works."""

    name: str
    runs: int  # start sets a network
    seeds: int  # trained models of each variant
    episodes: int
    larger: tuple[tuple[int, int], ...]  # larger budgets that policies are trained for, with the episodes of each
    families: tuple[str, ...] = ("retweet", "animal", "zones")
    look_alikes: bool = False  # synthetic families in place of networks that are absent
    settings: tuple[tuple[str, Any], ...] = ()  # changes to every variant's configuration
    curve_runs: int = 100
    checkpoints: tuple[int, ...] = (0, 1, 2, 3, 5, 10, 20, 30, 50)  # surveys
    larger_runs: int = 100  # start sets a network at these budgets
    larger_families: int = 2  # how many families are trained for them

    def splits(self, data_dir: str | None = None) -> tuple[FamilySplit, ...]:
        """Load the networks of all families."""
        return tuple(self._split(family, data_dir) for family in self.families)

    def _split(self, family: str, data_dir: str | None) -> FamilySplit:
        train, test = family_networks(family, "train")[:TRAINING_NETWORKS], family_networks(family, "test")
        absent = [each.name for each in train + test if each.kind == "public" and locate(each, data_dir) is None]
        if absent and self.look_alikes:
            return self._split(next(like for like, real in LOOK_ALIKES.items() if real == family), data_dir)
        if absent:
            raise InputError(
                f"networks of the paper are absent ({', '.join(absent)}): get them with claim networks fetch all, "
                "or run the experiments on synthetic networks with --quick"
            )
        networks = [tuple(load(each.name, data_dir=data_dir) for each in known) for known in (train, test)]
        return FamilySplit(family, *networks)


FULL = Scale("full", runs=500, seeds=3, episodes=1000, larger=((20, 2000), (50, 500)))
QUICK = Scale(
    "quick",
    runs=30,
    seeds=2,
    episodes=150,
    look_alikes=True,
    settings=(("learning_starts", 100), ("validate_every", 50), ("validation_starts", 30)),
    curve_runs=10,
    larger=((20, 30),),
    larger_runs=10,
    larger_families=1,
)


@dataclass(frozen=True)
class Paper:
    """All jobs of the paper's experiments at one scale."""

    scale: Scale
    splits: tuple[FamilySplit, ...]

    @cached_property
    def networks(self) -> dict[str, Network]:
        """The test networks, by name."""
        return {network.name: network for split in self.splits for network in split.test}

    def split_of(self, network: Network) -> FamilySplit:
        """The split of a network's family."""
        return next(split for split in self.splits if network in split.test + split.train)

    @property
    def property_network(self) -> Network:
        """The network of the property figure: the paper's, or the last of the first family."""
        return self.networks.get(PROPERTY_NETWORK, self.splits[0].test[-1])

    @property
    def larger_splits(self) -> tuple[FamilySplit, ...]:
        """The families that are trained for larger budgets."""
        return self.splits[: self.scale.larger_families]

    def trainings(self, variant: str, split: FamilySplit, budget: int = SURVEYS) -> list[Train]:
        """A variant's trainings of all seeds, for the paper's five surveys or a larger budget."""
        episodes, settings = self.scale.episodes, self.scale.settings
        if variant == UNTRAINED:
            return [replace(each, episodes=0) for each in self.trainings(CLAIM, split, budget)]
        if budget != SURVEYS:
            episodes = dict(self.scale.larger)[budget]
            usual = variant_named(variant, **dict(settings)).validate_every
            every = max(min(usual, episodes // 10), 1)  # a curve of at least ten points, however few the episodes
            settings = tuple((dict(settings) | {"budget": budget, "validate_every": every}).items())
        return [Train(variant, split.family, split.train, seed, episodes, settings) for seed in range(self.scale.seeds)]

    def evaluations(self, method: Method, case: Case) -> list[Evaluate]:
        """A method on a network: one job, or one a trained model."""
        network, runs = case.network, self.scale.runs if case.surveys == SURVEYS else self.scale.larger_runs
        policies = self._policies(method.policy, self.split_of(network), case.surveys)
        return [Evaluate(network, policy, method.selector, case.protocol, runs, (case.surveys,)) for policy in policies]

    def curve_evaluations(self, network: Network) -> dict[tuple[str, str], Evaluate]:
        """Studies with leaders selected at several numbers of surveys, by the name of their line and the selector.

        A trained method is its first model; CLAIM also the first model trained for each larger budget.
        """
        scale, split = self.scale, self.split_of(network)
        found = {}
        for method in CURVES:
            policies = {method.name: self._policies(method.policy, split)[0]}
            if method.policy == CLAIM and split in self.larger_splits:
                for budget, _ in scale.larger:
                    policies[f"{method.name} (trained for {budget})"] = self.trainings(CLAIM, split, budget)[0]
            for name, policy in policies.items():
                job = Evaluate(network, policy, method.selector, "field", scale.curve_runs, scale.checkpoints)
                found[name, method.selector] = job
        return found

    def goal_evaluation(self, network: Network) -> Evaluate:
        """CLAIM's first model on any network of its family, training networks included."""
        return self.evaluations(Method(CLAIM), Case(network, "field"))[0]

    def _policies(self, policy: str, split: FamilySplit, budget: int = SURVEYS) -> Sequence[str | Train]:
        return self.trainings(policy, split, budget) if policy in (*VARIANTS, UNTRAINED) else [policy]

    def jobs(self) -> list[Job]:
        """All jobs, in the order in which a run that is cut off is of most use.

        First what needs no training, then the models of the paper's five surveys seed by seed, each followed by its
        evaluations; then goals and budget curves; the long trainings for larger budgets last.
        """
        splits, networks, larger = self.splits, self.networks.values(), self.larger_splits
        seeds, budgets = range(self.scale.seeds), [budget for budget, _ in self.scale.larger]
        variants = (CLAIM, UNTRAINED, *(each for each in VARIANTS if each != CLAIM))
        trainings = [self.trainings(variant, split)[seed] for seed, variant, split in product(seeds, variants, splits)]
        long_trainings = [
            self.trainings(variant, split, budget)[seed]
            for seed, budget, variant, split in product(seeds, budgets, (UNTRAINED, CLAIM, BASELINE), larger)
        ]
        methods = dict.fromkeys(TABLE + ABLATION + STABILITY + PROPERTIES)
        cases = product(methods, (Case(*each) for each in product(networks, PROTOCOLS)))
        evaluations = [job for each in cases for job in self.evaluations(*each)]
        large = [network for split in larger for network in split.test]
        long_cases = product((Case(network, "field", budget) for budget, network in product(budgets, large)), LARGER)
        long_evaluations = [job for case, method in long_cases for job in self.evaluations(method, case)]
        curves = [job for network in networks for job in self.curve_evaluations(network).values()]
        long_curves = [job for job in curves if job.policy in long_trainings]
        found: list[Job] = [
            *map(Optimum, networks),
            Centrality(self.property_network),
            *_ordered(evaluations, trainings),
            *(self.goal_evaluation(network) for split in splits for network in (*split.test, *split.train)),
            *(job for job in curves if job not in long_curves),
            *_ordered(long_evaluations + long_curves, long_trainings),
        ]
        return list({key_of(job): job for job in found}.values())


def _ordered(evaluations: Sequence[Evaluate], trainings: Sequence[Train]) -> Iterator[Job]:
    """First the evaluations that need no training, then each training followed by its evaluations."""
    yield from (job for job in evaluations if not job.needs)
    for training in trainings:
        yield training
        yield from (job for job in evaluations if job.policy == training)
