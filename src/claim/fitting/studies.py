"""The networks and the simulated studies that models are fitted to: of many kinds, with and without marks."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from claim.discovery import Frame, Simulation, policy_named, surveys
from claim.discovery.policies.open_studies import Mix
from claim.fitting.random_graphs import KINDS, look_alikes, rewired
from claim.networks import Network
from claim.networks.catalogue import EVERY_FAMILY, family_of, load_all, networks_given
from claim.networks.network import OffsetArray
from claim.randomness import named_seed
from claim.selection.foresight.selection_state import SeenNetwork

POLICIES = (
    "random", "change", "degree+inverse", "max-contact", "random-class", "max-degree", "scout:1", "scout",
    "most-marked",
)  # fmt: skip
START = 5
FAMILIES, OTHERS = ("retweet", "animal", "villages", "zones"), "others"
SHARES = (0.3, 0.5, 0.7, 0.7, 1.0)  # of the interviews of an open study with new people


@dataclass(frozen=True)
class StudyPlan:
    """What is drawn for a simulated study."""

    open_share: float = 0.5  # of studies
    surveys: tuple[int, ...] = (0, 5, 5, 5, 10, 10, 20, 20, 50)  # of closed studies, after the start people
    interviews: tuple[int, ...] = (5, 10, 10, 10, 25, 25, 25, 55)  # of open studies
    noise: tuple[float | None, ...] = (*[None] * 6, 0.0, 0.5, 1.0, 1.0, 2.0, 1000.0)  # of the hub question, if asked
    chances: tuple[float, ...] = (0.05, *4 * (0.1,), 0.2)  # p


@dataclass(frozen=True)
class Pool:
    """A network to simulate studies on, its kind, and how many; all kinds weigh the same."""

    kind: str
    network: Network
    studies: int

    @property
    def real(self) -> bool:
        """Whether it is a training network itself."""
        return self.kind.endswith(" networks")

    @property
    def group(self) -> str:
        """Kinds that resemble each other: a family, its networks rewired, and its look-alikes."""
        return re.split("[ ,]", self.kind)[0]

    @property
    def sort(self) -> str:
        """Networks for which what leaders add is fitted apart: each family, and all other kinds."""
        return self.group if self.group in FAMILIES else OTHERS


@dataclass(frozen=True)
class PoolSettings:
    """How many networks and studies models are fitted to."""

    family: str = EVERY_FAMILY  # whose training networks
    look_alikes: int = 200
    studies: int = 300  # on each training network
    studies_each: int = 60  # on each look-alike and each rewired network
    dense: int = 30  # networks, for the calibration of the reach only


def training_pool(settings: PoolSettings, seed: int = 0, data_dir: str | None = None) -> tuple[Pool, ...]:
    """The training networks of a family (``all``: of every family), the same with rewired ties, and look-alikes."""
    family = settings.family
    rng = np.random.default_rng(named_seed(seed, "training pool", family))
    real = load_all(networks_given(family, "train"), data_dir)
    pools = [Pool(f"{family_of(network)} networks", network, settings.studies) for network in real]
    pools += [Pool(f"{pool.kind}, rewired", rewired(pool.network, rng), settings.studies_each) for pool in pools]
    kinds = KINDS.get(family, KINDS[EVERY_FAMILY])
    alike = look_alikes(family if family in KINDS else EVERY_FAMILY, settings.look_alikes, rng)
    pools += [Pool(kinds[i % len(kinds)], network, settings.studies_each) for i, network in enumerate(alike)]
    return tuple(pools)


def dense_pool(settings: PoolSettings, seed: int = 0) -> tuple[Pool, ...]:
    """Networks in which everyone has many contacts, for the calibration of the reach."""
    drawn = look_alikes("dense", settings.dense, np.random.default_rng(named_seed(seed, "dense pool")))
    kinds = KINDS["dense"]
    return tuple(Pool(kinds[i % len(kinds)], network, settings.studies_each) for i, network in enumerate(drawn))


class SimulatedStudy(NamedTuple):
    """A study at its end: what is seen, the people's indices in the network, and the cascade probability."""

    network: Network
    view: SeenNetwork
    people: OffsetArray
    p: float


def random_simulation(network: Network, rng: np.random.Generator, plan: StudyPlan) -> Simulation:
    """A study of a random kind, budget and policy, at its end."""
    noise = plan.noise[rng.integers(len(plan.noise))]
    policy = policy_named(str(rng.choice(POLICIES[:-1] if noise is None else POLICIES)))
    if rng.random() < plan.open_share:
        budget, share = int(rng.choice(plan.interviews)), float(rng.choice(SHARES))
        simulation = Simulation(network, (), rng, frame=Frame(), hub_question=noise)
        policy = Mix(share, policy, "mix", budget)
    else:
        start = rng.choice(network.n, min(START, network.n), replace=False)
        simulation, budget = Simulation(network, start, rng, hub_question=noise), int(rng.choice(plan.surveys))
    for _ in surveys(simulation, policy, budget, rng):
        pass
    return simulation


def simulated_studies(
    network: Network, count: int, rng: np.random.Generator, plan: StudyPlan | None = None
) -> list[SimulatedStudy]:
    """Studies of random kinds, with random probabilities; at least one person is surveyed in each."""
    plan, studies = plan or StudyPlan(), []
    for _ in range(count):
        simulation = random_simulation(network, rng, plan)
        view, people = SeenNetwork.of(simulation.discovered), np.array(simulation.people)
        if len(simulation.discovered.surveyed):
            studies.append(SimulatedStudy(network, view, people, float(rng.choice(plan.chances))))
    return studies
