"""After the sessions: whom to ask whether anyone talked to them about it, and what the answers say."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import beta

from claim.field.advice.spreading import LEVEL, Estimate, Worlds, draw_worlds
from claim.field.study.study import Person, Study
from claim.randomness import named_seed
from claim.selection.foresight.selection_state import SeenNetwork

TAIL = (1 - LEVEL) / 2


@dataclass(frozen=True)
class Share:
    """A number of people, with a 90 % range."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class FollowUp:
    """The follow-up so far; numbers of people are among the people known, and None before there is an answer.

    ``found`` and ``expected`` are how many the leaders reached, those who came included: by the answers, and by the p
    of the settings. ``estimate`` is the p that the answers speak for.
    """

    to_ask: tuple[str, ...]  # in the order of the lot
    noted: tuple[str, ...]  # with an answer, or could not be asked
    came: int
    asked: int
    yes: int
    expected_yes: Share | None
    found: Share | None
    expected: Share | None
    estimate: Estimate | None


def may_be_asked(person: Person) -> bool:
    """Whether a person belongs to those of whom some are asked: known, not asked to lead, and did not refuse before."""
    return person.known and person.leader is None and person.state != "refused"


def leaders_who_came(study: Study) -> list[Person]:
    """The leaders who came to a session at least once."""
    return [person for person in study.people.values() if person.known and person.leader and person.leader.attended]


def follow_up(study: Study, kept: MutableMapping[Any, Any] | None = None) -> FollowUp:
    """Whom to ask, by lot, and what the answers say; ``kept`` holds the last worlds, to use them again."""
    people = [person for person in study.people.values() if may_be_asked(person)]
    by_lot = sorted(people, key=lambda person: _lot(study.setup.seed, person.code))
    answered = [person for person in by_lot if person.follow_up in ("yes", "no")]
    noted, waiting = ([each.code for each in by_lot if (each.follow_up is None) == new] for new in (False, True))
    came, yes = leaders_who_came(study), sum(person.follow_up == "yes" for person in answered)
    counts = (tuple(waiting), tuple(noted), len(came), len(answered), yes)
    if not came or not answered:
        return FollowUp(*counts, None, None, None, None)
    worlds = _worlds(study, [person.code for person in came], {} if kept is None else kept)
    index, p = study.seen.index, study.setup.p
    asked, rest = ([index[person.code] for person in group] for group in (answered, people))
    said = np.array([person.follow_up == "yes" for person in answered])
    expected_yes = Share(*worlds.reached(asked, p))
    expected = Share(*(len(came) + number for number in worlds.reached(rest, p)))
    found = _extrapolated(len(came), yes, len(answered), len(people))
    return FollowUp(*counts, expected_yes, found, expected, worlds.estimate(asked, said))


@lru_cache(maxsize=100_000)
def _lot(seed: int, code: str) -> tuple[int, str]:
    """A number that orders people at random and does not depend on who else is known."""
    return int(named_seed(seed, "follow-up", code).generate_state(1)[0]), code


def _worlds(study: Study, came: list[str], kept: MutableMapping[Any, Any]) -> Worlds:
    """The worlds of a study, which depend on what was seen and who came, not on the answers."""
    index, size = study.seen.index, study.setup.size_high
    people = None if size is None else float(max(size, len(index)))
    view, leaders = SeenNetwork.of(study.discovered()), [index[code] for code in came]
    seen = (view.network.checksum, view.surveyed.tobytes(), view.start.tobytes())
    key = (study.setup.seed, people, *leaders, *seen)
    if kept.get("worlds", (None,))[0] != key:
        rng = np.random.default_rng(named_seed(study.setup.seed, "follow-up"))
        kept["worlds"] = key, draw_worlds(view, leaders, people, rng)
    worlds: Worlds = kept["worlds"][1]
    return worlds


def _extrapolated(came: int, yes: int, asked: int, people: int) -> Share:
    """Known people reached: leaders who came, people who said yes, and their share of those who were not asked.

    The range is Jeffreys' interval of that share.
    """
    shares = (yes / asked, *beta.ppf((TAIL, 1 - TAIL), yes + 0.5, asked - yes + 0.5))
    return Share(*(came + yes + float(share) * (people - asked) for share in shares))
