"""The grid behind the paper's tables and figures: what is trained, and which methods are evaluated where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product, zip_longest
from typing import Any, get_args

from claim.errors import InputError
from claim.evaluation.runs import ProtocolName
from claim.experiments.jobs import Centrality, Evaluate, Optimum, Train
from claim.experiments.published import PROPERTY_NETWORK
from claim.jobs import Job, key_of
from claim.learning.config import EPISODES, Config, Preset
from claim.networks import Network, load
from claim.networks.catalogue import LOOK_ALIKES, family_networks, locate, with_look_alikes

PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
BASELINE, PAPER_CLAIM, CLAIM = "geometric-dqn", "paper-claim", "claim"
SHAPED, SCOUT, FORESIGHT = "shaped-dqn", "scout", "foresight"
UNTRAINED = "untrained"  # claim's networks of all seeds before their first update
HALVED, FROM_EPISODES = "claim in half the episodes", "claim from episodes"
SURVEYS = 5  # the paper's budget
TRAINING_NETWORKS = 2  # of a family, at most


@dataclass(frozen=True)
class Variant:
    """How a method is trained."""

    seeds: int  # models, at the full scale
    variant: str = "claim"
    preset: Preset | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    halved: bool = False  # half as many episodes
    times: int = 1  # as many episodes as others of its kind


def _changed(part: str) -> tuple[str, Variant]:
    """The ablation of claim that changes one part of it."""
    usual = getattr(Config(), part)
    return f"{CLAIM} {'without' if usual else 'with'} {part}", Variant(3, settings=((part, not usual),), halved=True)


PAPER_VARIANTS = {
    BASELINE: Variant(3, "geometric-dqn", "paper"),
    "goal-dqn": Variant(1, "goal-dqn", "paper"),
    "her": Variant(1, "her", "paper"),
    PAPER_CLAIM: Variant(3, "claim", "paper"),
}
ABLATED_VARIANTS = {
    HALVED: Variant(3, halved=True),
    **dict(map(_changed, ("goal", "hindsight", "curriculum"))),
    FROM_EPISODES: Variant(3, settings=(("every_choice", False),), halved=True, times=2),  # takes as long
}
CLAIM_VARIANTS = {CLAIM: Variant(5), **ABLATED_VARIANTS}
VARIANTS = {**CLAIM_VARIANTS, **PAPER_VARIANTS}  # in the order of the first trainings


@dataclass(frozen=True)
class Method:
    """A policy and a selector; the name of a variant stands for its trained policies of all seeds."""

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
    *_methods(BASELINE, PAPER_CLAIM, SHAPED, CLAIM, SCOUT),
    *_methods("change", CLAIM, SCOUT, selector=FORESIGHT),
)
ABLATION = _methods(*PAPER_VARIANTS)  # this and the next in the paper's protocol only
CLAIM_ABLATION = _methods(*ABLATED_VARIANTS)
LARGER = _methods("random", "random-class", UNTRAINED, "change", "degree+inverse", SHAPED, CLAIM, SCOUT)
STABILITY = _methods(BASELINE, PAPER_CLAIM, CLAIM)
PROPERTIES = _methods("random", BASELINE, PAPER_CLAIM, CLAIM)
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
    look_alikes: tuple[Network, ...] = ()  # which claim is trained on, too


@dataclass(frozen=True)
class Scale:
    """The size of the experiments: the full scale is the paper's, the quick one shows that everything works."""

    name: str
    runs: int  # start sets a network
    seeds: int  # models of each variant, at most
    episodes: int  # of claim
    paper_episodes: int  # of the paper's variants
    larger_episodes: int  # of claim, for the larger budget
    larger_seeds: int = 3
    larger_budget: int = 20  # surveys that claim is trained for, besides the paper's five
    larger_surveys: tuple[int, ...] = (20, 50)  # after which it is evaluated
    larger_runs: int = 100  # start sets a network
    families: tuple[str, ...] = ("retweet", "animal", "zones")
    main_families: int = 2  # on how many of them all methods are trained; on the others claim alone, one seed
    look_alikes: bool = False  # synthetic families in place of networks that are absent
    settings: tuple[tuple[str, Any], ...] = ()  # changes to the settings of claim
    paper_settings: tuple[tuple[str, Any], ...] = ()  # and of the paper's variants
    curve_runs: int = 100
    checkpoints: tuple[int, ...] = (0, 1, 2, 3, 5, 10, 20, 30, 50)  # surveys

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
        alike = [each for like in with_look_alikes(family)[1:] for each in family_networks(like, "train")]
        networks = [tuple(load(each.name, data_dir=data_dir) for each in known) for known in (train, test, alike)]
        return FamilySplit(family, *networks)


