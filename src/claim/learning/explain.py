"""Why a trained policy would survey somebody: values of all classes, the goal, and what would change the choice.

A network of convolutions has no single feature that one could point at. What moved it is found by asking it again: what
would it choose if a namer had named fewer people, or if somebody else had named the runner-up? Each change counts by
what it does to the lead, the value of the chosen class less that of the best other one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claim.discovery import Discovered, PersonClass
from claim.learning.features import Featuriser
from claim.learning.goals import GoalHeuristic, neighbours_of_start
from claim.learning.policy import LearnedPolicy
from claim.learning.qnetwork import score_frontiers
from claim.learning.studies import goal_of
from claim.learning.whatif import About, Name, WhatIf, namers, what_ifs

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
