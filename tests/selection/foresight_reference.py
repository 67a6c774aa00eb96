"""``foresight:free`` in readable Python, to which the compiled selector is compared pick by pick."""

from collections.abc import Sequence

from cascade_reference import components, live_edges
from claim.discovery import Discovered, Status
from claim.selection.foresight.selection_state import (
    NOT_NAMED,
    PRIOR_COMMON,
    PRIOR_EXCESS,
    PRIOR_POSSIBLE,
    PRIOR_SPREAD,
    SPREADS,
    chain,
)


def plain_excess(seen: Discovered) -> float:
    """How many further contacts somebody has who was met through a contact."""
    start = [seen.degree(person) for person in seen.start]
    found = [max(seen.degree(person) - 1, 0) for person in seen.surveyed if person not in seen.start]
    prior = sum(d * d for d in start) / sum(start) - 1 if sum(start) else 0.0
    return (sum(found) + PRIOR_EXCESS * prior) / (len(found) + PRIOR_EXCESS)


def plain_spread(seen: Discovered, excess: float) -> float:
    """How unequal people are."""
    if excess <= 0:
        return 1.0
    found = [max(seen.degree(person) - 1, 0) for person in seen.surveyed if person not in seen.start]
    squares = sum((further / excess - 1) ** 2 for further in found) + PRIOR_SPREAD * (1 + 1 / excess)
    return min(max(squares / (len(found) + PRIOR_SPREAD) - 1 / excess, SPREADS[0]), SPREADS[1])


def plain_closure(seen: Discovered) -> float:
    """Which share of the contacts they could share do contacts share."""
    common, possible = PRIOR_COMMON, PRIOR_POSSIBLE
    for one in seen.surveyed:
        for other in seen.surveyed_contacts(one):
            if one < other:
                common += len(set(seen.contacts[one]) & set(seen.contacts[other]))
                possible += min(seen.degree(one), seen.degree(other)) - 1
    return common / possible


def plain_worth(seen: Discovered, p: float) -> list[float]:
    """h(u) for everybody; 0 for the surveyed, of whom all is seen."""
    excess = plain_excess(seen)
    evenness = 1 / plain_spread(seen, excess)
    worth = []
    for person in range(len(seen)):
        named = len(seen.surveyed_contacts(person))
        share = (evenness + named) / (evenness + 1) if named else NOT_NAMED
        worth.append(0.0 if seen.status[person] == Status.SURVEYED else chain(p, excess) * share)
    return worth


def plain_gains(
    seen: Discovered,
    worlds: Sequence[list[set[int]]],
    leaders: Sequence[int],
    worth: Sequence[float],
    attendance: float,
) -> list[float]:
    """What everybody adds to the leaders, on average over the worlds, if they come."""
    gains = [0.0] * len(seen)
    for groups in worlds:
        for person in range(len(seen)):
            group = next((group for group in groups if person in group), {person})
            missed = (1 - attendance) ** sum(leader in group for leader in leaders)
            gains[person] += missed * sum(1 + worth[other] for other in group) / len(worlds)
    return gains


def plain_foresight(
    seen: Discovered, k: int, p: float, samples: int, seed: int, priority: Sequence[int], attendance: float = 1.0
) -> list[int]:
    """The leaders, in the order in which they are picked; people of one class share their mean gain."""
    worlds = [components(live_edges(seen.as_network(), p, seed, world)) for world in range(samples)]
    worth, closure = plain_worth(seen, p), plain_closure(seen)
    leaders: list[int] = []
    while len(leaders) < min(k, len(seen)):
        gains = plain_gains(seen, worlds, leaders, worth, attendance)
        for people in seen.classes:
            left = [person for person in people.members if person not in leaders]
            mean = sum(gains[person] for person in left) / max(len(left), 1)
            gains = [mean if person in left else gain for person, gain in enumerate(gains)]
        others = [person for person in range(len(seen)) if person not in leaders]
        best = max(others, key=lambda person: (round(gains[person], 9), priority[person]))
        leaders.append(best)
        if seen.status[best] != Status.SURVEYED:
            for namer in seen.surveyed_contacts(best):
                for sibling in seen.contacts[namer]:
                    if sibling != best and seen.status[sibling] != Status.SURVEYED:
                        worth[sibling] *= 1 - attendance * closure
    return leaders
