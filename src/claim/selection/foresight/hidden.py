"""What the people not surveyed are worth beyond what is seen of them, estimated from the study itself."""

from dataclasses import dataclass

import numpy as np

from claim.networks.network import FloatArray
from claim.selection.foresight.kernels import common_contacts
from claim.selection.foresight.view import View

PRIOR_EXCESS = 2.0  # observations that the start people's degrees count for
PRIOR_SPREAD = 5.0  # observations that a spread of 1 counts for
SPREADS = (0.02, 3.0)  # the least and the most unequal that degrees are taken to be
PRIOR_COMMON, PRIOR_POSSIBLE = 0.4, 4.0  # contacts of contacts: a tenth in common until more is seen

UNHEARD = 0.5  # somebody nobody named, against somebody named once


@dataclass(frozen=True)
class Hidden:
    """``worth`` h(u) is how many more people u reaches on average; ``closure`` how far contacts share contacts."""

    worth: FloatArray
    closure: float
    excess: float


def hidden_worth(view: View, p: float) -> Hidden:
    """h(u) = c (a + od(u)) / (a + 1) for the people not surveyed, a = 1 / spread; see docs/foresight.md.

    Being named by many speaks for more contacts that are not seen, the more so the more unequal degrees are.
    """
    excess = excess_degree(view)
    evenness = 1.0 / spread(view, excess)
    worth = chain(p, excess) * (evenness + view.named) / (evenness + 1.0)
    worth[view.named == 0] = chain(p, excess) * UNHEARD
    worth[view.surveyed] = 0.0
    return Hidden(worth, closure(view), excess)


def chain(p: float, excess: float) -> float:
    """Expected reach through unseen contacts, and theirs: p e + (p e)^2 / 2 + ..., held down where it would explode."""
    step = p * excess
    return step / (1.0 - min(step / 2.0, 0.5))


def excess_degree(view: View) -> float:
    """How many further contacts somebody has who was met through a contact.

    The people surveyed on the way tell it directly. Two more such observations are added with what the start people let
    expect of a contact.
    """
    found = view.degree[view.surveyed & ~view.start]
    total = np.maximum(found - 1.0, 0.0).sum() + PRIOR_EXCESS * prior_excess(view)
    return float(total / (len(found) + PRIOR_EXCESS))


def prior_excess(view: View) -> float:
    """What the start people's degrees let expect: a contact is met in proportion to their degree."""
    start = view.degree[view.start]
    return float((start**2).sum() / start.sum() - 1.0) if start.sum() else 0.0


def spread(view: View, excess: float) -> float:
    """How unequal people are: the squared deviation of degrees relative to their mean, beyond that of pure chance."""
    if excess <= 0:
        return 1.0
    found = np.maximum(view.degree[view.surveyed & ~view.start] - 1.0, 0.0)
    seen = float(((found / excess - 1.0) ** 2).sum()) + PRIOR_SPREAD * (1.0 + 1.0 / excess)
    return float(np.clip(seen / (len(found) + PRIOR_SPREAD) - 1.0 / excess, *SPREADS))


def closure(view: View) -> float:
    """Which share of the contacts they could share do contacts share."""
    network = view.network
    common, possible = common_contacts(view.surveyed, network.offsets, network.contacts)
    return float((common + PRIOR_COMMON) / (possible + PRIOR_POSSIBLE))
