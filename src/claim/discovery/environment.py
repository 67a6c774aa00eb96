"""The survey problem as a Gymnasium environment.

State: the discovered network G_t. Action: a person of the frontier, or a class of them; in an open study also a new
person. Reward: 0 until the surveys are used up, then the reach of the leaders chosen from G_T on the hidden network,
against a goal g: (I - g) / g.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, SupportsFloat, get_args

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from claim.cascades import Worlds
from claim.discovery.class_view import LIMIT, Vector, class_vector, open_classes, vector_length
from claim.discovery.discovered import FEATURES, NEW, Discovered, PersonClass
from claim.discovery.protocols import Selector
from claim.discovery.simulation import (
    BudgetUnit,
    Entry,
    Frame,
    Simulation,
    SurveyBudget,
    check_contacts,
    check_entry,
    planned_surveys,
)
from claim.errors import InputError, check_number, check_whole
from claim.networks import NetworkLike, load

Goal = float | Callable[[Discovered], float]
Observation = dict[str, Any] | Vector
ObservationKind = Literal["graph", "classes"]
DEFAULT = "zone2"
START_SIZE = 5
LARGEST = 1e10  # a finite bound on goals, which Gymnasium wants


def make(observation: ObservationKind = "graph", **settings: Any) -> "DiscoveryEnv":
    """The environment with the observation ``graph`` (an action is a person) or ``classes`` (an action is a class)."""
    if observation not in get_args(ObservationKind):
        raise InputError(f"observation must be {' or '.join(get_args(ObservationKind))}, got {observation!r}")
    return (ClassDiscoveryEnv if observation == "classes" else NetworkDiscoveryEnv)(**settings)


class FrontierSpace(spaces.Discrete):
    """Local indices of people, or rows of classes, then a new person; a sample may be taken now (0 if none may)."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.open: list[int] = []

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random action that may be taken, unless a mask or probabilities are given."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        return np.int64(self.np_random.choice(self.open)) if self.open else np.int64(0)


