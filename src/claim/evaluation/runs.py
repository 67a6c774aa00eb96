"""One run: a study from a start set to the reach of its leaders."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from claim.discovery import Policy, Selector, Simulation, draws_own_start, surveys
from claim.discovery.policies.clairvoyant import Clairvoyant
from claim.discovery.simulation import BudgetUnit
from claim.evaluation.policies import policy_for
from claim.evaluation.protocols import ORACLE, ProtocolName, choose_leaders
from claim.evaluation.referee import Referee, referee_for
from claim.networks import Network
from claim.networks.catalogue import family_of
from claim.randomness import named_seed
from claim.selection import selector_named

REFEREE_SAMPLES = 10_000
TOLD_CHANCES = 5  # values of p that a selector is told to stand for a range


@dataclass(frozen=True)
class Rules:
    """What a run is played by; the same for all that are compared.

    The last four are troubles of the field, see docs/troubles.md: each leader comes with probability ``attendance``;
    the p of a run is drawn evenly from ``p_range``; everybody surveyed names a share ``answers`` of their contacts; and
    selectors are ``told`` the attendance and the range, or choose as if there were none.
    """

    seed: int
    budget: int = 5
    start: int = 5
    leaders: int = 10
    p: float = 0.1
    per_round: int = 1
    refusal: float = 0.0
    unit: BudgetUnit = "attempts"
    attendance: float = 1.0
    p_range: tuple[float, float] | None = None
    answers: float = 1.0
    told: bool = True

    def true_p(self, run: int) -> float:
        """The probability that word passes along a contact in a run; nobody who is compared sees it."""
        if self.p_range is None:
            return self.p
        return float(np.random.default_rng(named_seed(self.seed, "p", run)).uniform(*self.p_range))

    def chances(self) -> tuple[float, ...]:
        """Evenly spread values that stand for the range of p: the middles of equal slices; none without a range."""
        if self.p_range is None:
            return ()
        return tuple(np.linspace(*self.p_range, 2 * TOLD_CHANCES + 1)[1::2].tolist())

    def settings(self) -> dict[str, Any]:
        """Everything by name for the record; troubles only where there are any."""
        troubles = {"attendance": 1.0, "p_range": None, "answers": 1.0, "told": True}
        return {name: value for name, value in asdict(self).items() if name not in troubles or value != troubles[name]}


@dataclass(frozen=True)
class Contender:
    """A policy, a selector and the protocol they are put to, by name."""

    policy: str
    selector: str
    protocol: ProtocolName


@dataclass(frozen=True)
class Outcome:
    """How far the leaders reached, how many people were discovered, and the leaders by the network's indices."""

    influence: float
    discovered: int
    leaders: tuple[int, ...]


def play_runs(
    network: Network,
    contender: Contender,
    rules: Rules,
    starts: Sequence[tuple[int, list[int]]],
    checkpoints: Sequence[int],
) -> list[list[Outcome]]:
    """Play numbered start sets; for each the outcomes at the checkpoints (numbers of surveys, ascending)."""
    policy = policy_for(contender.policy, network, rules.budget)
    selector = selector_for(contender, network, rules)
    return [
        _play(referee_of_run(network, rules, run), policy, selector, contender.protocol, rules, run, start, checkpoints)
        for run, start in starts
    ]


def selector_for(contender: Contender, network: Network, rules: Rules) -> Selector:
    """The contender's selector, told what selectors are told."""
    oracle = ORACLE[contender.protocol]
    settings = (contender.selector, rules.p, oracle.samples, oracle.ties, family_of(network))
    return selector_named(*settings, rules.attendance, rules.chances()) if rules.told else selector_named(*settings)


def referee_of_run(network: Network, rules: Rules, run: int) -> Referee:
    """The referee of a network, or of a single run where p differs from run to run."""
    settings = (network, rules.true_p(run), REFEREE_SAMPLES, referee_seed(rules.seed), rules.attendance)
    return referee_for(*settings) if rules.p_range is None else Referee(*settings, keep=False)


def referee_seed(seed: int) -> int:
    """The seed of the worlds in which everybody is judged."""
    return int(named_seed(seed, "referee").generate_state(1, np.uint64)[0] >> np.uint64(1))


def simulate(network: Network, policy: Policy, rules: Rules, run: int, start: list[int]) -> tuple[Simulation, Policy]:
    """The study of one run before its first survey, and the policy with what the referee grants it."""
    rng = np.random.default_rng(named_seed(rules.seed, "answers", run))
    if draws_own_start(policy):
        start = rng.choice(network.n, min(len(start), network.n), replace=False).tolist()
    simulation = Simulation(network, start, rng, rules.refusal, rules.answers)
    if isinstance(policy, Clairvoyant):
        policy = policy.shown(simulation.true_degree)
    return simulation, policy


def _play(
    referee: Referee,
    policy: Policy,
    selector: Selector,
    protocol: ProtocolName,
    rules: Rules,
    run: int,
    start: list[int],
    checkpoints: Sequence[int],
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for simulation in studied(referee.network, policy, rules, run, start, checkpoints):
        leaders = leaders_of_run(simulation, selector, protocol, rules, run)
        outcomes.append(Outcome(referee.influence(leaders), len(simulation.discovered), tuple(leaders)))
    return outcomes


def studied(
    network: Network, policy: Policy, rules: Rules, run: int, start: list[int], checkpoints: Sequence[int]
) -> Iterator[Simulation]:
    """The study of one run as it stands at each checkpoint; a dry frontier ends the surveys early."""
    simulation, seeing = simulate(network, policy, rules, run, start)
    rng = np.random.default_rng(named_seed(rules.seed, "policy", policy.name, run))
    progress = surveys(simulation, seeing, checkpoints[-1], rng, rules.per_round, rules.unit)
    spent = 0
    for checkpoint in checkpoints:
        while spent < checkpoint and (now := next(progress, None)) is not None:
            spent = now
        yield simulation


def leaders_of_run(
    simulation: Simulation, selector: Selector, protocol: ProtocolName, rules: Rules, run: int
) -> list[int]:
    """The same coins for every policy: two that discover the same network choose the same leaders."""
    rng = np.random.default_rng(named_seed(rules.seed, "selector", run))
    return choose_leaders(protocol, simulation, selector, rules.leaders, rng)
