import numpy as np
import pytest

from claim.errors import InputError
from claim.learning.hindsight import pseudo_goals, reward

INFLUENCES = [20.0, 22.5, 22.5, 31.0, 27.0]  # of G_0 ... G_4: four surveys


def test_reward_is_the_share_by_which_the_goal_was_missed_at_the_last_step() -> None:
    assert reward(30.0, 40.0, True) == -0.25
    assert reward(50.0, 40.0, True) == 0.25
    assert reward(30.0, 40.0, False) == 0.0
    assert isinstance(reward(30.0, 40.0, True), float)


def test_rewards_of_arrays() -> None:
    rewards = reward(np.array([30.0, 30.0, 60.0]), np.array([40.0, 40.0, 40.0]), np.array([False, True, True]))
    np.testing.assert_allclose(rewards, [0.0, -0.25, 0.5])
    np.testing.assert_allclose(reward(30.0, [20.0, 40.0], True), [0.5, -0.25])


@pytest.mark.parametrize("goal", [0.0, -1.0, float("nan")])
def test_a_goal_has_to_be_positive(goal: float) -> None:
    with pytest.raises(InputError, match="greater than 0"):
        reward(1.0, goal, True)


@pytest.mark.parametrize("step", range(4))
def test_final_is_the_last_achieved_influence(step: int) -> None:
    assert pseudo_goals("final", INFLUENCES, step) == [27.0]


def test_future_goals_are_those_of_the_networks_after_the_transition() -> None:
    assert pseudo_goals("future", INFLUENCES, 0) == [22.5, 31.0, 27.0]
    assert pseudo_goals("future", INFLUENCES, 1) == [22.5, 31.0, 27.0]
    assert pseudo_goals("future", INFLUENCES, 2) == [31.0, 27.0]
    assert pseudo_goals("future", INFLUENCES, 3) == [27.0]


@pytest.mark.parametrize("step", [-1, 4, 5])
def test_a_step_has_to_lie_within_the_episode(step: int) -> None:
    with pytest.raises(InputError, match=f"no step {step}"):
        pseudo_goals("final", INFLUENCES, step)


def test_an_unknown_strategy_is_named() -> None:
    with pytest.raises(InputError, match="'past'"):
        pseudo_goals("past", INFLUENCES, 0)  # type: ignore[arg-type]


def test_a_final_goal_makes_every_relabelled_reward_zero() -> None:
    last = len(INFLUENCES) - 2
    (goal,) = pseudo_goals("final", INFLUENCES, last)
    assert reward(INFLUENCES[-1], goal, True) == 0.0


def test_pseudo_goals_are_a_list_of_their_own() -> None:
    achieved = list(INFLUENCES)
    pseudo_goals("future", achieved, 0).append(0.0)
    assert achieved == INFLUENCES
