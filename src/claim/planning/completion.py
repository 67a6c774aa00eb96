"""A whole network around a partly discovered one: what was seen stays, the rest is drawn to look like it.

Degrees. Whoever was named before being surveyed was met in proportion to their degree d. Somebody nobody named looks
like them with weight m / d, m the mean degree of everybody (Volz and Heckathorn, "Probability based estimation theory
for respondent driven sampling", 2008), and with weight 1 like each of the people whom the study began with.
Somebody who was named looks like the people surveyed who were named by people of a similar degree: the contacts of hubs
may be hubs or leaves, and the answers tell. Being named by j people counts d^(j - 1). How far the answers speak for
everybody is uncertain, so every network weighs them anew (the Bayesian bootstrap; Rubin, 1981).

Ties. Every further contact of a person who was not surveyed is an open end, and open ends are joined in pairs. A share
as large as the closure seen so far is joined nearby: people named by the same person are near one another. The others
are joined at random. People who were surveyed have no open ends: they have named all their contacts.
"""

import numpy as np

from claim.discovery import Discovered
from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import FloatArray, OffsetArray
from claim.selection.foresight.hidden import closure
from claim.selection.foresight.view import BoolArray, View

MEAN_STEPS = 30
NEAR = 2.0  # how far nearby ends may be apart, in circles of contacts
UNLIKE = 1.0  # answers from somebody with e times the contacts count this much less, as a power of e
DOUBT = 1.0  # named people whom everybody surveyed, named or not, stands for together


def completed(seen: Discovered, people: int, mean_degree: float | None, rng: np.random.Generator) -> Network:
    """A network of so many people that agrees with what was seen; the people seen come first, in their order."""
    if people < len(seen):
        raise InputError(f"{len(seen)} people are known already, so there cannot be {people} in all")
    view = View.of(seen)
    wanted, mean = _degrees(view, seen, people, mean_degree, rng)
    known = np.zeros(people)
    known[: view.n] = view.degree
    open_ends = np.maximum(wanted - known, 0).astype(np.int64)
    open_ends[: view.n][view.surveyed] = 0
    ends = np.repeat(np.arange(people), open_ends)
    room = max(people * mean - known.sum(), 0.0)  # of all contacts that everybody has, those not yet seen
    ends = ends[rng.random(len(ends)) * len(ends) < room]
    return _joined(seen, view, ends, people, mean, rng)


def _degrees(
    view: View, seen: Discovered, people: int, mean_degree: float | None, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """A degree for everybody and the mean degree; those of people surveyed are drawn as well, but not needed."""
    surveyed = np.flatnonzero(view.surveyed & (view.degree > 0))
    found = view.degree[surveyed] if len(surveyed) else np.ones(1)
    trust = rng.exponential(size=len(found))
    mean, everybody = _population(found, trust, _met_first(seen, surveyed))
    scale = 1.0 if mean_degree is None else mean_degree / mean
    wanted = np.empty(people)
    unheard = np.ones(people, dtype=np.bool_)
    for who in _alike(view):
        unheard[who] = False
        weights = _likeness(view, who[0], surveyed) * trust * found ** (view.named[who[0]] - 1.0)
        wanted[who] = rng.choice(found, len(who), p=weights / weights.sum())
    wanted[unheard] = rng.choice(found, int(unheard.sum()), p=everybody / everybody.sum())
    further = rng.poisson(np.maximum(wanted * scale - 1.0, 0.0)).astype(np.float64)
    return 1.0 + further, mean * scale


def _met_first(seen: Discovered, surveyed: OffsetArray) -> BoolArray:
    """Who was known before anybody named them: nobody surveyed earlier is a contact."""
    order = {person: i for i, person in enumerate(seen.surveyed)}
    first = [all(order.get(contact, len(order)) > order[who] for contact in seen.contacts[who]) for who in surveyed]
    return np.array(first or [True])


def _population(found: FloatArray, trust: FloatArray, first: BoolArray) -> tuple[float, FloatArray]:
    """The mean degree of everybody, and how much each of the people surveyed stands for somebody nobody named."""
    mean = float(np.average(found, weights=trust))
    for _ in range(MEAN_STEPS):
        weights = trust * np.where(first, 1.0, mean / found)
        mean = float(np.average(found, weights=weights))
    return mean, weights


def _alike(view: View) -> list[OffsetArray]:
    """Named people who were not surveyed, those whom nothing seen can tell apart together."""
    named = np.flatnonzero(~view.surveyed & (view.named > 0))
    groups = view.group[named]
    return [named[groups == group] for group in np.unique(groups)]


def _likeness(view: View, who: int, surveyed: OffsetArray) -> FloatArray:
    """How much each of the people surveyed tells of somebody: by how alike those are who named them."""
    logs = np.log(np.maximum(view.degree, 1.0))
    namers = _surveyed_contacts(view, who)
    here = logs[namers].mean()
    told = np.full(len(surveyed), DOUBT / len(surveyed))
    for i, person in enumerate(surveyed):
        theirs = _surveyed_contacts(view, int(person))
        told[i] += np.exp(-UNLIKE * np.abs(logs[theirs] - here)).max(initial=0.0)
    return told


def _surveyed_contacts(view: View, who: int) -> OffsetArray:
    contacts = view.network.contacts_of(who)
    return contacts[view.surveyed[contacts]].astype(np.int64)


def _joined(
    seen: Discovered, view: View, ends: OffsetArray, people: int, mean: float, rng: np.random.Generator
) -> Network:
    near = rng.random(len(ends)) < closure(view)
    places = _places(seen, people, rng)[ends] + NEAR * (mean + 1.0) / people * rng.random(len(ends))
    pairs = np.concatenate([_paired(ends[near][np.argsort(places[near])]), _paired(rng.permutation(ends[~near]))])
    first = Network.from_edges(pairs[:, 0], pairs[:, 1], n=people)
    lost = np.repeat(np.arange(people), np.bincount(ends, minlength=people) - first.degrees)
    again = _paired(rng.permutation(lost))  # pairs of one person, or joined twice, count for nothing
    sources, targets, _ = view.network.edges()
    one, other = ([*ends_of, *pairs[:, side], *again[:, side]] for side, ends_of in enumerate((sources, targets)))
    return Network.from_edges(one, other, n=people, name="completed")


def _places(seen: Discovered, people: int, rng: np.random.Generator) -> FloatArray:
    """Where on a circle of length 1 people are: with whoever named them first, else anywhere."""
    places = rng.random(people)
    for person in range(len(seen)):
        namers = seen.surveyed_contacts(person)
        if namers:
            places[person] = places[namers[0]]
    return places


def _paired(ends: OffsetArray) -> OffsetArray:
    """Neighbours in the list as pairs; an odd one is left over."""
    return ends[: len(ends) // 2 * 2].reshape(-1, 2)
