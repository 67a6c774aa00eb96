"""The two ways to choose leaders after the surveys; see docs/evaluation.md.

``field``: only discovered people can be chosen, under local indices, ties at random. ``paper``: as the published code
does it, the oracle ranges over everybody in the network, ties go to the smallest id, and it looks at 100 worlds. The
wall stands in both: in the paper protocol it is the referee who hands the selector a list of people in the network's
own order, with people never heard of as isolated candidates.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from claim.discovery import Discovered, Selector, Simulation
from claim.errors import InputError
from claim.selection import Ties

ProtocolName = Literal["field", "paper"]


@dataclass(frozen=True)
class OracleSettings:
    """How a protocol runs the selector."""

    samples: int
    ties: Ties


ORACLE: dict[ProtocolName, OracleSettings] = {
    "field": OracleSettings(samples=1000, ties="random"),
    "paper": OracleSettings(samples=100, ties="first"),
}


def check_protocol(name: str) -> ProtocolName:
    """The name of a protocol, or an error that lists them."""
    for known in get_args(ProtocolName):
        if name == known:
            return known  # type: ignore[no-any-return]
    raise InputError(f"no protocol is called {name!r} (known: {', '.join(get_args(ProtocolName))})")


def choose_leaders(
    protocol: ProtocolName, simulation: Simulation, selector: Selector, k: int, rng: np.random.Generator
) -> list[int]:
    """The leaders, by the network's own indices."""
    if protocol == "field":
        offered, people = simulation.discovered, simulation.people
    else:
        offered, people = offer_everybody(simulation, k)
    return [people[leader] for leader in selector.select(offered, min(k, len(offered)), rng)]


def offer_everybody(simulation: Simulation, k: int) -> tuple[Discovered, list[int]]:
    """The discovered people and people never heard of, in the network's order, and who they are.

    People never heard of are all alike but for their ids, and ties go to the smallest: at most the first ``k`` of them
    can ever be chosen, so only those are offered.
    """
    known = set(simulation.people)
    unheard = (who for who in range(simulation.network.n) if who not in known)
    people = sorted([*known, *(who for _, who in zip(range(k), unheard, strict=False))])
    place = {who: i for i, who in enumerate(people)}
    seen, offered = simulation.discovered, Discovered()
    new_index = [place[who] for who in simulation.people]
    for _ in people:
        offered.add_person()
    for one, other in zip(*(ends.tolist() for ends in seen.ties()), strict=True):
        offered.add_tie(new_index[one], new_index[other])
    for person in seen.surveyed:
        record = offered.record_start if person in seen.start else offered.record_survey
        record(new_index[person])
    for person in seen.refused:
        offered.record_refusal(new_index[person])
    return offered, people
