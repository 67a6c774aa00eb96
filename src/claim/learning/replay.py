"""The replay buffer: transitions with their goals, originals and relabelled ones side by side."""

from dataclasses import dataclass

import numpy as np

from claim.learning.observation import Float32Array, IndexArray, State


@dataclass
class Transition:
    """(S_t, φ(u_t), R_{t,g}, S_{t+1}, g), and what the curriculum asks of it."""

    state: State
    action: int  # the chosen row
    reward: float
    following: State | None  # None at the end: there is nothing to bootstrap from
    goal: float
    discounted_return: float  # what the rest of the episode brought, for Monte-Carlo targets
    desired: float  # the episode's own goal, also where hindsight put another in its place
    achieved: float  # the influence at the end of the episode
    typical: float  # the average influence on the episode's network
    relabelled: bool
    embedding: Float32Array  # of the state, as of the last time it was computed


class Replay:
    """A ring of the latest transitions."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.transitions: list[Transition] = []
        self.position = 0  # where the next transition goes

    def __len__(self) -> int:
        return len(self.transitions)

    def add(self, transition: Transition) -> None:
        """Store a transition, over the oldest one if the buffer is full."""
        if len(self.transitions) < self.capacity:
            self.transitions.append(transition)
        else:
            self.transitions[self.position] = transition
        self.position = (self.position + 1) % self.capacity

    def draw(self, count: int, rng: np.random.Generator) -> list[Transition]:
        """A uniform sample without replacement."""
        picks: IndexArray = rng.choice(len(self.transitions), min(count, len(self.transitions)), replace=False)
        return [self.transitions[i] for i in picks]
