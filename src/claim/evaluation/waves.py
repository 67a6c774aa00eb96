"""Leaders in waves, in simulation: choose some, observe who came and whom they reached, choose the next.

A message has spread as far as it will before the next wave is chosen, so that contacts between people reached and not
reached have failed (adaptive seeding with full feedback; Golovin and Krause, Journal of Artificial Intelligence
Research 2011). People who were not discovered are not observed, and of the others all or some are asked. People who did
not come are not invited again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from claim.cascades import Worlds
from claim.discovery import Simulation, surveys
from claim.discovery.simulation import check_contacts
from claim.errors import InputError, check_settings, check_whole
from claim.evaluation.batches import Progress
from claim.evaluation.compare import methods_of
from claim.evaluation.runs import (
    OWN,
    Method,
    StudySettings,
    draw_start_sets,
    selector_for,
    selector_rng,
    simulate,
)
from claim.evaluation.statistics import paired_test, standard_error
from claim.networks import Network, NetworkLike
from claim.networks.catalogue import family_of, load_all, networks_given
from claim.networks.network import BoolArray
from claim.randomness import named_seed
from claim.registry import PolicyLike, SelectorLike, find_policy, name_of
from claim.results import Tabular
from claim.selection.observed import Observed, next_leaders

WORLDS = 8  # of each run, in each of which leaders in waves are chosen anew


@dataclass(frozen=True)
class WavesRow:
    """People reached by leaders in waves and by as many leaders chosen at once, on the same worlds."""

    network: str
    policy: str
    selector: str
    runs: int
    at_once: float
    in_waves: float
    gain: float
    stderr: float
    ci95: tuple[float, float]
    p_value: float

    @property
    def percent(self) -> float:
        """The gain in per cent."""
        return 100 * self.gain / self.at_once


@dataclass(frozen=True)
class Waves(Tabular):
    """The gain of leaders in waves, by network and method."""

    waves: tuple[int, ...]
    rows: list[WavesRow]
    asked: int | None = None  # people after each wave; None: all who were discovered

    def records(self) -> list[dict[str, Any]]:
        """One row for each network and method."""
        return [{**asdict(row), "percent": row.percent} for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"waves": list(self.waves), "asked": self.asked, "rows": self.records()}


def compare_waves(
    networks: Iterable[NetworkLike] | NetworkLike,
    policies: Iterable[PolicyLike] | PolicyLike,
    waves: Sequence[int],
    selector: Iterable[SelectorLike] | SelectorLike = "greedy",
    runs: int = 100,
    seed: int = 10,
    *,
    asked: int | None = None,
    data_dir: str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Waves:
    """The gain of choosing leaders in ``waves`` (numbers of leaders), run by run.

    After each wave the discovered people who do not lead are asked whether they were reached: all of them, or ``asked``
    more of them in random order. The other ``settings`` are those of :class:`StudySettings`; ``leaders`` is the sum of
    the waves.
    """
    check_settings("compare_waves", StudySettings, settings)
    check_whole(1, runs=runs, **{f"wave {number}": size for number, size in enumerate(waves, 1)})
    if len(waves) < 2:
        raise InputError(
            f"waves must be at least two numbers of leaders such as 4,3,3, got {','.join(map(str, waves))}"
        )
    if asked is not None:
        check_whole(0, asked=asked)
    study = StudySettings(seed, **{**settings, "leaders": sum(waves)})
    if study.entry == "open" or study.p_range is not None or study.model != "ic" or not study.judged_by.is_plain:
        raise InputError("leaders in waves are simulated in closed studies with one p, under the model ic")
    hidden = load_all(networks_given(networks), data_dir)
    if not hidden:
        raise InputError("no network to compare on")
    methods = methods_of(policies, selector, "field")
    if any(method.selector == OWN for method in methods):
        raise InputError("leaders in waves need a selector: a policy that chooses its own leaders has none")
    rows, done, update = [], 0, progress or (lambda done, total: None)
    for network in hidden:
        check_contacts(network, "leaders in waves")
        starts = draw_start_sets(network, runs, study.start_size, seed)
        for method in methods:
            pairs = []
            for run, start in enumerate(starts):
                pairs.append(_run(network, method, study, waves, asked, run, start))
                done += 1
                update(done, len(hidden) * len(methods) * runs)
            rows.append(_row(network, method, np.array(pairs), seed))
    return Waves(tuple(waves), rows, asked)


def _row(network: Network, method: Method, reached: np.ndarray[Any, Any], seed: int) -> WavesRow:
    at_once, in_waves = reached.T
    test = paired_test(in_waves, at_once, np.random.default_rng(named_seed(seed, "bootstrap")))
    means = float(at_once.mean()), float(in_waves.mean()), test.difference
    error = standard_error(in_waves - at_once)
    names = name_of(method.policy), name_of(method.selector)
    return WavesRow(network.name, *names, len(reached), *means, error, test.ci95, test.p_value)


def _run(
    network: Network,
    method: Method,
    study: StudySettings,
    waves: Sequence[int],
    asked: int | None,
    run: int,
    start: list[int],
) -> tuple[float, float]:
    """Mean reach of leaders chosen at once and in waves, over the same worlds and the same people who come."""
    policy = find_policy(method.policy, family_of(network), study.budget, study.p)
    simulation, seeing = simulate(network, policy, study, run, start)
    stream = getattr(policy, "stream", name_of(policy))
    rng = np.random.default_rng(named_seed(study.seed, "policy", stream, run))
    for _ in surveys(simulation, seeing, study.budget, rng, study.per_round, study.unit):
        pass
    selector = selector_for(method, network, study)
    seen, (world_seed, coming, lots) = (
        simulation.discovered,
        np.random.default_rng(named_seed(study.seed, "waves", run)).spawn(3),
    )
    worlds = Worlds.draw(network, study.p, WORLDS, int(world_seed.integers(2**62)))
    comes = coming.random((WORLDS, network.n)) < study.attendance
    chosen = selector.select(seen, min(sum(waves), len(seen)), selector_rng(study, run))
    first = selector.select(seen, min(waves[0], len(seen)), selector_rng(study, run))
    at_once = in_waves = 0
    for world in range(WORLDS):
        message = Spreading(simulation, worlds, world, comes[world], lots.permutation(len(seen)).tolist())
        message.invite(chosen)
        at_once += message.reached.sum()
        message = Spreading(simulation, worlds, world, comes[world], message.lot)
        message.invite(first)
        for size in waves[1:]:
            message.ask(asked)
            size = min(size, len(seen) - len(message.known_reached | message.absent))
            if size > 0:
                observed, absent = message.observed(), sorted(message.absent)
                message.invite(next_leaders(selector, seen, size, selector_rng(study, run), observed, absent))
        in_waves += message.reached.sum()
    return at_once / WORLDS, in_waves / WORLDS


class Spreading:
    """A message in one world: who was invited, who was reached, and what is known of it.

    People are asked whether they were reached in the order of the ``lot`` (local indices).
    """

    def __init__(
        self, simulation: Simulation, worlds: Worlds, world: int, comes: BoolArray, lot: Sequence[int] = ()
    ) -> None:
        self.simulation, self.worlds, self.world, self.comes, self.lot = simulation, worlds, world, comes, lot
        self.reached: BoolArray = np.zeros(worlds.n, dtype=np.bool_)  # by the network's indices
        self.wave = 0
        self.absent: set[int] = set()  # leaders who did not come; all below by local indices
        self.came: dict[int, int] = {}  # in which wave
        self.yes: dict[int, int] = {}  # after which wave they said that they were reached
        self.no: dict[int, int] = {}  # after which wave they last said that they were not

    def invite(self, leaders: Iterable[int]) -> None:
        """The next wave: those who come spread the message through the components they are in."""
        worlds, here = self.worlds, slice(*self.worlds.world_starts[self.world : self.world + 2])
        self.wave += 1
        for leader in leaders:
            who = self.simulation.people[leader]
            if not self.comes[who]:
                self.absent.add(leader)
                continue
            self.came[leader] = self.wave
            self.reached[who] = True
            numbers = worlds.member_numbers[worlds.member_offsets[who] : worlds.member_offsets[who + 1]]
            for number in numbers[(numbers >= here.start) & (numbers < here.stop)]:
                self.reached[worlds.members[worlds.starts[number] : worlds.starts[number + 1]]] = True

    def ask(self, count: int | None) -> None:
        """Ask people who do not lead: all who have not said yes, or so many who were not asked before."""
        waiting = [person for person in self.lot if person not in self.came and person not in self.absent]
        if count is not None:
            waiting = [person for person in waiting if person not in self.yes and person not in self.no][:count]
        for person in waiting:
            if not self.reached[self.simulation.people[person]]:
                self.no[person] = self.wave
            elif person not in self.yes:
                self.yes[person] = self.wave
                self.no.pop(person, None)

    @property
    def known_reached(self) -> set[int]:
        """Leaders who came, and people who said that they were reached."""
        return {*self.came, *self.yes}

    def observed(self) -> Observed:
        """What the next wave is chosen by."""
        return Observed.of(self.simulation.discovered, {**self.yes, **self.came}, self.no)
