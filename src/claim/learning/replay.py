"""The replay buffer: transitions with their goals, originals and relabelled ones side by side."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from claim.learning.observation import Float32Array, State


@dataclass
class Transition:
    """(S_t, φ(u_t), R_{t,g}, S_{t+1}, g), and what the curriculum compares."""

    state: State
    action: int  # the chosen row
    reward: float
    next_state: State | None  # None after the last survey: there is nothing to bootstrap from
    goal: float  # people
    episode_goal: float  # the goal that the episode pursued, also where hindsight put another in its place
    average_influence: float  # of random surveys on the episode's network
    relabelled: bool
    embedding: Float32Array  # of the state, (hidden,), as of the last time it was computed


NUMBERS = ("reward", "goal", "episode_goal", "average_influence")
IN_FILES_OF_0_1 = [0, 1, 3, 5]  # columns of NUMBERS there; the others held the return and the influence
STATE_PARTS = ("features", "multiplicity", "offsets", "columns", "adjacency", "smoothing", "frontier")


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

    def sample(self, count: int, rng: np.random.Generator) -> list[Transition]:
        """Draw uniformly without replacement."""
        picks = rng.choice(len(self.transitions), min(count, len(self.transitions)), replace=False)
        return [self.transitions[i] for i in picks]

    def state_dict(self) -> dict[str, Any]:
        """The buffer as a few long tensors; a state shared by several transitions is stored once."""
        number: dict[int, int] = {}  # of each state, by identity
        states: list[State] = []
        for each in self.transitions:
            for state in (each.state, each.next_state):
                if state is not None and id(state) not in number:
                    number[id(state)] = len(states)
                    states.append(state)
        packed: dict[str, Any] = {"capacity": self.capacity, "next": self.position}
        for part in STATE_PARTS:
            arrays = [getattr(state, part) for state in states]
            packed[part] = torch.from_numpy(np.concatenate(arrays)) if arrays else torch.zeros(0)
            packed[f"{part} lengths"] = torch.tensor([len(array) for array in arrays])
        rows = [
            [number[id(each.state)], each.action, number.get(id(each.next_state), -1), each.relabelled]
            for each in self.transitions
        ]
        numbers = [[getattr(each, name) for name in NUMBERS] for each in self.transitions]
        packed["rows"] = torch.tensor(rows, dtype=torch.int64).reshape(-1, 4)
        packed["numbers"] = torch.tensor(numbers, dtype=torch.float64).reshape(-1, len(NUMBERS))
        embeddings = [each.embedding for each in self.transitions]
        packed["embeddings"] = torch.from_numpy(np.stack(embeddings)) if embeddings else torch.zeros(0)
        return packed

    def load_state_dict(self, packed: dict[str, Any]) -> None:
        """Fill the buffer from :meth:`state_dict`."""
        parts = []
        for part in STATE_PARTS:
            ends = np.cumsum(packed[f"{part} lengths"].numpy())
            parts.append(np.split(packed[part].numpy(), ends[:-1]))
        states = [State(*arrays) for arrays in zip(*parts, strict=True)] if len(packed["rows"]) else []
        numbers = packed["numbers"]
        if numbers.shape[1] != len(NUMBERS):
            numbers = numbers[:, IN_FILES_OF_0_1]
        self.capacity, self.transitions = packed["capacity"], []
        entries = zip(packed["rows"].tolist(), numbers.tolist(), packed["embeddings"].numpy(), strict=True)
        for (state, action, after, relabelled), (paid, goal, pursued, average), embedding in entries:
            next_state, is_copy = states[after] if after >= 0 else None, bool(relabelled)
            self.add(Transition(states[state], action, paid, next_state, goal, pursued, average, is_copy, embedding))
        self.position = packed["next"]
