"""Why a trained policy ranks people as it does."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from claim.discovery import Discovered, PersonClass, Status
from claim.learning.goals import GoalHeuristic, neighbours_of_start
from claim.learning.network import score_frontiers
from claim.learning.observation import Featuriser
from claim.learning.policy import LearnedPolicy
from claim.learning.training_network import goal_of

Name = Callable[[int], str]
Tie = frozenset[int]
About = Literal["chosen", "rival", "goal"]
RIVALS = 3  # classes after the chosen one of whom it is asked what would put them first
MOST_NAMERS = 10  # of whom it is asked what if they had named others; in large studies there are hundreds


@dataclass(frozen=True)
class WhatIf:
    """A changed discovered network; ``origin`` says who each of its people was before, None for people made up."""

    about: About
    says: str
    seen: Discovered
    origin: list[int | None]


def what_ifs(seen: Discovered, ranking: list[PersonClass], name: Name) -> Iterator[WhatIf]:
    """Changes to what speaks for the first class of a ranking, then to what speaks for those after it."""
    chosen, *rivals = ranking
    yield from _not_named(seen, chosen, name)
    yield from _alone(seen, chosen, name)
    yield from _other_degrees(seen, chosen, name)
    for rival in rivals[:RIVALS]:
        yield from _named_too(seen, chosen, rival, name)


def namers(seen: Discovered, group: PersonClass) -> list[int]:
    """The surveyed people who named the members of a class."""
    return [contact for contact in group.contacts if seen.status[contact] == Status.SURVEYED]


def _not_named(seen: Discovered, chosen: PersonClass, name: Name) -> Iterator[WhatIf]:
    """One namer less; a person whom nobody else named would not have been heard of."""
    who = name(chosen.members[0]) if chosen.size == 1 else f"these {chosen.size} people"
    for namer in namers(seen, chosen)[:MOST_NAMERS] if len(chosen.contacts) > 1 else []:
        lost = {frozenset((member, namer)) for member in chosen.members}
        yield WhatIf("chosen", f"{name(namer)} had not named {who}", *redrawn(seen, lost))


def _alone(seen: Discovered, chosen: PersonClass, name: Name) -> Iterator[WhatIf]:
    first, *others = chosen.members
    if others and chosen.contacts:
        lost = {frozenset((other, contact)) for other in others for contact in chosen.contacts}
        yield WhatIf("chosen", f"{name(first)} were the only one of these {chosen.size} people", *redrawn(seen, lost))


def _other_degrees(seen: Discovered, chosen: PersonClass, name: Name) -> Iterator[WhatIf]:
    """Namers with fewer and with more contacts than they have."""
    for namer in namers(seen, chosen)[:MOST_NAMERS]:
        others = [who for who in seen.contacts[namer] if seen.status[who] == Status.NAMED and who not in chosen.members]
        if others:
            lost = {frozenset((who, namer)) for who in others}
            yield WhatIf(
                "chosen", f"{name(namer)} had not named {_people(len(others), 'other ')}", *redrawn(seen, lost)
            )
        more = seen.degree(namer)
        yield WhatIf(
            "chosen", f"{name(namer)} had named {_people(more, 'more ')}", *redrawn(seen, strangers=(namer, more))
        )


def _named_too(seen: Discovered, chosen: PersonClass, rival: PersonClass, name: Name) -> Iterator[WhatIf]:
    """One of a class named by one more of the surveyed, those who named the chosen class first."""
    who = rival.members[0]
    candidates = [namer for namer in seen.surveyed if namer not in rival.contacts]
    for namer in sorted(candidates, key=lambda namer: namer not in chosen.contacts)[:MOST_NAMERS]:
        yield WhatIf("rival", f"{name(namer)} had named {name(who)} too", *redrawn(seen, gained=[(namer, who)]))


def _people(count: int, which: str) -> str:
    return f"1 {which}person" if count == 1 else f"{count} {which}people"


def redrawn(
    seen: Discovered,
    lost: Iterable[Tie] = (),
    gained: Iterable[tuple[int, int]] = (),
    strangers: tuple[int, int] | None = None,
) -> tuple[Discovered, list[int | None]]:
    """A discovered network without some ties, with others, or with a number of strangers named by somebody.

    Whoever loses the last tie was never heard of, unless surveyed or asked. Also says who everybody was before.
    """
    dropped = set(lost)
    pairs = zip(*(side.tolist() for side in seen.ties()), strict=True)
    ties = [*(pair for pair in pairs if frozenset(pair) not in dropped), *gained]
    heard_of = {person for tie in ties for person in tie}
    origin: list[int | None] = [
        person
        for person in range(len(seen))
        if person in heard_of or seen.status[person] != Status.NAMED or not seen.contacts[person]
    ]
    now = {before: after for after, before in enumerate(origin) if before is not None}
    other = _with_statuses(seen, now)
    for one, two in ties:
        other.add_tie(now[one], now[two])
    namer, count = strangers or (0, 0)
    for _ in range(count):
        other.add_tie(now[namer], other.add_person(now[namer]))
    return other, origin + [None] * count


def _with_statuses(seen: Discovered, now: dict[int, int]) -> Discovered:
    other = Discovered()
    for _ in now:
        other.add_person()
    for person in seen.surveyed:
        if person in seen.start:
            other.record_start(now[person])
        else:
            other.record_survey(now[person])
    for person in seen.refused:
        other.record_refusal(now[person])
    return other


FACTOR = 2  # by which the goal is tried higher and lower


@dataclass(frozen=True)
class Valued:
    """A class of the frontier (one person, where features differ within a class) with its value Q."""

    group: PersonClass
    value: float
    namers: tuple[int, ...]
    namer_degrees: tuple[int, ...]


@dataclass(frozen=True)
class GoalStory:
    """How the goal came about."""

    goal: float
    estimates: GoalHeuristic
    start_people: int
    contacts_of_start: int
    layers: float


@dataclass(frozen=True)
class Outcome:
    """What the policy would do if something had been otherwise; ``choice`` is None for people made up."""

    about: About
    says: str
    lead: "Lead | None"  # None where there is nobody else to choose
    choice: PersonClass | None
    changed: bool


@dataclass(frozen=True)
class Lead:
    """How far the chosen class is ahead of the best other one: in Q, and in the people that a goal makes of it."""

    value: float
    people: float | None


@dataclass(frozen=True)
class Explanation:
    """A choice, best class first; no classes if nobody is left to survey."""

    classes: tuple[Valued, ...]
    goal: GoalStory | None
    lead: Lead | None
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Ranking:
    """Values and members of the frontier's rows, best first, and the goal they were valued with, if any."""

    rows: list[tuple[float, tuple[int, ...]]]
    goal: float | None

    def before(self, origin: list[int | None]) -> "Ranking":
        """The same with members as they were before a change, without those made up."""
        known = [(value, [origin[member] for member in members]) for value, members in self.rows]
        return Ranking(
            [(value, tuple(who for who in members if who is not None)) for value, members in known], self.goal
        )

    def lead_of(self, chosen: int) -> Lead | None:
        """How far the class of a person is ahead of the best other one, or behind."""
        own = next(value for value, members in self.rows if chosen in members)
        others = [value for value, members in self.rows if chosen not in members]
        if not others:
            return None
        ahead = own - max(others)
        return Lead(ahead, None if self.goal is None else ahead * self.goal)  # Q counts in units of the goal


