"""The survey problem as a Gymnasium environment.

State: the discovered network G_t. Action: a person of the frontier. Reward: 0 until the surveys are used up, then the
reach of the leaders chosen from G_T on the hidden network, against a goal g: (I - g) / g.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from claim.cascades import Worlds
from claim.discovery.discovered import Discovered, Status
from claim.discovery.protocols import Selector
from claim.discovery.simulation import BudgetUnit, Simulation, SurveyBudget, check_contacts
from claim.errors import InputError, check_whole
from claim.networks import NetworkLike, load

Goal = float | Callable[[Discovered], float]
Observation = dict[str, Any]
FEATURES = ("surveyed", "start", "refused", "chosen this round")
LARGEST = 1e10  # a finite bound on goals, which Gymnasium wants


class FrontierSpace(spaces.Discrete):
    """Local indices of people; a sample is a person who may be surveyed now, or 0 if there is none."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.open: list[int] = []

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random person of the frontier, unless a mask or probabilities are given."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        return np.int64(self.np_random.choice(self.open)) if self.open else np.int64(0)


class NetworkDiscoveryEnv(gym.Env[Observation, np.int64]):
    """Survey people of a hidden network one by one, or in rounds whose answers come in together.

    With several networks, each episode takes one at random; without a selector, leaders are chosen by the greedy
    oracle. Observations are goal-conditioned: ``observation`` (a graph instance; see ``FEATURES``), ``desired_goal``
    (g) and ``achieved_goal`` (the reach of the leaders chosen at the end of the episode; 0 before).
    ``info["action_mask"]`` marks who may be chosen.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium reads it from the class

    def __init__(
        self,
        network: NetworkLike | Sequence[NetworkLike] = "zone2",
        selector: Selector | None = None,
        *,
        budget: int = 5,
        start_size: int = 5,
        leaders: int = 10,
        p: float = 0.1,
        goal: Goal = 1.0,
        per_round: int = 1,
        refusal: float = 0.0,
        unit: BudgetUnit = "attempts",
        samples: int = 1000,
        worlds_seed: int = 0,
    ) -> None:
        from claim.selection.selectors import MethodSelector

        check_whole(1, budget=budget, start_size=start_size, leaders=leaders, per_round=per_round)
        several = isinstance(network, Sequence) and not isinstance(network, str)
        self.networks = [load(each) for each in (network if several else [network])]
        for each in self.networks:
            check_contacts(each)
        self.network, self.selector = self.networks[0], selector or MethodSelector(p)
        self.budget, self.start_size, self.leaders = budget, start_size, leaders
        self.goal, self.per_round, self.refusal, self.unit = goal, per_round, refusal, unit
        self._worlds_of = cache(lambda i: Worlds.draw(self.networks[i], p, samples, worlds_seed))
        self._n = max(each.n for each in self.networks)
        self.action_space = FrontierSpace(self._n)
        reach = spaces.Box(0.0, float(self._n), (1,), np.float64)
        people = spaces.Graph(spaces.Box(0, 1, (len(FEATURES),), np.int8), spaces.Discrete(1))
        wanted = spaces.Box(0.0, LARGEST, (1,), np.float64)
        self.observation_space = spaces.Dict({"observation": people, "desired_goal": wanted, "achieved_goal": reach})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new study; ``options={"start": [...]}`` gives the start people by the network's indices."""
        super().reset(seed=seed)
        self._which = int(self.np_random.integers(len(self.networks))) if len(self.networks) > 1 else 0
        self.network = self.networks[self._which]
        start = (options or {}).get("start")
        if start is None:
            start = self.np_random.choice(self.network.n, min(self.start_size, self.network.n), replace=False)
        simulation = Simulation(self.network, start, self.np_random, self.refusal)
        self._surveys = SurveyBudget(simulation, self.budget, self.per_round, self.unit)
        self._chosen: list[int] = []
        self._goal = float(self.goal(self.discovered) if callable(self.goal) else self.goal)
        if not 0 < self._goal <= LARGEST:
            raise InputError(f"a goal must be a positive number of people, got {self._goal}")
        return self._observe(final=False), self._info(final=False)

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Choose one person; at the end of a round everyone chosen is asked.

        An action outside the mask uses up one survey, whatever the unit of the budget.
        """
        if int(action) in self._open():
            self._chosen.append(int(action))
        else:
            self._surveys.used += 1
        if len(self._chosen) >= self._surveys.places or not self._open():
            for person in self._chosen:
                self._surveys.ask(person)
            self._chosen = []
        final = not self._chosen and (not self._surveys.places or not self._open())
        observation = self._observe(final)
        reward = self.compute_reward(observation["achieved_goal"], observation["desired_goal"], {"final": final})
        return observation, float(reward), final, False, self._info(final)

    def compute_reward(self, achieved_goal: npt.ArrayLike, desired_goal: npt.ArrayLike, info: Any) -> Any:
        """(I - g) / g where ``info["final"]`` is true, else 0; for one transition or for arrays of them."""
        achieved, desired = np.asarray(achieved_goal, float), np.asarray(desired_goal, float)
        final = np.asarray(info["final"] if isinstance(info, dict) else [each["final"] for each in info])
        reward = ((achieved - desired) / desired).reshape(final.shape)
        return np.where(final, reward, 0.0)[()]

    @property
    def discovered(self) -> Discovered:
        """What a policy may see."""
        return self._surveys.simulation.discovered

    def _open(self) -> list[int]:
        return [person for person in self.discovered.frontier if person not in self._chosen]

    def _observe(self, final: bool) -> Observation:
        seen = self.discovered
        nodes = np.zeros((len(seen), len(FEATURES)), dtype=np.int8)
        nodes[:, 0] = [status == Status.SURVEYED for status in seen.status]
        nodes[seen.start, 1] = 1
        nodes[seen.refused, 2] = 1
        nodes[self._chosen, 3] = 1
        links = np.stack(seen.ties(), axis=1)
        graph = spaces.GraphInstance(nodes, np.zeros(len(links), dtype=np.int64), links)
        wanted, reached = np.array([self._goal]), np.array([self._reach() if final else 0.0])
        return {"observation": graph, "desired_goal": wanted, "achieved_goal": reached}

    def _reach(self) -> float:
        leaders = self.selector.select(self.discovered, self.leaders, self.np_random)
        people = self._surveys.simulation.people
        return self._worlds_of(self._which).influence([people[leader] for leader in leaders]).mean

    def _info(self, final: bool) -> dict[str, Any]:
        self.action_space.open = self._open()  # type: ignore[attr-defined]
        mask = np.zeros(self._n, dtype=np.int8)
        mask[self._open()] = 1
        return {"action_mask": mask, "final": final}
