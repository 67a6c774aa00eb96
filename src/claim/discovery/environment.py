"""The survey problem as a Gymnasium environment.

State: the discovered network G_t. Action: a person of the frontier. Reward: 0 until the surveys are used up, then the
reach of the leaders chosen from G_T on the hidden network, against a goal g: (I - g) / g.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsFloat

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from claim.cascades import Worlds
from claim.discovery.discovered import Discovered, Status
from claim.discovery.protocols import Selector
from claim.discovery.simulation import BudgetUnit, Simulation
from claim.errors import InputError
from claim.networks import Network

if TYPE_CHECKING:
    from claim.networks import Network


Goal = float | Callable[[Discovered], float]
Observation = dict[str, Any]
FEATURES = ("surveyed", "start", "refused", "chosen this round")
EVERYBODY = 1e10  # more people than there are; Gymnasium wants a finite bound


class FrontierSpace(spaces.Discrete):
    """Local indices; a sample is somebody who may be surveyed now, or 0 if nobody is left."""

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

    Observations are goal-conditioned: ``observation`` (a graph instance; see ``FEATURES``), ``desired_goal`` (g) and
    ``achieved_goal`` (the influence if leaders were chosen now). ``info["action_mask"]`` marks who may be chosen.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium reads it from the class

    def __init__(
        self,
        network: Network,
        selector: Selector,
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
        if min(budget, start_size, leaders, per_round) < 1:
            raise InputError("budget, start_size, leaders and per_round must be at least 1")
        self.network, self.selector = network, selector
        self.budget, self.start_size, self.leaders = budget, start_size, leaders
        self.goal, self.per_round, self.refusal, self.unit = goal, per_round, refusal, unit
        self._worlds = Worlds.draw(network, p, samples, worlds_seed)
        self.action_space = FrontierSpace(network.n)
        reach = spaces.Box(0.0, float(network.n), (1,), np.float64)
        people = spaces.Graph(spaces.Box(0, 1, (len(FEATURES),), np.int8), spaces.Discrete(1))
        wish = spaces.Box(0.0, EVERYBODY, (1,), np.float64)  # whoever sets it does not know how many people there are
        self.observation_space = spaces.Dict({"observation": people, "desired_goal": wish, "achieved_goal": reach})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new study; ``options={"start": [...]}`` gives the start people by the network's indices."""
        super().reset(seed=seed)
        start = (options or {}).get("start")
        if start is None:
            start = self.np_random.choice(self.network.n, min(self.start_size, self.network.n), replace=False)
        self._simulation = Simulation(self.network, start, self.np_random, self.refusal)
        self._chosen: list[int] = []
        self._spent = 0
        discovered = self._simulation.discovered
        self._goal = float(self.goal(discovered) if callable(self.goal) else self.goal)
        if not 0 < self._goal <= EVERYBODY:
            raise InputError(f"a goal is a positive number of people, not {self._goal}")
        return self._observe(), self._info(final=False)

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Choose one person; at the end of a round everybody chosen is asked.

        An action outside the mask wastes an attempt, whatever the unit of the budget, and teaches nothing.
        """
        if int(action) in self._open():
            self._chosen.append(int(action))
        else:
            self._spent += 1
        self._ask_if_round_is_full()
        final = not self._chosen and (self._spent >= self.budget or not self._open())
        observation = self._observe()
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
        return self._simulation.discovered

    def _open(self) -> list[int]:
        return [person for person in self.discovered.frontier if person not in self._chosen]

    def _ask_if_round_is_full(self) -> None:
        left = self.budget - self._spent
        if len(self._chosen) < min(self.per_round, left) and self._open():
            return
        for person in self._chosen:
            answered = self._simulation.ask(person)
            self._spent += answered or self.unit == "attempts"
        self._chosen = []

    def _observe(self) -> Observation:
        return {
            "observation": self._graph(),
            "desired_goal": np.array([self._goal]),
            "achieved_goal": np.array([self._influence()]),
        }

    def _graph(self) -> spaces.GraphInstance:
        seen = self.discovered
        nodes = np.zeros((len(seen), len(FEATURES)), dtype=np.int8)
        nodes[:, 0] = [status == Status.SURVEYED for status in seen.status]
        nodes[seen.start, 1] = 1
        nodes[seen.refused, 2] = 1
        nodes[self._chosen, 3] = 1
        links = np.stack(seen.ties(), axis=1)
        return spaces.GraphInstance(nodes, np.zeros(len(links), dtype=np.int64), links)

    def _influence(self) -> float:
        leaders = self.selector.select(self.discovered, self.leaders, self.np_random)
        return self._worlds.influence([self._simulation.people[leader] for leader in leaders]).mean

    def _info(self, final: bool) -> dict[str, Any]:
        self.action_space.open = self._open()  # type: ignore[attr-defined]
        mask = np.zeros(self.network.n, dtype=np.int8)
        mask[self._open()] = 1
        return {"action_mask": mask, "final": final}


ENVIRONMENT = "claim/NetworkDiscovery-v0"


def register_environments() -> None:
    """Make ``gymnasium.make("claim/NetworkDiscovery-v0", network="zone2")`` work once claim is imported."""
    import gymnasium

    if ENVIRONMENT not in gymnasium.registry:
        gymnasium.register(ENVIRONMENT, entry_point="claim.discovery.environment:make_environment")


def make_environment(network: "Network | str" = "zone2", **settings: Any) -> "NetworkDiscoveryEnv":
    """The environment on a network, or on the network of that name or path, with the greedy oracle by default."""
    pass
    from claim.networks import load
    from claim.selection.selectors import GreedySelector

    hidden = load(network) if isinstance(network, str) else network
    selector = settings.pop("selector", None) or GreedySelector(p=settings.get("p", 0.1))
    return NetworkDiscoveryEnv(hidden, selector, **settings)
