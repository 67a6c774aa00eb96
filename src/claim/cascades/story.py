"""One cascade step by step: who reached whom, and when."""

from collections.abc import Iterable
from dataclasses import dataclass

from claim.cascades.influence import check_people, check_probability
from claim.cascades.reference import live_contacts
from claim.networks import Network
from claim.randomness import Rng, as_generator, draw_seed


@dataclass(frozen=True)
class Reached:
    """One person reached: by whom (``None`` for a leader) and at which step (0 for a leader)."""

    person: int
    by: int | None
    step: int


def cascade(network: Network, leaders: Iterable[int], p: float = 0.1, rng: Rng = 0) -> list[Reached]:
    """Play one independent cascade; people in the order in which they are reached."""
    check_probability(p)
    seed = draw_seed(as_generator(rng))
    story = [Reached(int(person), None, 0) for person in check_people(network.n, leaders)]
    active = {event.person for event in story}
    for event in story:  # grows while it is read: everybody reached gets a turn
        for contact in live_contacts(network, event.person, p, seed, world=0):
            if contact not in active:
                active.add(contact)
                story.append(Reached(contact, event.person, event.step + 1))
    return story
