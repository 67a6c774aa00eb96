"""Goals made from wrong estimates, or one goal for every start set: what the heuristic is worth."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from claim.learning.goals import GoalHeuristic
from claim.learning.studies import Ground
from claim.learning.validation import Validation

if TYPE_CHECKING:
    from claim.learning.train import Training


class ConstantGoal(GoalHeuristic):
    """The average influence as the goal of every start set, whatever its contacts."""

    def goal(self, neighbours_of_start: int, start_size: int | None = None) -> float:
        """The same for all."""
        return self.average_influence


@dataclass(frozen=True)
class Wish:
    """What becomes of the estimates that goals are made from: each is multiplied by a factor."""

    people: float = 1.0
    edges: float = 1.0
    influence: float = 1.0
    constant: bool = False

    @property
    def name(self) -> str:
        """How tables call it."""
        if self.constant:
            return "one constant goal"
        factors = [
            f"{what} × {factor:g}" for what, factor in asdict(self).items() if what != "constant" and factor != 1
        ]
        return ", ".join(factors) or "estimates as they are"

    def applied(self, goals: GoalHeuristic) -> GoalHeuristic:
        """The heuristic with these estimates."""
        kind = ConstantGoal if self.constant else GoalHeuristic
        return kind(
            goals.people * self.people,
            goals.edges * self.edges,
            goals.average_influence * self.influence,
            goals.start_size,
        )


AS_ESTIMATED = Wish()


@dataclass(frozen=True)
class WishfulGround(Ground):
    """A training network whose goals come from other estimates than its own."""

    wish: Wish = AS_ESTIMATED

    @cached_property
    def goals(self) -> GoalHeuristic:
        """The network's own goals after the wish."""
        return self.wish.applied(Ground(self.network, self.config).goals)


def train_towards(training: "Training", wish: Wish) -> None:
    """Let a training that has not begun pursue other goals; influence is still counted as it is."""
    if wish == AS_ESTIMATED:
        return
    training.grounds = [WishfulGround(each.network, each.config, wish) for each in training.grounds]
    training.goals = wish.applied(training.goals)
    training.validation = Validation(training.grounds, training.config, training.goals)
