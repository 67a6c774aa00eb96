"""The result of a plan: the people reached by each way and number of interviews, and what to do."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from claim.evaluation.statistics import standard_error
from claim.planning.drawn_leaders import MoreLeaders
from claim.planning.settings import PlanSettings
from claim.planning.studies import Outcomes
from claim.planning.verdicts import MeanInterval, Verdict
from claim.registry import OPEN_DEFAULT, name_of
from claim.results import Tabular

NINE_IN_TEN = (0.05, 0.95)
CLEAR_OR_NOT: tuple[Verdict, Verdict] = ("worth it", "not clear")


@dataclass(frozen=True)
class Point:
    """The outcome of a number of interviews spent in a way: people reached and discovered.

    ``interviews`` count all that are still to be made, ``surveys`` those after the start people. ``mean`` is the number
    of people reached, and ``low`` to ``high`` the range of nine in ten studies. ``gain`` is the number of people that
    each interview since the previous point adds, with its 95 % interval for all points of the way at once, the
    ``verdict`` on them, and the number of studies that would make an unclear one clear, if known; all are None for the
    first point. ``ahead`` is how many people more are reached than in the first way, with its interval for all points
    and ways at once. In a way that is ``best`` not clearly fewer people are reached than in any other.
    """

    way: str
    interviews: int
    surveys: int
    mean: float
    stderr: float
    low: float
    high: float
    discovered: float
    gain: float | None = None
    gain_stderr: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    verdict: Verdict | None = None
    studies_needed: int | None = None
    ahead: float | None = None
    ahead_low: float | None = None
    ahead_high: float | None = None
    best: bool = True


def points_of(
    outcomes: Outcomes, ways: Sequence[str], numbers: Sequence[int], start: int, settings: PlanSettings
) -> dict[str, list[Point]]:
    """The points of each way, one for each number of interviews; differences are paired by network."""
    reach = outcomes.by_network()
    steps = np.diff(reach, axis=2) / np.diff(numbers)
    pairs = len(numbers) * max(len(list(combinations(ways, 2))), 1)
    shared = len(reach) < len(outcomes.reach)  # then more studies are not more networks

    def gained(way: int, number: int) -> dict[str, Any]:
        gain = MeanInterval.of(steps[:, way, number - 1], len(numbers) - 1)
        needed = None if shared else gain.studies_needed(settings.worth, settings.studies)
        found = {"gain": gain.mean, "gain_stderr": gain.stderr, "gain_low": gain.low, "gain_high": gain.high}
        return {**found, "verdict": gain.verdict(settings.worth), "studies_needed": needed}

    def compared(way: int, number: int) -> dict[str, Any]:
        ahead = [MeanInterval.of(reach[:, way, number] - other, pairs) for other in reach[:, :, number].T]
        first = {"ahead": ahead[0].mean, "ahead_low": ahead[0].low, "ahead_high": ahead[0].high} if way else {}
        return {**first, "best": all(each.high >= 0 for each in ahead)}

    def point(way: int, number: int) -> Point:
        here, (low, high) = reach[:, way, number], np.quantile(outcomes.reach[:, way, number], NINE_IN_TEN)
        found = {"low": float(low), "high": float(high), **(gained(way, number) if number else {})}
        return Point(
            way=ways[way],
            interviews=numbers[number],
            surveys=numbers[number] - start,
            mean=float(here.mean()),
            stderr=standard_error(here),
            discovered=float(outcomes.discovered[:, way, number].mean()),
            **found,
            **compared(way, number),
        )

    return {name: [point(i, j) for j in range(len(numbers))] for i, name in enumerate(ways)}


@dataclass(frozen=True)
class Plan(Tabular):
    """The expected reach by way and number of interviews; ``basis`` is what the plan was made from.

    ``ways`` has the points of each way, one for each number of interviews. ``more_leaders`` compares the interviews
    with recruiting more leaders; it is empty without costs.
    """

    settings: PlanSettings
    ways: dict[str, list[Point]]
    basis: dict[str, Any]
    more_leaders: list[MoreLeaders] = field(default_factory=list)

    def records(self) -> list[dict[str, Any]]:
        """One row for each way and number of interviews."""
        return [asdict(point) for points in self.ways.values() for point in points]

    @property
    def advised(self) -> str:
        """The way that the advice on the number of interviews is for: the default of open studies, if it was tried."""
        return OPEN_DEFAULT if OPEN_DEFAULT in self.ways else next(iter(self.ways))

    @property
    def points(self) -> list[Point]:
        """The points of the advised way."""
        return self.ways[self.advised]

    def best(self, interviews: int) -> list[str]:
        """The ways to spend so many interviews that are not clearly behind another one; none if all are the same."""
        points = [point for each in self.ways.values() for point in each if point.interviews == interviews]
        same = len({point.mean for point in points}) == 1
        return [] if same else [point.way for point in points if point.best]

    @property
    def worth_until(self) -> int:
        """The number of interviews up to which they are clearly worth it: the last step that is."""
        paying = (point for point in reversed(self.points) if point.verdict == "worth it")
        return next(paying, self.points[0]).interviews

    @property
    def enough(self) -> int | None:
        """The number of interviews after which none is worth it, clearly; None if there is no such number."""
        open_or_paying = (point for point in reversed(self.points) if point.verdict not in ("not worth it", None))
        last = next(open_or_paying, self.points[0])
        return None if last is self.points[-1] else last.interviews

    @property
    def further(self) -> bool:
        """Whether the interviews follow others that were made before."""
        return "known" in self.basis

    @property
    def advice(self) -> str:
        """A recommendation of a few sentences."""
        if len(self.points) < 2:
            return "One number of interviews does not show what further ones add."
        here = next((point for point in self.points if point.interviews == self.enough), self.points[-1])
        return " ".join([*self._number_advice(), *self._reach_advice(here), *self._leader_advice()])

    def _number_advice(self) -> Iterator[str]:
        worth, what = f"{self.settings.worth:g} people", "further interviews" if self.further else "interviews"
        points, until, enough = self.points, self.worth_until, self.enough
        if until > points[0].interviews:
            yield f"Up to {until} {what} each adds {worth} or more."
        if enough is not None:
            yield f"After {enough} {what} each one more adds less than {worth}."
        end = points[-1].interviews if enough is None else enough
        if end > until:
            doubtful = [point for point in points if until < point.interviews <= end and point.verdict == "not clear"]
            needed = [point.studies_needed or 0 for point in doubtful]
            settled = f"; about {max(needed)} would settle it" if all(needed) else ""
            doubt = f"is not clear from {self.settings.studies} studies{settled}"
            yield f"Whether {what} from {until} to {end} add {worth} each {doubt}."

    def _reach_advice(self, here: Point) -> Iterator[str]:
        number = f"{here.interviews} {'further ' if self.further else ''}interviews"
        span = f"between {here.low:.0f} and {here.high:.0f} in nine of ten studies"
        yield f"With {number} ({here.way}) expect to reach about {here.mean:.0f} people, {span}."
        best = self.best(here.interviews)
        if len(best) == len(self.ways):
            yield f"Which way to spend {number} is best is not clear from {self.settings.studies} studies."
        elif best:
            yield f"The best way to spend {number}: {' or '.join(best)}."

    def _leader_advice(self) -> Iterator[str]:
        for drawn in dict.fromkeys(row.drawn for row in self.more_leaders):
            rows = [row for row in self.more_leaders if (row.way, row.drawn) == (self.advised, drawn)]
            pay, may = (", ".join(str(row.interviews) for row in rows if row.verdict == each) for each in CLEAR_OR_NOT)
            verdict = f"worth it for {pay} interviews" if pay else "clearly worth it for none of these numbers"
            doubt = f" (not clear for {may})" if may else ""
            yield f"At these costs, interviews rather than more {drawn} leaders are {verdict}{doubt}."

    def to_dict(self) -> dict[str, Any]:
        """The data that ``claim plan --json`` writes."""
        settings = vars(self.settings) | {"surveys": [point.surveys for point in self.points]}
        settings |= {"interviews": [point.interviews for point in self.points], "ways": list(self.ways)}
        settings |= {"policy": name_of(self.settings.policy), "selector": name_of(self.settings.selector)}
        verdict = {"worth": settings.pop("worth"), "advised": self.advised, "worth_until": self.worth_until}
        verdict |= {"enough": self.enough, "advice": self.advice}
        leaders = {"more_leaders": [asdict(row) for row in self.more_leaders]} if self.more_leaders else {}
        ways = {way: [asdict(point) for point in points] for way, points in self.ways.items()}
        return {**self.basis, "settings": settings, "points": ways[self.advised], "ways": ways, **leaders, **verdict}
