"""The reach to expect with a 90 % range: quantiles predicted by trees, never above the number of people.

The number of people is known, or estimated from how often drawn people know each other or the same people. A guess of
the reach from the seen contacts and the hidden ones is bounded by it. Trees predict the logarithm of the ratio of the
true reach to that bounded guess: its median and the ends of a range. The ends are moved apart until the range holds on
kinds of networks that the trees were not grown on (conformal quantile regression: Romano, Patterson and Candès, 2019).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from claim.networks.network import FloatArray
from claim.selection.foresight.features import STUDY
from claim.selection.foresight.selection_state import SeenNetwork, excess_degree, prior_excess, spread
from claim.selection.foresight.trees import Trees

REACH_FEATURES = (
    *STUDY, "log leaders", "log guess / leader", "log known / leader", "unseen share", "log people / seen",
    "log guess / people", "log meetings", "log mean degree drawn", "share surveyed", "log found / prior excess",
    "log spread", "log outbreak / guess",
)  # fmt: skip
QUANTILES = (0.05, 0.5, 0.95)
FORMS = ("known", "estimated")  # the number of people
DOUBT_MEETINGS = 0.5
OUTBREAK_STEPS = 50
LOWEST = 1.645  # standard deviations below the mean is one in twenty


class Guess(NamedTuple):
    """A guess of the reach of some leaders before any correction: in all, and along seen contacts."""

    reach: float
    known: float
    leaders: float  # those who come, on average


def meetings(view: SeenNetwork) -> float:
    """How often two drawn people know each other, or a third person: the fewer the people, the more often."""
    drawn = view.over_contacts(view.start)  # drawn contacts of each person
    return float(drawn[view.start].sum() / 2 + (drawn * (drawn - 1) / 2).sum())


def estimated_people(view: SeenNetwork) -> tuple[float, float]:
    """The number of people, from the meetings of drawn people, and the most there may be (in 95 % of cases).

    Two people drawn evenly know each other, or someone in common, m (1 + e) / (n - 1) times on average, whatever the
    network is like: m is the mean degree and e the excess degree, both as the drawn people show them.
    """
    drawn = int(view.start.sum())
    degree = view.degree[view.start]
    mean = float(degree.mean()) if drawn else 0.0
    expected = drawn * (drawn - 1) / 2 * mean * (1.0 + prior_excess(view)) + DOUBT_MEETINGS
    met = meetings(view) + DOUBT_MEETINGS
    fewest = met * max(1.0 - 1.0 / (9.0 * met) - LOWEST / (3.0 * met**0.5), 1e-3) ** 3  # Wilson and Hilferty, 1931
    return max(1.0 + expected / met, float(view.n)), max(1.0 + expected / fewest, float(view.n))


def bounded(reach: float, people: float) -> float:
    """The reach if ``reach`` people were drawn with replacement from ``people``: about ``reach`` if that is small."""
    return float(-people * np.expm1(-reach / people))


def outbreak(p: float, excess: float) -> float:
    """The share s of people reached by a large outbreak where degrees are Poisson: s = 1 - exp(-p e s); 0 if none."""
    share = 1.0
    for _ in range(OUTBREAK_STEPS):
        share = -float(np.expm1(-p * excess * share))
    return share


def reach_features(view: SeenNetwork, study: FloatArray, guess: Guess, people: float) -> FloatArray:
    """One number for each name of ``REACH_FEATURES``."""
    drawn, excess = view.degree[view.start], excess_degree(view)
    k = max(guess.leaders, 1e-9)
    own = [
        np.log(k), np.log(guess.reach / k), np.log(max(guess.known, 1e-9) / k), 1.0 - guess.known / guess.reach,
        np.log(people / view.n), np.log(guess.reach / people), np.log1p(meetings(view)),
        np.log1p(drawn.mean() if len(drawn) else 0.0), view.surveyed.sum() / people,
        np.log1p(view.excess_of_found.mean() if len(view.excess_of_found) else excess) - np.log1p(prior_excess(view)),
        np.log(spread(view, excess)), np.log(outbreak(study[STUDY.index("p")], excess) + 1.0 / people)
        - np.log(guess.reach / people),
    ]  # fmt: skip
    return np.concatenate([study, own])


@dataclass(frozen=True)
class Reach:
    """Trees for the quantiles of log(reach / bounded guess), and by how much the ends are moved, by form."""

    trees: dict[str, tuple[Trees, Trees, Trees]]
    wider: dict[str, float]

    def expect(
        self, features: FloatArray, guess: Guess, people: float, most: float, form: str
    ) -> tuple[float, float, float]:
        """Median, low and high; at least the reach along seen contacts, at most the ``most`` people there may be."""
        low, middle, high = (float(np.log(each.predict(features[None])[0])) for each in self.trees[form])
        low, high = min(low, middle) - self.wider[form], max(high, middle) + self.wider[form]
        base = bounded(guess.reach, people)
        return tuple(float(np.clip(base * np.exp(each), min(guess.known, most), most)) for each in (middle, low, high))  # type: ignore[return-value]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        trees = {form: [each.to_dict() for each in found] for form, found in self.trees.items()}
        return {"features": list(REACH_FEATURES), "trees": trees, "wider": self.wider}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Reach":
        """The inverse of :meth:`to_dict`."""
        columns = [REACH_FEATURES.index(name) for name in data["features"]]
        read = {form: tuple(Trees.from_dict(each, columns) for each in found) for form, found in data["trees"].items()}
        return cls(read, data["wider"])  # type: ignore[arg-type]
