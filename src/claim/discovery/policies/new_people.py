"""How many new people scout interviews in an open study, and why.

A first share of the interviews is with new people, then as many named people are asked as it takes to see what they
bring. From then on new people have priority where they remain apart from each other, or where named people bring fewer
contacts than they do, until the largest share of new people is reached. The settings were chosen on training networks;
see docs/notes/scout.md.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from claim.discovery.discovered import Discovered
from claim.discovery.policies.open_studies import NAMED_FOLLOW, ONLY_NEW, best_share, share_for
from claim.messages import Message

if TYPE_CHECKING:
    from claim.discovery.policies.scout import Answers

LARGEST_SHARES = {10: 1.0, 25: 0.7, 55: 0.6}  # of new people, by the number of interviews
TRIED = 0.25  # share of the interviews with named people before new people can have priority
APART = 0.7  # share of the new people whom no known people connect with those before, above which more are needed
MORE = 0.15  # more contacts, as a logarithm, that new people bring on average than named people

ALL_ASKED = "everyone who was named has been asked"
STILL_APART = "{apart} of {count} new people are not connected with the others through people you know"
NOTHING_NEW = "the last {count} people asked named only people you know"
BRINGS_MORE = "a new person is likely to bring more than the people named so far"


class Wanted(NamedTuple):
    """How many new people are to be interviewed before named people, and why a new person is."""

    people: int
    reason: Message


def wanted_now(discovered: Discovered, answers: "Answers", interviews: int) -> Wanted:
    """The new people wanted now in a study of so many interviews."""
    new, done = len(discovered.start), len(discovered.surveyed)
    first = round(best_share(interviews, bool(discovered.marks)) * interviews)
    left = round(share_for(LARGEST_SHARES, interviews) * interviews) - new
    if new < first:
        text = NAMED_FOLLOW if first < interviews else ONLY_NEW
        return Wanted(first - new, Message.of(text, done=new, wanted=first))
    if left > 0 and done - new >= TRIED * interviews:
        groups = separate_groups(discovered)
        if groups - 1 > APART * (new - 1):
            return Wanted(left, Message.of(STILL_APART, apart=groups, count=new))
        if new_people_bring_more(discovered, answers):
            return Wanted(left, _named_bring_less(answers))
    return Wanted(0, Message(BRINGS_MORE if discovered.frontier else ALL_ASKED))


def _named_bring_less(answers: "Answers") -> Message:
    news = answers.news[::-1]
    last = int(np.argmax(news > 0)) if news.any() else len(news)
    return Message.of(NOTHING_NEW, count=last) if last > 1 else Message(BRINGS_MORE)


def separate_groups(discovered: Discovered) -> int:
    """How many groups the new people fall into, if those connected through people who are known form one."""
    reached: set[int] = set()
    groups = 0
    for person in discovered.start:
        groups += person not in reached
        waiting = [person]
        while waiting:
            one = waiting.pop()
            if one not in reached:
                reached.add(one)
                waiting += discovered.contacts[one]
    return groups


def new_people_bring_more(discovered: Discovered, answers: "Answers") -> bool:
    """Whether new people named clearly more people who were not known before, as a mean of logarithms."""
    new = np.zeros(len(answers.news), dtype=np.bool_)
    new[[answers.place[person] for person in discovered.start]] = True
    brought = np.log1p(answers.news)
    return bool(brought[new].mean() - brought[~new].mean() > MORE)
