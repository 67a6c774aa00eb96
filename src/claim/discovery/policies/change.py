"""CHANGE (Wilder, Immorlica, Rice and Tambe, 2018): survey random people, then a random contact of each.

The friendship paradox makes a random contact better connected than a random person.
"""

import numpy as np

from claim.discovery.discovered import Discovered
from claim.discovery.policies.simple import BY_CHANCE
from claim.discovery.ranking import Turns
from claim.discovery.reasons import who_named
from claim.messages import Message

IN_TURN = Message("drawn by chance from the contacts of the surveyed person whose turn it was")


class Change:
    """Surveys one random unsurveyed contact of each surveyed person in turn, start people first.

    This is CHANGE with equal access: the start people stand in for its random people, so that it sees no more of the
    network than any other policy.
    """

    name = "change"

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """A contact of whose turn it is; people without unsurveyed contacts are passed over."""
        chosen: list[int] = []
        turn = len(discovered.surveyed) + len(discovered.refused) - len(discovered.start)
        while len(chosen) < min(count, len(discovered.waiting)):
            chosen.append(self._contact_of_turn(discovered, chosen, rng, turn + len(chosen)))
        return chosen

    def reasons(self, discovered: Discovered, person: int) -> list[Message]:
        """Who named this person, and that turn and chance decided."""
        drawn = IN_TURN if discovered.surveyed_contacts(person) else BY_CHANCE
        return [who_named(discovered, person), drawn]

    @staticmethod
    def _contact_of_turn(discovered: Discovered, taken: list[int], rng: np.random.Generator, turn: int) -> int:
        turns = discovered.kept(Turns, Turns)
        turns.update(discovered)
        waiting = turns.waiting_contacts(discovered, turn, taken)
        if not waiting:  # none was named by a surveyed person
            waiting = [person for person in discovered.frontier if person not in taken]
        return int(rng.choice(waiting))


class ChangePublished(Change):
    """CHANGE as the published comparison ran it: its own fresh random people instead of the common start set.

    ``draws_own_start`` gives it that access; the comparison is not an equal one, and tables say so.
    """

    name = "change-published"
    draws_own_start = True
