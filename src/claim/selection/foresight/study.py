"""What the answers so far say about the kind of network: a few numbers that all candidates of a study share."""

import numpy as np

from claim.networks.network import FloatArray
from claim.selection.foresight.hidden import Hidden, prior_excess
from claim.selection.foresight.view import View

STUDY = (
    "log surveys", "log found excess", "log prior excess", "closure", "mixing", "log named", "named twice", "p",
)  # fmt: skip
DOUBT = 4.0  # pairs of unlike contacts that stand against what a few answers show of mixing


def study_features(view: View, hidden: Hidden, p: float) -> FloatArray:
    """One number for each name of ``STUDY``."""
    found = view.surveyed & ~view.start
    others = view.named[~view.surveyed & (view.named > 0)]
    return np.array(
        [
            np.log1p(found.sum()),
            np.log1p(hidden.excess),
            np.log1p(prior_excess(view)),
            hidden.closure,
            mixing(view),
            np.log((len(others) + 1.0) / (view.surveyed.sum() + 1.0)),
            (others > 1).sum() / (len(others) + 1.0),
            p,
        ]
    )


def mixing(view: View) -> float:
    """Whether the well-connected know the well-connected: a correlation of degrees, held near 0 by few answers."""
    sources, targets, _ = view.network.edges()
    both = view.surveyed[sources] & view.surveyed[targets]
    if not both.any():
        return 0.0
    logs = np.log(np.maximum(view.degree, 1.0))
    around = logs[view.surveyed].mean()
    one, other = logs[sources[both]] - around, logs[targets[both]] - around
    return float((one * other).sum() / (((one**2 + other**2) / 2).sum() + DOUBT))