class DiscoveryEnv(gym.Env[Observation, np.int64], ABC):
    """Survey people of a hidden network one by one, or in rounds whose answers come in together.

    With several networks (``networks`` means the same as ``network``), each episode takes one at random; without a
    selector, leaders are chosen by the greedy oracle. ``info["action_mask"]`` and ``action_masks()`` mark the actions
    that may be taken. Subclasses say what is observed and what an action is.

    With ``entry="open"`` a study begins with no person known, ``interviews`` takes the place of ``budget`` and
    ``start_size``, and the last action interviews a new person, whom the team meets as ``frame`` says. With a
    ``hub_question`` people mark the contact who knows the most people, with this much noise; see
    :class:`claim.discovery.Simulation`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium reads it from the class

    def __init__(
        self,
        network: NetworkLike | Sequence[NetworkLike] | None = None,
        selector: Selector | None = None,
        *,
        networks: NetworkLike | Sequence[NetworkLike] | None = None,
        budget: int | None = None,
        start_size: int | None = None,
        leaders: int = 10,
        p: float = 0.1,
        goal: Goal = 1.0,
        per_round: int = 1,
        refusal: float = 0.0,
        unit: BudgetUnit = "attempts",
        samples: int = 1000,
        worlds_seed: int = 0,
        entry: Entry = "closed",
        interviews: int | None = None,
        frame: str = "uniform",
        hub_question: float | None = None,
    ) -> None:
        from claim.selection.selectors import MethodSelector

        check_entry(entry, frame, interviews, budget=budget, start_size=start_size)
        self.budget = planned_surveys(entry, budget, interviews)
        self.start_size = START_SIZE if start_size is None else start_size
        numbers = {"interviews" if entry == "open" else "budget": self.budget, "start_size": self.start_size}
        check_whole(1, **numbers, leaders=leaders, per_round=per_round)
        if hub_question is not None:
            check_number(hub_question=hub_question)
        self.entry, self.hub_question = entry, hub_question
        self._frame = Frame.parse(frame) if entry == "open" else None
        if network is not None and networks is not None:
            raise InputError("network and networks mean the same: give one of them")
        given = next((each for each in (network, networks) if each is not None), DEFAULT)
        several = isinstance(given, Sequence) and not isinstance(given, str)
        self.networks = [load(each) for each in (given if several else [given])]
        if not self.networks:
            raise InputError("networks must have at least one network, got none")
        for each in self.networks:
            check_contacts(each)
        self.network, self.selector = self.networks[0], selector or MethodSelector(p)
        self.leaders, self.goal = leaders, goal
        self.per_round, self.refusal, self.unit = per_round, refusal, unit
        self._worlds_of = cache(lambda i: Worlds.draw(self.networks[i], p, samples, worlds_seed))
        actions, self.observation_space = self._spaces()
        self.action_space: FrontierSpace = FrontierSpace(actions + (entry == "open"))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new study; ``options={"start": [...]}`` gives the start people of a closed one by the network's indices."""
        super().reset(seed=seed)
        self._which = int(self.np_random.integers(len(self.networks))) if len(self.networks) > 1 else 0
        self.network = self.networks[self._which]
        start = (options or {}).get("start")
        if self.entry == "open":
            if start is not None:
                raise InputError("an open study begins with no person known: it takes no start people")
            start = ()
        elif start is None:
            start = self.np_random.choice(self.network.n, min(self.start_size, self.network.n), replace=False)
        conditions: dict[str, Any] = {"frame": self._frame, "hub_question": self.hub_question}
        self._simulation = Simulation(self.network, start, self.np_random, self.refusal, **conditions)
        self._surveys = SurveyBudget(self._simulation, self.budget, self.per_round, self.unit)
        self._chosen: list[int] = []
        self._goal = float(self.goal(self.discovered) if callable(self.goal) else self.goal)
        if not 0 < self._goal <= LARGEST:
            raise InputError(f"a goal must be a positive number of people, got {self._goal}")
        return self._observe(0.0), self._info(final=False)

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Choose one person, or a new person; at the end of a round everyone chosen is asked.

        An action outside the mask uses up one survey, whatever the unit of the budget.
        """
        if int(action) in self._open():
            new = self.entry == "open" and int(action) == self.action_space.n - 1
            self._chosen.append(NEW if new else self._person_of(int(action)))
        else:
            self._surveys.used += 1
        if len(self._chosen) >= self._surveys.places or not self._open():
            for _ in self._surveys.ask_round(self._chosen):
                pass
            self._chosen = []
        final = not self._chosen and (not self._surveys.places or not self._open())
        reached = self._reach() if final else 0.0
        reward = float(_relative(reached, self._goal)) if final else 0.0
        return self._observe(reached), reward, final, False, self._info(final)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions may be taken now; MaskablePPO of sb3-contrib asks for it."""
        mask = np.zeros(self.action_space.n, dtype=np.bool_)
        mask[self._open()] = True
        return mask

    @property
    def discovered(self) -> Discovered:
        """What a policy may see."""
        return self._simulation.discovered

    def _reach(self) -> float:
        people = self._simulation.people
        leaders = self.selector.select(self.discovered, self.leaders, self.np_random) if people else []
        return self._worlds_of(self._which).influence([people[leader] for leader in leaders]).mean

    def _info(self, final: bool) -> dict[str, Any]:
        self.action_space.open = self._open()
        return {"action_mask": self.action_masks().astype(np.int8), "final": final}

    def _open(self) -> list[int]:
        """The actions that may be taken now."""
        new = [int(self.action_space.n) - 1] if self.discovered.open else []
        return self._open_named() + new

    @abstractmethod
    def _spaces(self) -> tuple[int, spaces.Space[Any]]:
        """The number of actions for people who were named, and the observation space."""

    @abstractmethod
    def _open_named(self) -> list[int]:
        """The actions for people who were named that may be taken now."""

    @abstractmethod
    def _person_of(self, action: int) -> int:
        """The person to survey for an action for people who were named."""

    @abstractmethod
    def _observe(self, reached: float) -> Observation:
        """The observation; ``reached`` is the reach of the leaders, 0 before the end of the episode."""


