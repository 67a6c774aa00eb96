"""The grid behind the paper's tables and figures: what is trained, and who plays where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

from claim.discovery import POLICIES
from claim.evaluation.runs import ProtocolName
from claim.experiments.jobs import AS_ESTIMATED, Centrality, Optimum, Play, Train, Wish
from claim.experiments.published import PROPERTY_NETWORK
from claim.experiments.scales import Field, Scale
from claim.jobs import Job, key_of
from claim.learning.config import VARIANTS, variant_named
from claim.networks import Network

PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
BASELINE, CLAIM, SCOUT = "geometric-dqn", "claim", "scout"
UNTRAINED = "untrained"  # CLAIM's networks of all seeds before their first update
SURVEYS = 5  # the paper's budget


@dataclass(frozen=True)
class Method:
    """Who surveys and who chooses leaders; a variant of CLAIM stands for its policies of all seeds."""

    policy: str
    selector: str = "greedy"

    @property
    def name(self) -> str:
        """How tables call it: the paper's oracle goes without saying."""
        return self.policy if self.selector == "greedy" else f"{self.policy} + {self.selector}"


def _known(*methods: Method) -> tuple[Method, ...]:
    """Those whose policy this version has."""
    return tuple(each for each in methods if each.policy in (*POLICIES, *VARIANTS, UNTRAINED))


FORESIGHT = "foresight"
TABLE = _known(
    Method("random"),
    Method("random-class"),
    Method(UNTRAINED),
    Method("change-published"),
    Method("change"),
    Method("degree+inverse"),
    Method(BASELINE),
    Method(CLAIM),
    Method(SCOUT),
    Method("change", FORESIGHT),
    Method(CLAIM, FORESIGHT),
    Method(SCOUT, FORESIGHT),
)
ABLATION = _known(
    *(Method(variant) for variant in VARIANTS),
    Method(SCOUT),
    Method(CLAIM, FORESIGHT),
    Method(SCOUT, FORESIGHT),
)
LARGER = _known(
    *(Method(policy) for policy in ("random", "random-class", UNTRAINED, "change", "degree+inverse")),
    *(Method(policy) for policy in (BASELINE, CLAIM, SCOUT)),
)
STABILITY = (Method(BASELINE), Method(CLAIM))
PROPERTIES = (Method("random"), Method(BASELINE), Method(CLAIM))
CURVES = _known(
    *(Method(policy, selector) for selector in ("greedy", FORESIGHT) for policy in ("random", "change", CLAIM, SCOUT))
)


