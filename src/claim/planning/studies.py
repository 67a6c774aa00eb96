"""Simulated studies: the people reached in each way of spending the same interviews.

All ways and numbers of interviews are tried on the same networks, with new people in the same order and in the same
live-edge worlds, so that chance has little part in their differences.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from claim.cascades import Worlds
from claim.discovery import (
    NEW,
    Discovered,
    Frame,
    Policy,
    Selector,
    Simulation,
    at_checkpoints,
    chooses_leaders,
    surveys,
)
from claim.errors import InputError
from claim.evaluation.runs import ReachEvaluator, choose_leaders
from claim.fitting.random_graphs import look_alike
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray
from claim.planning.completion import completed
from claim.planning.drawn_leaders import drawn_reach, leader_numbers
from claim.planning.settings import CLOSED, PlanSettings
from claim.randomness import draw_seed, named_seed
from claim.registry import PolicyLike, find_policy, find_selector, name_of

Progress = Callable[[int, int], None]  # studies done, studies in all

# The generators of random networks of each kind, which take turns
KINDS = {"stars": ("retweet",), "clustered": ("animal",), "unknown": ("retweet", "animal")}
EVALUATION_WORLDS = 500
SELECTION_WORLDS = 300
DRAWN_WORLDS = 200  # for leaders who are drawn
MOST_PEOPLE = 500_000  # in all simulated networks together; beyond that several studies share one
FEWEST_NETWORKS = 10


def random_numbers(settings: PlanSettings, purpose: str, number: int) -> np.random.Generator:
    """The random numbers for one purpose in a study, or on a network."""
    return np.random.default_rng(named_seed(settings.seed, purpose, number))


def selector_for(settings: PlanSettings) -> Selector:
    """The selector that chooses the leaders of simulated studies."""
    return find_selector(settings.selector, p=settings.p, samples=SELECTION_WORLDS)


class NetworkStudies(NamedTuple):
    """A simulated network, and the numbers of the studies on it; studies under way go on from what was ``seen``."""

    network: Network
    studies: Sequence[int]
    seen: Discovered | None = None

    def begin(self, study: int, settings: PlanSettings) -> Simulation:
        """A study before its first interview, open to new people; the same each time."""
        rng = random_numbers(settings, "study", study)
        if self.seen is None:
            return Simulation(self.network, (), rng, frame=Frame())
        return Simulation.under_way(self.network, self.seen, rng, Frame())


def new_studies(people: int, mean_degree: float, kind: str, settings: PlanSettings) -> Iterator[NetworkStudies]:
    """Studies on random networks of a kind."""
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {kind}")
    networks = min(max(MOST_PEOPLE // people, FEWEST_NETWORKS), settings.studies)
    for number in range(networks):
        rng = random_numbers(settings, "network", number)
        network = look_alike(KINDS[kind], number, rng, people=people, mean_degree=mean_degree)
        yield NetworkStudies(network, range(number, settings.studies, networks))


def studies_under_way(
    seen: Discovered, people: int, mean_degree: float | None, settings: PlanSettings
) -> Iterator[NetworkStudies]:
    """Studies that go on from what was seen, each on a network of its own that agrees with it."""
    for study in range(settings.studies):
        network = completed(seen, people, mean_degree, random_numbers(settings, "network", study))
        yield NetworkStudies(network, [study], seen)


class Way(NamedTuple):
    """A way to spend interviews: policies, each with the numbers of interviews that its study is followed to.

    A closed study interviews ``start`` new people, and then none; ``start`` is None if the study is open.
    """

    name: str
    runs: list[tuple[Policy, list[int]]]
    start: int | None = None

    @classmethod
    def of(cls, given: PolicyLike, settings: PlanSettings, numbers: list[int], start: int, before: int = 0) -> "Way":
        """The way of a name or policy; ``before`` the plan, so many interviews of the study were made."""
        if given == CLOSED:
            policy = find_policy(settings.policy, None, numbers[-1] - start, settings.p)
            return cls(CLOSED, [(policy, numbers)], start)
        policies = [find_policy(given, None, before + number, settings.p) for number in numbers]
        if all(policy is policies[0] for policy in policies):  # it does not depend on the number of interviews
            return cls(name_of(given), [(policies[0], numbers)])
        return cls(name_of(given), [(policy, [number]) for policy, number in zip(policies, numbers, strict=True)])

    def follow(
        self, studies: NetworkStudies, study: int, settings: PlanSettings
    ) -> Iterator[tuple[Simulation, Policy]]:
        """Run a study; yields it and the policy at each number of interviews."""
        for policy, numbers in self.runs:
            simulation, own = studies.begin(study, settings), deepcopy(policy)
            if self.start is not None:
                while simulation.discovered.open and len(simulation.discovered.start) < self.start:
                    simulation.ask(NEW)
                simulation.close()
            left = [number - (self.start or 0) for number in numbers]
            rng = random_numbers(settings, "surveys", study)
            for _ in at_checkpoints(surveys(simulation, own, left[-1], rng), left):
                yield simulation, own


@dataclass(frozen=True)
class Outcomes:
    """The people reached and discovered in all studies, and those whom ``drawn`` leaders reach (see `drawn_reach`)."""

    reach: FloatArray  # (studies, ways, numbers of interviews)
    discovered: FloatArray  # (studies, ways, numbers of interviews)
    network: IntArray  # (studies,): the number of the network
    drawn: FloatArray  # (networks, ways of drawing, numbers of leaders); empty without costs

    def by_network(self) -> FloatArray:
        """The mean reach on each network (networks, ways, numbers of interviews).

        Networks are the independent observations: studies on the same network resemble each other.
        """
        return np.array([self.reach[self.network == number].mean(axis=0) for number in np.unique(self.network)])


def run_studies(
    studies: Iterable[NetworkStudies], ways: Sequence[Way], settings: PlanSettings, progress: Progress | None
) -> Outcomes:
    """Run every study in every way."""
    selector = selector_for(settings)
    rows: list[list[list[tuple[float, int]]]] = []
    networks: list[int] = []
    drawn: list[FloatArray] = []
    for number, each in enumerate(studies):
        seed = draw_seed(random_numbers(settings, "worlds", number))
        evaluator = ReachEvaluator(each.network, settings.p, EVALUATION_WORLDS, seed)
        if settings.cost_leader is not None:
            worlds = Worlds.draw(each.network, settings.p, DRAWN_WORLDS, seed)
            drawn.append(drawn_reach(each.network, worlds, leader_numbers(each.network.n)))
        for study in each.studies:
            rows.append([_outcomes(way, each, study, settings, selector, evaluator) for way in ways])
            networks.append(number)
            if progress is not None:
                progress(len(rows), settings.studies)
    reach, discovered = np.moveaxis(np.array(rows, dtype=np.float64), -1, 0)
    return Outcomes(reach, discovered, np.array(networks, dtype=np.int32), np.array(drawn))


def _outcomes(
    way: Way,
    studies: NetworkStudies,
    study: int,
    settings: PlanSettings,
    selector: Selector,
    evaluator: ReachEvaluator,
) -> list[tuple[float, int]]:
    """The people reached and discovered at each number of interviews."""
    found = []
    for simulation, policy in way.follow(studies, study, settings):
        choice: Any = policy if chooses_leaders(policy) else selector
        rng = random_numbers(settings, "selector", study)
        leaders = choose_leaders("field", simulation, choice, settings.leaders, rng)
        found.append((evaluator.influence(leaders), len(simulation.discovered)))
    return found
