"""Draw whole networks that agree with what was seen of a hidden one, for studies under way."""

import numpy as np

from claim.discovery import Discovered
from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import FloatArray, OffsetArray
from claim.selection.foresight.selection_state import SeenNetwork, closure

MEAN_STEPS = 30
NEAR = 2.0  # people on a ring: nearby ties span up to NEAR (mean degree + 1) of them
UNLIKE = 1.0  # a surveyed person weighs exp(-UNLIKE d), d: difference in log contacts of the namers
DOUBT = 1.0  # weight of all surveyed people together beside that


def completed(seen: Discovered, people: int, mean_degree: float | None, rng: np.random.Generator) -> Network:
    """Draw a whole network that agrees with what was seen; the people seen come first, in their order."""
    if people < len(seen):
        raise InputError(f"{len(seen)} people are known already: people must be at least as many, got {people}")
    view = SeenNetwork.of(seen)
    degrees, mean = _degrees(view, seen, people, mean_degree, rng)
    known = np.zeros(people)
    known[: view.n] = view.degree
    open_ends = np.maximum(degrees - known, 0).astype(np.int64)
    open_ends[: view.n][view.surveyed] = 0
    ends = np.repeat(np.arange(people), open_ends)
    unseen = max(people * mean - known.sum(), 0.0)  # ends of ties that were not seen yet
    ends = ends[rng.random(len(ends)) * len(ends) < unseen]
    near = rng.random(len(ends)) < closure(view)
    places = _places(seen, people, rng)[ends] + NEAR * (mean + 1.0) / people * rng.random(len(ends))
    pairs = np.concatenate([_pairs(ends[near][np.argsort(places[near])]), _pairs(rng.permutation(ends[~near]))])
    first = Network.from_edges(pairs[:, 0], pairs[:, 1], n=people)
    lost = np.repeat(np.arange(people), np.bincount(ends, minlength=people) - first.degrees)  # self-loops and repeats
    again = _pairs(rng.permutation(lost))
    sources, targets, _ = view.network.edges()
    one, other = ([*seen_ends, *pairs[:, i], *again[:, i]] for i, seen_ends in enumerate((sources, targets)))
    return Network.from_edges(one, other, n=people, name="completed")


def _degrees(
    view: SeenNetwork, seen: Discovered, people: int, mean_degree: float | None, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Draw a degree for each of the people (those of surveyed people are not used), and the mean degree.

    Degrees are resampled from those of the people surveyed, with exponential weights (the Bayesian bootstrap).
    """
    surveyed = np.flatnonzero(view.surveyed & (view.degree > 0))
    found = view.degree[surveyed] if len(surveyed) else np.ones(1)
    trust = rng.exponential(size=len(found))
    order = {person: i for i, person in enumerate(seen.surveyed)}

    def came_first(who: int) -> bool:
        """Whether no contact was surveyed before; others were met in proportion to their degree."""
        return all(order.get(contact, len(order)) > order[who] for contact in seen.contacts[who])

    first = np.array([came_first(who) for who in surveyed.tolist()] or [True])
    mean, weights = float(np.average(found, weights=trust)), trust
    for _ in range(MEAN_STEPS):
        weights = trust * np.where(first, 1.0, mean / found)
        mean = float(np.average(found, weights=weights))
    scale = 1.0 if mean_degree is None else mean_degree / mean
    drawn, unnamed = np.empty(people), np.ones(people, dtype=np.bool_)
    named = np.flatnonzero(~view.surveyed & (view.named > 0))
    for group in np.unique(view.group[named]):
        who = named[view.group[named] == group]
        unnamed[who] = False
        chances = _likeness(view, who[0], surveyed) * trust * found ** (view.named[who[0]] - 1.0)
        drawn[who] = rng.choice(found, len(who), p=chances / chances.sum())
    drawn[unnamed] = rng.choice(found, int(unnamed.sum()), p=weights / weights.sum())
    further = rng.poisson(np.maximum(drawn * scale - 1.0, 0.0)).astype(np.float64)
    return 1.0 + further, mean * scale


def _likeness(view: SeenNetwork, who: int, surveyed: OffsetArray) -> FloatArray:
    """Weigh each surveyed person as a model for ``who``: by how alike the people are who named them."""
    logs = np.log(np.maximum(view.degree, 1.0))

    def namer_logs(person: int) -> FloatArray:
        contacts = view.network.contacts_of(person)
        namers: FloatArray = logs[contacts[view.surveyed[contacts]]]
        return namers

    here = namer_logs(who).mean()
    alike = [np.exp(-UNLIKE * np.abs(namer_logs(person) - here)).max(initial=0.0) for person in surveyed]
    return DOUBT / len(surveyed) + np.array(alike)


def _places(seen: Discovered, people: int, rng: np.random.Generator) -> FloatArray:
    """Draw a place on a circle of length 1 for each person; named people share that of the first who named them."""
    places = rng.random(people)
    for person in range(len(seen)):
        for namer in seen.surveyed_contacts(person)[:1]:
            places[person] = places[namer]
    return places


def _pairs(ends: OffsetArray) -> OffsetArray:
    """Pair neighbours in a list; the last one of an odd number is left out."""
    return ends[: len(ends) // 2 * 2].reshape(-1, 2)
