"""The grid behind the paper's tables and figures: what is trained, and who plays where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from claim.discovery import POLICIES
from claim.evaluation.protocols import ProtocolName
from claim.experiments.jobs import Job
from claim.experiments.measured import Centrality, Optimum
from claim.experiments.played import Play
from claim.experiments.published import PROPERTY_NETWORK
from claim.experiments.scales import Field, Scale
from claim.experiments.trained import Train
from claim.experiments.wishes import AS_ESTIMATED, Wish
from claim.learning.config import VARIANTS
from claim.networks import Network

PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
BASELINE, CLAIM, SCOUT = "geometric-dqn", "claim", "scout"


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
    return tuple(each for each in methods if each.policy in POLICIES or each.policy in VARIANTS)


FORESIGHT = "foresight"
TABLE = _known(
    Method("random"),
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

    def training(self, variant: str, field: Field, seed: int, wish: Wish = AS_ESTIMATED) -> Train:
        """One training with the paper's five surveys."""
        return Train(variant, field.family, field.train, seed, self.scale.episodes, self.scale.settings, wish)

    def trainings(self, variant: str, field: Field) -> list[Train]:
        """A variant's trainings of all seeds."""
        return [self.training(variant, field, seed) for seed in range(self.scale.seeds)]

    def long_training(self, field: Field) -> Train | None:
        """CLAIM for a larger budget, for the budget curves."""
        if self.scale.long_budget is None:
            return None
        settings = (*self.scale.settings, ("budget", self.scale.long_budget))
        return Train(CLAIM, field.family, field.train, 0, self.scale.long_episodes, settings)

    def wishful(self) -> Iterator[tuple[Field, Wish, Train]]:
        """CLAIM trained with goals from wrong estimates, and with one constant goal."""
        for field in self.fields[: self.scale.wishing_families]:
            for wish in self.scale.training_wishes:
                yield field, wish, self.training(CLAIM, field, 0, wish)

    # Studies ---------------------------------------------------------------------------------------------------------

    def plays(self, method: Method, network: Network, protocol: ProtocolName) -> list[Play]:
        """A method's studies on a network: one job, or one a trained model."""
        return [
            Play(network, policy, method.selector, protocol, self.scale.runs)
            for policy in self._policies(method.policy, self.field_of(network))
        ]

    def curve_plays(self, method: Method, network: Network) -> dict[str, Play]:
        """Studies with leaders chosen along the way, by the name of their line."""
        policies: dict[str, str | Train] = {method.name: self._policies(method.policy, self.field_of(network))[0]}
        long = self.long_training(self.field_of(network))
        if method.policy == CLAIM and long is not None:
            policies[f"{method.name} (trained for {long.config.budget})"] = long
        scale = self.scale
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

    def _policies(self, policy: str, field: Field) -> Sequence[str | Train]:
        return self.trainings(policy, field) if policy in VARIANTS else [policy]

    # All -------------------------------------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        """Everything: the longest trainings first, then network by network."""
        found: list[Job] = [each for field in self.fields if (each := self.long_training(field)) is not None]
        for variant in reversed(VARIANTS):
            for field in self.fields:
                found += self.trainings(variant, field)
        found += [training for _, _, training in self.wishful()]
        found.append(Centrality(self.property_network))
        for network in self.networks.values():
            found += self._jobs_on(network)
        found += [self.goal_play(network) for field in self.fields for network in field.train]
        return found

    def _jobs_on(self, network: Network) -> Iterator[Job]:
        yield Optimum(network)
        for protocol in PROTOCOLS:
            for method in dict.fromkeys(TABLE + ABLATION + STABILITY + PROPERTIES):
                yield from self.plays(method, network, protocol)
        for method in CURVES:
            yield from self.curve_plays(method, network).values()
        yield self.goal_play(network)
        yield from self.wish_plays(network).values()
