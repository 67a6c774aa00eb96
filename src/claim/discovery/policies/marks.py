"""What the marks of the hub question say in a study, and how far they can be trusted.

A mark weighs the logarithm of the number of contacts it was chosen from: the mark of an only contact says nothing, one
of fifty much. Whether people know who is well connected shows in the study itself: others name the marked people
more often than the contacts they were chosen from, and the marked people have more contacts when they are surveyed.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain

import numpy as np

from claim.discovery.discovered import Discovered
from claim.networks.network import FloatArray

SIGNALS = ("marks", "named more", "marked surveyed", "more contacts")
FILE = "marks.json"
DOUBT = 2.0  # people met through a contact that the expected number of contacts counts for
LITTLE = 0.5  # variance of logarithms that stands against the first differences


@dataclass(frozen=True)
class Trust:
    """Logistic regression of whether marks say anything, on the signals of a study."""

    constant: float
    weights: FloatArray  # (signals,)

    def probability(self, signals: FloatArray) -> float:
        """The probability that marks say anything in a study with these signals."""
        return float(1.0 / (1.0 + np.exp(-(self.constant + self.weights @ signals))))

    def to_json(self) -> str:
        """The text of the file that is shipped."""
        constant, *weights = (round(float(each), 4) for each in (self.constant, *self.weights))
        return json.dumps({"signals": SIGNALS, "constant": constant, "weights": weights}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Trust":
        """The regression of such a file."""
        data = json.loads(text)
        if tuple(data["signals"]) != SIGNALS:
            raise ValueError("this trust in marks was fitted to other signals")
        return cls(data["constant"], np.array(data["weights"]))


@cache
def shipped_trust() -> Trust:
    """The regression that comes with the package; ``python -m claim.fitting.scout`` makes it again."""
    return Trust.from_json(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))


def weight_of_marks(discovered: Discovered, more: int = 0) -> dict[int, float]:
    """The sum of log(contacts of the respondent + ``more``) over the marks of each marked person."""
    weights: dict[int, float] = {}
    for by, marked in discovered.marks.items():
        weights[marked] = weights.get(marked, 0.0) + math.log(max(len(discovered.contacts[by]) + more, 1))
    return weights


def trust_in_marks(discovered: Discovered) -> float:
    """The probability that marks say anything in this study; 0 without marks."""
    return shipped_trust().probability(mark_signals(discovered)) if discovered.marks else 0.0


def mark_signals(discovered: Discovered) -> FloatArray:
    """One number for each name of ``SIGNALS``.

    The two comparisons are differences of logarithms in standard errors: about ±1 in a study whose marks say nothing.
    """
    chosen = [(by, marked) for by, marked in discovered.marks.items() if len(discovered.contacts[by]) > 1]
    times = Counter(chain.from_iterable(discovered.contacts[who] for who in discovered.surveyed))
    compared = [_named_more(discovered.contacts[by], marked, times) for by, marked in chosen]
    named, variance = np.array(compared, dtype=np.float64).reshape(-1, 2).sum(axis=0)
    start, marked_people = set(discovered.start), {marked for _, marked in chosen}
    found = [who for who in discovered.surveyed if who not in start]
    logs = np.array([math.log(max(len(discovered.contacts[who]), 1)) for who in found])
    marked = np.array([who in marked_people for who in found], dtype=np.bool_)
    usual = (logs[~marked].sum() + DOUBT * _expected_log(discovered)) / ((~marked).sum() + DOUBT)
    spread = (((logs - usual) ** 2).sum() + DOUBT) / (len(logs) + DOUBT)
    above = (logs[marked] - usual).sum() / math.sqrt(spread * max(marked.sum(), 1))
    return np.array([np.log1p(len(chosen)), named / math.sqrt(variance + LITTLE), np.log1p(marked.sum()), above])


def _named_more(contacts: Collection[int], marked: int, times: Mapping[int, int]) -> tuple[float, float]:
    """How much more often a marked contact was named than the others: the difference of logarithms, and its variance if
    the mark says nothing.
    """
    values = np.log([max(times[who], 1) for who in contacts])
    share = len(values) / (len(values) - 1)
    return share * (math.log(max(times[marked], 1)) - values.mean()), share**2 * values.var()


def _expected_log(discovered: Discovered) -> float:
    """The logarithm of the contacts to expect of a person met through a contact: met in proportion to their number."""
    drawn = np.array([len(discovered.contacts[who]) for who in discovered.start], dtype=np.float64)
    return float(np.log(max((drawn**2).sum() / drawn.sum(), 1.0))) if drawn.sum() else 0.0
