"""Leaders in waves, in simulation: choose some, observe who came and whom they reached, choose the next.

A message has spread as far as it will before the next wave is chosen, so that contacts between people reached and not
reached have failed: the next leaders are chosen on what was discovered of the people not reached (adaptive seeding with
full feedback; Golovin and Krause, Journal of Artificial Intelligence Research 2011). People who were not discovered are
not observed. People who did not come are not invited again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from claim.cascades import Worlds
from claim.discovery import Discovered, Simulation, Status, surveys
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

    def records(self) -> list[dict[str, Any]]:
        """One row for each network and method."""
        return [{**asdict(row), "percent": row.percent} for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"waves": list(self.waves), "rows": self.records()}


def compare_waves(
    networks: Iterable[NetworkLike] | NetworkLike,
    policies: Iterable[PolicyLike] | PolicyLike,
    waves: Sequence[int],
    selector: Iterable[SelectorLike] | SelectorLike = "greedy",
    runs: int = 100,
    seed: int = 10,
    *,
    data_dir: str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Waves:
    """The gain of choosing leaders in ``waves`` (numbers of leaders), run by run.

    The other ``settings`` are those of :class:`StudySettings`; ``leaders`` is the sum of the waves.
    """
    check_settings("compare_waves", StudySettings, settings)
    check_whole(1, runs=runs, **{f"wave {number}": size for number, size in enumerate(waves, 1)})
    if len(waves) < 2:
        raise InputError(
            f"waves must be at least two numbers of leaders such as 4,3,3, got {','.join(map(str, waves))}"
        )
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
        check_contacts(network)
        starts = draw_start_sets(network, runs, study.start_size, seed)
        for method in methods:
            pairs = []
            for run, start in enumerate(starts):
                pairs.append(_run(network, method, study, waves, run, start))
                done += 1
                update(done, len(hidden) * len(methods) * runs)
            rows.append(_row(network, method, np.array(pairs), seed))
    return Waves(tuple(waves), rows)


def _row(network: Network, method: Method, reached: np.ndarray[Any, Any], seed: int) -> WavesRow:
    at_once, in_waves = reached.T
    test = paired_test(in_waves, at_once, np.random.default_rng(named_seed(seed, "bootstrap")))
    means = float(at_once.mean()), float(in_waves.mean()), test.difference
    error = standard_error(in_waves - at_once)
    names = name_of(method.policy), name_of(method.selector)
    return WavesRow(network.name, *names, len(reached), *means, error, test.ci95, test.p_value)


def _run(
    network: Network, method: Method, study: StudySettings, waves: Sequence[int], run: int, start: list[int]
) -> tuple[float, float]:
    """Mean reach of leaders chosen at once and in waves, over the same worlds and the same people who come."""
    policy = find_policy(method.policy, family_of(network), study.budget, study.p)
    simulation, seeing = simulate(network, policy, study, run, start)
    stream = getattr(policy, "stream", name_of(policy))
    rng = np.random.default_rng(named_seed(study.seed, "policy", stream, run))
    for _ in surveys(simulation, seeing, study.budget, rng, study.per_round, study.unit):
        pass
    selector = selector_for(method, network, study)
    seen, (world_seed, coming) = (
        simulation.discovered,
        np.random.default_rng(named_seed(study.seed, "waves", run)).spawn(2),
    )
    worlds = Worlds.draw(network, study.p, WORLDS, int(world_seed.integers(2**62)))
    comes = coming.random((WORLDS, network.n)) < study.attendance
    chosen = selector.select(seen, min(sum(waves), len(seen)), selector_rng(study, run))
    first = selector.select(seen, min(waves[0], len(seen)), selector_rng(study, run))
    at_once = in_waves = 0
    for world in range(WORLDS):
        message = Spreading(simulation, worlds, world, comes[world])
        message.invite(chosen)
        at_once += message.reached.sum()
        message = Spreading(simulation, worlds, world, comes[world])
        message.invite(first)
        for size in waves[1:]:
            left, people = message.not_reached()
            absent = [place for place, person in enumerate(people) if person in message.invited]
            if len(people) > len(absent):
                size = min(size, len(people) - len(absent))
                found = selector.select(left, size, selector_rng(study, run), must_not=absent)
                message.invite([people[place] for place in found])
        in_waves += message.reached.sum()
    return at_once / WORLDS, in_waves / WORLDS


class Spreading:
    """A message in one world: who was invited, and who was reached."""

    def __init__(self, simulation: Simulation, worlds: Worlds, world: int, comes: BoolArray) -> None:
        self.simulation, self.worlds, self.world, self.comes = simulation, worlds, world, comes
        self.reached: BoolArray = np.zeros(worlds.n, dtype=np.bool_)  # by the network's indices
        self.invited: set[int] = set()  # by local indices

    def invite(self, leaders: Iterable[int]) -> None:
        """Those who come spread the message through the components they are in."""
        worlds, here = self.worlds, slice(*self.worlds.world_starts[self.world : self.world + 2])
        for leader in leaders:
            self.invited.add(leader)
            who = self.simulation.people[leader]
            if not self.comes[who]:
                continue
            self.reached[who] = True
            numbers = worlds.member_numbers[worlds.member_offsets[who] : worlds.member_offsets[who + 1]]
            for number in numbers[(numbers >= here.start) & (numbers < here.stop)]:
                self.reached[worlds.members[worlds.starts[number] : worlds.starts[number + 1]]] = True

    def not_reached(self) -> tuple[Discovered, list[int]]:
        """What was discovered of the people not reached, and their local indices."""
        seen = self.simulation.discovered
        people = [person for person in range(len(seen)) if not self.reached[self.simulation.people[person]]]
        place, left = {person: i for i, person in enumerate(people)}, Discovered()
        for _ in people:
            left.add_person()
        for one, other in zip(*(ends.tolist() for ends in seen.ties()), strict=True):
            if one in place and other in place:
                left.add_tie(place[one], place[other])
        start = set(seen.start)
        for person in people:
            if seen.status[person] == Status.SURVEYED:
                (left.record_start if person in start else left.record_survey)(place[person])
            elif seen.status[person] == Status.REFUSED:
                left.record_refusal(place[person])
        return left, people