def explain(policy: LearnedPolicy, seen: Discovered, name: Name, seed: int = 0) -> Explanation:
    """Explain a choice; ``name`` says how people are called."""
    story = _goal_story(policy.goals, seen) if policy.config.goal is not None else None
    if not seen.frontier:
        return Explanation((), story, None, ())
    (ranking,) = _rankings(policy, [seen], [goal_of(policy.goals, seen)], seed)
    classes = tuple(_valued(seen, value, members) for value, members in ranking.rows)
    outcomes = _tried(policy, seen, [each.group for each in classes], name, seed)
    return Explanation(classes, story, ranking.lead_of(classes[0].group.members[0]), outcomes)


def _goal_story(heuristic: GoalHeuristic, seen: Discovered) -> GoalStory:
    near, size = neighbours_of_start(seen), len(seen.start)
    return GoalStory(goal_of(heuristic, seen)[0], heuristic, size, near, heuristic.layers(near, size))


def _valued(seen: Discovered, value: float, members: tuple[int, ...]) -> Valued:
    group = _class_of(seen, members)
    named_by = tuple(namers(seen, group))
    return Valued(group, value, named_by, tuple(seen.degree(namer) for namer in named_by))


def _class_of(seen: Discovered, members: tuple[int, ...]) -> PersonClass:
    return PersonClass(members, tuple(sorted(seen.contacts[members[0]])), seen.status[members[0]])


def _tried(
    policy: LearnedPolicy, seen: Discovered, ranked: list[PersonClass], name: Name, seed: int
) -> tuple[Outcome, ...]:
    """What each change would do; the goal was set at the outset and stays, except where it is what changes."""
    goal, typical = goal_of(policy.goals, seen)
    changes = list(what_ifs(seen, ranked, name))
    if policy.config.goal is not None:
        everybody: list[int | None] = list(range(len(seen)))
        others = [goal / FACTOR, goal * FACTOR]
        changes += [WhatIf("goal", f"the goal were {other:.1f}", seen, everybody) for other in others]
    else:
        others = []
    goals = [(goal, typical)] * (len(changes) - len(others)) + [(other, typical) for other in others]
    rankings = _rankings(policy, [each.seen for each in changes], goals, seed)
    chosen = ranked[0].members[0]
    return tuple(_outcome(each, ranking, seen, chosen) for each, ranking in zip(changes, rankings, strict=True))


def _outcome(change: WhatIf, ranking: Ranking, seen: Discovered, chosen: int) -> Outcome:
    known = ranking.before(change.origin)
    best = known.rows[0][1]
    choice = _class_of(seen, best) if best else None
    return Outcome(change.about, change.says, known.lead_of(chosen), choice, chosen not in best)


def _rankings(
    policy: LearnedPolicy, graphs: Sequence[Discovered], goals: Sequence[tuple[float, float]], seed: int
) -> list[Ranking]:
    """The frontier of each graph, valued towards its goal, all graphs in one pass."""
    featured = [Featuriser(policy.config, np.random.default_rng(seed))(graph) for graph in graphs]
    values, frontiers, _ = score_frontiers(policy.network, [state for _, state in featured], np.array(goals))
    rankings = []
    for (graph, _), (goal, _), of_graph in zip(
        featured, goals, np.split(values.numpy(), frontiers.starts[1:]), strict=True
    ):
        order = np.argsort(-of_graph, kind="stable")
        rows = [(float(of_graph[i]), graph.members[graph.frontier[i]]) for i in order]
        rankings.append(Ranking(rows, None if policy.config.goal is None else goal))
    return rankings