def _relative(reached: Any, goal: Any) -> Any:
    """(I - g) / g."""
    return (reached - goal) / goal


class NetworkDiscoveryEnv(DiscoveryEnv):
    """:class:`DiscoveryEnv` with the graph as the observation; an action is the local index of a person who was named.

    Observations are goal-conditioned: ``observation`` (a graph instance; see ``FEATURES``), ``desired_goal`` (g) and
    ``achieved_goal`` (the reach of the leaders chosen at the end of the episode; 0 before).
    """

    def _spaces(self) -> tuple[int, spaces.Space[Any]]:
        n = max(each.n for each in self.networks)
        reach = spaces.Box(0.0, float(n), (1,), np.float64)
        people = spaces.Graph(spaces.Box(0, 1, (len(FEATURES),), np.int8), spaces.Discrete(1))
        wanted = spaces.Box(0.0, LARGEST, (1,), np.float64)
        goals = {"desired_goal": wanted, "achieved_goal": reach}
        return n, spaces.Dict({"observation": people, **goals})

    def compute_reward(self, achieved_goal: npt.ArrayLike, desired_goal: npt.ArrayLike, info: Any) -> Any:
        """(I - g) / g where ``info["final"]`` is true, else 0; for one transition or for arrays of them."""
        achieved, desired = np.asarray(achieved_goal, float), np.asarray(desired_goal, float)
        final = np.asarray(info["final"] if isinstance(info, dict) else [each["final"] for each in info])
        reward = _relative(achieved, desired).reshape(final.shape)
        return np.where(final, reward, 0.0)[()]

    def _open_named(self) -> list[int]:
        return [person for person in self.discovered.frontier if person not in self._chosen]

    def _person_of(self, action: int) -> int:
        return action

    def _observe(self, reached: float) -> Observation:
        links = np.stack(self.discovered.ties(), axis=1)
        nodes = self.discovered.flags(person for person in self._chosen if person != NEW)
        graph = spaces.GraphInstance(nodes, np.zeros(len(links), dtype=np.int64), links)
        return {"observation": graph, "desired_goal": np.array([self._goal]), "achieved_goal": np.array([reached])}


class ClassDiscoveryEnv(DiscoveryEnv):
    """:class:`DiscoveryEnv` with a vector as the observation, for agents that cannot read graphs.

    The observation is :func:`claim.discovery.class_view.class_vector`: signals of the study and a row of signals for
    each class of the frontier. An action is a row: a random member of that class is surveyed. Where there are more than
    ``max_classes`` classes, the last in the order of :func:`claim.discovery.class_view.open_classes` are left out: the
    smallest of those with the fewest surveyed contacts.

    The observation does not show the goal g; the reward at the end is (I - g) / g, as with graphs. A constant g near
    the reach to be expected keeps rewards between about -1 and 1.
    """

    def __init__(self, *args: Any, max_classes: int = 32, **settings: Any) -> None:
        check_whole(1, max_classes=max_classes)
        self.max_classes = max_classes
        super().__init__(*args, **settings)

    def _spaces(self) -> tuple[int, spaces.Space[Any]]:
        vector = spaces.Box(-LIMIT, LIMIT, (vector_length(self.max_classes),), np.float32)
        return self.max_classes, vector

    def _classes(self) -> list[PersonClass]:
        return open_classes(self.discovered, self._chosen)[: self.max_classes]

    def _open_named(self) -> list[int]:
        return list(range(len(self._classes())))

    def _person_of(self, action: int) -> int:
        return int(self.np_random.choice(self._classes()[action].members))

    def _observe(self, reached: float) -> Observation:
        left = self._surveys.budget - self._surveys.used - len(self._chosen)
        return class_vector(self.discovered, self._classes(), left, self.max_classes, self._chosen)
