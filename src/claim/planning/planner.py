"""How many interviews are worth their cost, and how to spend them: estimated from simulated studies."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from claim.advice import discovered_so_far
from claim.discovery import Discovered
from claim.errors import InputError, check_settings, check_whole
from claim.networks import Label, NetworkLike, load
from claim.planning.drawn_leaders import MoreLeaders, compare_with_drawn
from claim.planning.result import Plan, Point, points_of
from claim.planning.settings import PlanSettings
from claim.planning.studies import (
    Progress,
    Way,
    new_studies,
    random_numbers,
    run_studies,
    selector_for,
    studies_under_way,
)
from claim.registry import adviser, find_policy, find_selector
from claim.selection.foresight import NAME, FreeForesight, check_foresight, foresight_named
from claim.selection.foresight.reach import estimated_people
from claim.selection.foresight.selection_state import SeenNetwork


def plan(
    people: int | None = None,
    mean_degree: float | None = None,
    kind: str | None = None,
    start_size: int = 5,
    *,
    known: NetworkLike | Discovered | None = None,
    surveyed: Sequence[Label] = (),
    refused: Sequence[Label] = (),
    start: Sequence[Label] = (),
    settings: PlanSettings | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> Plan:
    """Estimate the reach of the leaders by number of interviews and way to spend them, among so many ``people``.

    Without ``known`` ties, studies are simulated on random networks of a ``kind`` and ``mean_degree``; closed ones
    begin with ``start_size`` people. With them, the plan is for further interviews: ``known``, ``surveyed``,
    ``refused`` and ``start`` are those of :func:`claim.advise`, or ``known`` is a discovered network. Settings are
    given as an object or by keyword, such as ``leaders=20``. If the number of people is not given, it is estimated from
    the known ties.
    """
    check_settings("plan", PlanSettings, changes)
    settings = replace(settings or PlanSettings(), **changes)
    if people is None and known is None:
        raise InputError("a plan without known ties needs the number of people, at least roughly")
    check_whole(1, people=1 if people is None else people, start_size=start_size)
    if mean_degree is not None and not 0 < mean_degree < (people or np.inf):
        raise InputError(f"the mean degree must be above 0 and below the number of people, got {mean_degree}")
    before = start_size if known is None else 0
    numbers = settings.numbers(before)
    used, note = adviser(settings.policy, None, numbers[-1] - before)
    settings = replace(settings, policy=used)
    basis: dict[str, Any] = {"people": people, "mean_degree": mean_degree, **({"note": note} if note else {})}
    if known is None:
        if mean_degree is None:
            raise InputError("a plan without known ties needs the mean degree, at least roughly")
        if surveyed or refused or start:
            raise InputError("a plan without known ties takes no lists of people: surveyed, refused or start")
        basis |= {"kind": kind or "unknown", "start": start_size}
        return _new_plan(basis, numbers, settings, progress)
    if kind is not None:
        raise InputError(f"a kind of network is for plans without known ties, got {kind}")
    if settings.cost_leader is not None:
        raise InputError("costs are for plans without known ties: what was surveyed so far is paid for")
    if not isinstance(known, Discovered):
        known = load(known)
        check_foresight(known, "a plan")
        known = discovered_so_far(known, surveyed, refused, start, find_policy(settings.policy, None, numbers[-1]))
    basis |= {"known": len(known), "start": len(known.start)}
    basis |= {"surveyed": len(known.surveyed), "refused": len(known.refused)}
    if not known.surveyed:
        raise InputError("a plan with known ties needs people who were surveyed; without any, plan without the ties")
    if people is None:
        basis |= {"people": round(estimated_people(SeenNetwork.of(known))[0]), "people_estimated": True}
    return Plan(settings, _further_points(known, basis, numbers, settings, progress), basis)


def _new_plan(basis: dict[str, Any], numbers: list[int], settings: PlanSettings, progress: Progress | None) -> Plan:
    people, start = basis["people"], basis["start"]
    ways = [Way.of(way, settings, numbers, start) for way in settings.ways]
    studies = new_studies(people, basis["mean_degree"], basis["kind"], settings)
    outcomes = run_studies(studies, ways, settings, progress)
    names = [way.name for way in ways]
    points = points_of(outcomes, names, numbers, start, settings)
    rows: list[MoreLeaders] = []
    if settings.cost_leader is not None:
        for i, name in enumerate(names):
            rows += compare_with_drawn(outcomes.by_network()[:, i], outcomes.drawn, people, numbers, name, settings)
    return Plan(settings, points, basis, rows)


def _foresight(settings: PlanSettings, people: int | None) -> FreeForesight:
    """The selector that expects a reach: that of the settings, or the default where that is of another kind."""
    chosen = find_selector(settings.selector, p=settings.p, people=people)
    return chosen if isinstance(chosen, FreeForesight) else foresight_named(NAME, p=settings.p, people=people)


def _further_points(
    seen: Discovered,
    basis: dict[str, Any],
    numbers: list[int],
    settings: PlanSettings,
    progress: Progress | None,
) -> dict[str, list[Point]]:
    """Scale the reach that foresight expects of leaders chosen now by the growth in simulated further interviews."""
    from_now = sorted({0, *numbers})
    ways = [Way.of(way, settings, from_now, 0, len(seen.surveyed)) for way in settings.ways]
    people, known = basis["people"], not basis.get("people_estimated")
    outcomes = run_studies(studies_under_way(seen, people, basis["mean_degree"], settings), ways, settings, progress)
    asked = [from_now.index(number) for number in numbers]
    means = outcomes.reach.mean(axis=0)  # (ways, numbers of interviews)
    growth, means = means[:, asked] / means[0, 0], means[:, asked]
    rng = random_numbers(settings, "now", 0)
    leaders = selector_for(settings).select(seen, min(settings.leaders, len(seen)), rng)
    now = _foresight(settings, people if known else None).expect(seen, leaders, rng)
    most = people if known else max(people, now.high)
    scaled = outcomes.reach[:, :, asked] * np.minimum(now.mean * growth, most) / means
    outcomes = replace(outcomes, reach=scaled, discovered=outcomes.discovered[:, :, asked])
    found = points_of(outcomes, [way.name for way in ways], numbers, 0, settings)
    lows, highs = (np.minimum(end * growth, most).tolist() for end in (now.low, now.high))
    ends = (zip(*each, strict=True) for each in zip(found.values(), lows, highs, strict=True))
    ranged = ([replace(point, low=low, high=high) for point, low, high in each] for each in ends)
    return dict(zip(found, ranged, strict=True))
