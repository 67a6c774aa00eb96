"""What is slow the first time, done once in the background before somebody waits for it."""

import numpy as np

from claim.field.web.context import environment
from claim.field.web.preferences import LANGUAGES
from claim.field.web.words import words_in


def warm_up() -> None:
    """Read the pages and words, then load or compile what leaders are chosen with."""
    pages = environment()
    for name in pages.list_templates():
        pages.get_template(name)
    for language in LANGUAGES:
        words_in(language)
    _choose_once()


def _choose_once() -> None:
    from claim.cascades import influence
    from claim.discovery import Discovered
    from claim.networks import Network
    from claim.selection.foresight import FreeForesight
    from claim.selection.foresight.view import View
    from claim.selection.selectors import GreedySelector

    network = Network.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    seen = Discovered.from_network(network, [0, 1])
    foresight = FreeForesight(0.5, 10)
    leaders = foresight.select(seen, 2, np.random.default_rng(0))
    foresight.ranges().around(*foresight.guess_reach(View.of(seen), leaders, 0))
    foresight.reasons(seen, leaders)
    GreedySelector(0.5, 10).select(seen, 2, np.random.default_rng(0))
    influence(network, leaders, 0.5, 10, 0)
