"""Other goals than the heuristic's: from wrong estimates, one for every start set, or the proven bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from claim.learning.bounds import ConstantGoal, InfluenceBound
from claim.learning.config import Config
from claim.learning.goals import GoalHeuristic
from claim.learning.studies import Ground
from claim.learning.validation import Validation
from claim.networks import Network

if TYPE_CHECKING:
    from claim.learning.train import Training


@dataclass(frozen=True)
class Wish:
    """What becomes of the estimates that goals are made from (each is multiplied), or what takes the goals' place."""

    people: float = 1.0
    edges: float = 1.0
    influence: float = 1.0
    constant: bool = False  # the average influence for every start set, whatever its contacts
    bound: bool = False  # the most that can be reached at all

    @property
    def name(self) -> str:
        """How tables call it."""
        if self.bound:
            return "proven bound"
        if self.constant:
            return "one constant goal"
        factors = {"people": self.people, "edges": self.edges, "influence": self.influence}
        changed = [f"{what} × {factor:g}" for what, factor in factors.items() if factor != 1]
        return ", ".join(changed) or "estimates as they are"

    def scaled(self, goals: GoalHeuristic) -> GoalHeuristic:
        """The heuristic with other estimates."""
        people, edges = goals.people * self.people, goals.edges * self.edges
        return GoalHeuristic(people, edges, goals.average_influence * self.influence, goals.start_size)

    def shaped(self, goals: GoalHeuristic, networks: Sequence[Network], config: Config) -> GoalHeuristic:
        """The heuristic itself, or what takes its place for networks like these."""
        average = goals.average_influence
        if self.bound:
            bound = InfluenceBound.of_networks(networks, average, config.budget, config.leaders, config.p)
            return _in_its_place(bound)
        return _in_its_place(ConstantGoal(average, average)) if self.constant else goals


AS_ESTIMATED = Wish()


@dataclass(frozen=True)
class WishfulGround(Ground):
    """A training network with other goals than its own."""

    wish: Wish = AS_ESTIMATED

    @cached_property
    def goals(self) -> GoalHeuristic:
        """The network's own goals after the wish."""
        own = self.wish.scaled(Ground(self.network, self.config).goals)
        return self.wish.shaped(own, [self.network], self.config)


def train_towards(training: "Training", wish: Wish) -> None:
    """Let a training that has not begun pursue other goals; influence is still counted as it is.

    Policy files hold estimates: whoever loads the policy puts ``shaped`` goals in their place again.
    """
    if wish == AS_ESTIMATED:
        return
    networks = [each.network for each in training.grounds]
    training.grounds = [WishfulGround(each.network, each.config, wish) for each in training.grounds]
    training.goals = wish.scaled(training.goals)
    shaped = wish.shaped(training.goals, networks, training.config)
    training.validation = Validation(training.grounds, training.config, shaped)


def _in_its_place(goals: InfluenceBound | ConstantGoal) -> GoalHeuristic:
    """They offer all that learning and policies ask of a heuristic: goal_for and average_influence."""
    return cast(GoalHeuristic, goals)