FULL = Scale("full", runs=500, seeds=5, episodes=2560, paper_episodes=EPISODES["paper"], larger_episodes=320)
_QUICK = (("validate_every", 10), ("validation_starts", 5))
QUICK = Scale(
    "quick",
    runs=10,
    seeds=2,
    episodes=20,
    paper_episodes=10,
    larger_episodes=2,
    larger_seeds=2,
    larger_budget=10,
    larger_surveys=(10,),
    larger_runs=5,
    main_families=1,
    look_alikes=True,
    settings=_QUICK,
    paper_settings=(*_QUICK, ("dimensions", 8), ("clusters", 8), ("layers", (32, 16)), ("batch_size", 16)),
    curve_runs=5,
    checkpoints=(0, 5, 10),
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
    def main_splits(self) -> tuple[FamilySplit, ...]:
        """The families that every variant is trained on, and claim also for the larger budget."""
        return self.splits[: self.scale.main_families]

    def trainings(self, policy: str, split: FamilySplit, surveys: int = SURVEYS) -> list[Train]:
        """A method's trainings of all seeds for a number of surveys; none on a family that it is not trained on."""
        if policy == UNTRAINED:
            return [replace(each, episodes=0) for each in self.trainings(CLAIM, split, surveys)]
        scale, how, larger = self.scale, VARIANTS[policy], surveys > SURVEYS
        if (policy != CLAIM or larger) and split not in self.main_splits:
            return []
        seeds = min(how.seeds, scale.larger_seeds if larger else scale.seeds) if split in self.main_splits else 1
        episodes = scale.paper_episodes if how.preset == "paper" else scale.episodes
        episodes = how.times * (episodes // 2 if how.halved else episodes)
        settings = dict((*(scale.paper_settings if how.preset == "paper" else scale.settings), *how.settings))
        if larger:
            episodes = scale.larger_episodes
            settings |= {"budget": scale.larger_budget, "validate_every": max(episodes // 5, 1)}
        if how.times > 1:  # schedules over the whole training, as usual
            usual = Config(**settings)
            settings["validate_every"] = how.times * usual.validate_every
            settings["learning_rate_decay"] = usual.learning_rate_decay ** (1 / how.times)
        networks = split.train if how.preset == "paper" else split.train + split.look_alikes
        given = (how.variant, how.preset, tuple(settings.items()))
        return [Train(policy, split.family, networks, seed, episodes, *given) for seed in range(seeds)]

    def evaluations(self, method: Method, case: Case) -> list[Evaluate]:
        """A method on a network: one job, or one a trained model.

        None if it is not trained on the family. The paper's variants are evaluated in the paper's protocol only:
        DeepWalk makes their surveys slow.
        """
        if method.policy in PAPER_VARIANTS and case.protocol != "paper":
            return []
        network, runs = case.network, self.scale.runs if case.surveys == SURVEYS else self.scale.larger_runs
        policies = self._policies(method.policy, self.split_of(network), case.surveys)
        return [Evaluate(network, policy, method.selector, case.protocol, runs, (case.surveys,)) for policy in policies]

    def curve_evaluations(self, network: Network) -> dict[tuple[str, str], Evaluate]:
        """Studies with leaders selected at several numbers of surveys, by the name of their line and the selector.

        A trained method is its first model; claim also the first model trained for the larger budget.
        """
        scale, split = self.scale, self.split_of(network)
        found = {}
        for method in CURVES:
            policies = {method.name: self._policies(method.policy, split)[0]}
            if method.policy == CLAIM and split in self.main_splits:
                larger = scale.larger_budget
                policies[f"{method.name} (trained for {larger})"] = self.trainings(CLAIM, split, larger)[0]
            for name, policy in policies.items():
                job = Evaluate(network, policy, method.selector, "field", scale.curve_runs, scale.checkpoints)
                found[name, method.selector] = job
        return found

    def goal_evaluation(self, network: Network) -> Evaluate:
        """The first model of the paper's CLAIM on any network of a main family, training networks included."""
        return self.evaluations(Method(PAPER_CLAIM), Case(network, "paper"))[0]

    def _policies(self, policy: str, split: FamilySplit, surveys: int = SURVEYS) -> Sequence[str | Train]:
        return self.trainings(policy, split, surveys) if policy in (*VARIANTS, UNTRAINED) else [policy]

    def jobs(self) -> list[Job]:
        """All jobs, in the order in which a run that is cut off is of most use.

        First what needs no training, then the models of the paper's five surveys seed by seed, each followed by its
        evaluations; then goals and budget curves; the trainings for the larger budget last.
        """
        splits, networks, main = self.splits, self.networks.values(), self.main_splits
        variants = (CLAIM, UNTRAINED, *(each for each in VARIANTS if each != CLAIM))
        found_by_seed = zip_longest(*(self.trainings(*each) for each in product(variants, splits)))
        trainings = [training for of_seed in found_by_seed for training in of_seed if training is not None]
        larger = self.scale.larger_budget
        long_trainings = [job for each in product((UNTRAINED, CLAIM), main) for job in self.trainings(*each, larger)]
        methods = dict.fromkeys(TABLE + STABILITY + PROPERTIES)
        cases = [*product(methods, (Case(*each) for each in product(networks, PROTOCOLS)))]
        cases += product(ABLATION + CLAIM_ABLATION, (Case(network, "paper") for network in networks))
        evaluations = [job for each in cases for job in self.evaluations(*each)]
        large = product(self.scale.larger_surveys, (network for split in main for network in split.test))
        long_cases = product((Case(network, "field", surveys) for surveys, network in large), LARGER)
        long_evaluations = [job for case, method in long_cases for job in self.evaluations(method, case)]
        curves = [job for network in networks for job in self.curve_evaluations(network).values()]
        long_curves = [job for job in curves if job.policy in long_trainings]
        found: list[Job] = [
            *map(Optimum, networks),
            Centrality(self.property_network),
            *_ordered(evaluations, trainings),
            *(self.goal_evaluation(network) for split in main for network in (*split.test, *split.train)),
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