@dataclass(frozen=True)
class Paper:
    """All jobs of the paper's experiments at one scale."""

    scale: Scale
    fields: tuple[Field, ...]

    @cached_property
    def networks(self) -> dict[str, Network]:
        """The networks that are judged on, by name."""
        return {network.name: network for field in self.fields for network in field.test}

    def field_of(self, network: Network) -> Field:
        """The family a network belongs to here."""
        return next(field for field in self.fields if network in field.test + field.train)

    @property
    def property_network(self) -> Network:
        """The one whose surveyed people are looked at: the paper's, or the last of the first family."""
        return self.networks.get(PROPERTY_NETWORK, self.fields[0].test[-1])

    # Trainings -------------------------------------------------------------------------------------------------------

    def training(
        self, variant: str, field: Field, seed: int, wish: Wish = AS_ESTIMATED, budget: int = SURVEYS
    ) -> Train:
        """One training, with the paper's five surveys or for a larger budget."""
        if budget == SURVEYS:
            return Train(variant, field.family, field.train, seed, self.scale.episodes, self.scale.settings, wish)
        episodes = dict(self.scale.larger)[budget]
        usual = variant_named(variant, **dict(self.scale.settings)).validate_every
        often = max(min(usual, episodes // 10), 1)  # a curve of at least ten points, however few the episodes
        settings = dict(self.scale.settings) | {"budget": budget, "validate_every": often}
        return Train(variant, field.family, field.train, seed, episodes, tuple(settings.items()), wish)

    def trainings(self, variant: str, field: Field, budget: int = SURVEYS) -> list[Train]:
        """A variant's trainings of all seeds; untrained, the beginnings of CLAIM's."""
        if variant == UNTRAINED:
            return [replace(each, episodes=0) for each in self.trainings(CLAIM, field, budget)]
        return [self.training(variant, field, seed, budget=budget) for seed in range(self.scale.seeds)]

    @property
    def larger_fields(self) -> tuple[Field, ...]:
        """The families that are trained for larger budgets."""
        return self.fields[: self.scale.larger_families] if self.scale.larger else ()

    def wishful(self) -> Iterator[tuple[Field, Wish, Train]]:
        """CLAIM trained with goals from wrong estimates, with one constant goal, and with the proven bound."""
        for field in self.fields[: self.scale.wishing_families]:
            for wish in self.scale.training_wishes:
                yield field, wish, self.training(CLAIM, field, 0, wish)

    # Studies ---------------------------------------------------------------------------------------------------------

    def plays(self, method: Method, network: Network, protocol: ProtocolName, budget: int = SURVEYS) -> list[Play]:
        """A method's studies on a network: one job, or one a trained model."""
        runs = self.scale.runs if budget == SURVEYS else self.scale.larger_runs
        return [
            Play(network, policy, method.selector, protocol, runs, (budget,))
            for policy in self._policies(method.policy, self.field_of(network), budget)
        ]

    def curve_plays(self, method: Method, network: Network) -> dict[str, Play]:
        """Studies with leaders chosen along the way, by the name of their line."""
        scale, field = self.scale, self.field_of(network)
        policies: dict[str, str | Train] = {method.name: self._policies(method.policy, field)[0]}
        if method.policy == CLAIM and field in self.larger_fields:
            for budget, _ in scale.larger:
                policies[f"{method.name} (trained for {budget})"] = self.training(CLAIM, field, 0, budget=budget)
        return {
            name: Play(network, policy, method.selector, "field", scale.curve_runs, scale.checkpoints)
            for name, policy in policies.items()
        }

    def goal_play(self, network: Network) -> Play:
        """CLAIM's first model on any network of its family, training networks too."""
        return Play(network, self.training(CLAIM, self.field_of(network), 0), "greedy", "field", self.scale.runs)

    def wish_plays(self, network: Network) -> dict[tuple[str, str], Play]:
        """CLAIM with wrong goals, by when they are wrong and how."""
        field = self.field_of(network)
        usual = self.goal_play(network)
        found: dict[tuple[str, str], Play] = {}
        for wish in self.scale.survey_wishes:
            found["surveys", wish.name] = Play(network, usual.policy, "greedy", "field", self.scale.runs, wish=wish)
        for at, wish, training in self.wishful():
            if at == field:
                found["training", wish.name] = Play(network, training, "greedy", "field", self.scale.runs)
        return found

    def _policies(self, policy: str, field: Field, budget: int = SURVEYS) -> Sequence[str | Train]:
        return self.trainings(policy, field, budget) if policy in (*VARIANTS, UNTRAINED) else [policy]

    # All -------------------------------------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        """Everything, in the order in which a run that is cut off is of most use.

        First what needs no training, then the models of the paper's five surveys seed by seed, each followed by its
        studies; then goals and budget curves; the long trainings for larger budgets last.
        """
        found = [*self._untaught(), *self._taught(), *self._goal_jobs(), *self._curves(), *self._larger()]
        return list({key_of(job): job for job in found}.values())

    def _untaught(self) -> Iterator[Job]:
        for network in self.networks.values():
            yield Optimum(network)
        yield Centrality(self.property_network)
        yield from (play for play in self._table_plays() if not play.needs)

    def _taught(self) -> Iterator[Job]:
        plays = [play for play in self._table_plays() if play.needs]
        for seed in range(self.scale.seeds):
            for variant in (CLAIM, UNTRAINED, *(each for each in VARIANTS if each != CLAIM)):
                for field in self.fields:
                    training = self.trainings(variant, field)[seed]
                    yield training
                    yield from (play for play in plays if play.policy == training)

    def _table_plays(self) -> list[Play]:
        methods = dict.fromkeys(TABLE + ABLATION + STABILITY + PROPERTIES)
        return [
            play
            for method in methods
            for network in self.networks.values()
            for protocol in PROTOCOLS
            for play in self.plays(method, network, protocol)
        ]

    def _goal_jobs(self) -> Iterator[Job]:
        for field in self.fields:
            yield from (self.goal_play(network) for network in (*field.test, *field.train))
        for network in self.networks.values():
            yield from self.wish_plays(network).values()

    def _curves(self) -> Iterator[Job]:
        """Those that need no training for a larger budget."""
        yield from (play for play in self._curve_plays() if not _is_for_more(play))

    def _curve_plays(self) -> list[Play]:
        networks = self.networks.values()
        return [
            play for network in networks for method in CURVES for play in self.curve_plays(method, network).values()
        ]

    def _larger(self) -> Iterator[Job]:
        curves = [play for play in self._curve_plays() if _is_for_more(play)]
        plays = [
            play
            for budget, _ in self.scale.larger
            for field in self.larger_fields
            for network in field.test
            for method in LARGER
            for play in self.plays(method, network, "field", budget)
        ]
        yield from (play for play in plays if not play.needs)
        for seed in range(self.scale.seeds):
            for budget, _ in self.scale.larger:
                for variant in (UNTRAINED, CLAIM, BASELINE):
                    for field in self.larger_fields:
                        training = self.trainings(variant, field, budget)[seed]
                        yield training
                        yield from (play for play in plays + curves if play.policy == training)


def _is_for_more(play: Play) -> bool:
    """Whether it needs a training for a larger budget than the paper's."""
    return isinstance(play.policy, Train) and play.policy.config.budget != SURVEYS
