"""The picture: nobody moves when somebody is added, nobody covers anybody, and it is the same every time."""

import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # for paper.py

from hypothesis import given, settings
from paper import Paper, played, scripts

from claim.field.study.study import Study
from claim.field.web.picture import NEAR, box_of, lines_of, places_of


def grown(surveys: int, seed: int = 0) -> Paper:
    rng, paper = random.Random(seed), Paper()
    paper.add("start", start=True)
    for i in range(surveys):
        people = [person.code for person in paper.study.people.values() if person.may_be_surveyed]
        if not people:
            break
        known = rng.sample(list(paper.study.people), min(2, len(paper.study.people)))
        person = rng.choice(people)
        paper.survey(
            person, *(f"p{i}-{j}" for j in range(rng.randrange(1, 6))), *(each for each in known if each != person)
        )
    return paper


def test_nobody_moves_when_somebody_is_added():
    paper = grown(30)
    before = places_of(paper.study)
    paper.add("late", start=True)
    paper.survey(next(p.code for p in paper.study.people.values() if p.may_be_surveyed), "x", "y")
    after = places_of(paper.study)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 3


def test_nobody_covers_anybody():
    places = list(places_of(grown(60).study).values())
    assert len(places) > 100
    assert min(math.dist(a, b) for i, a in enumerate(places) for b in places[:i]) >= NEAR - 0.2


def test_the_box_holds_everybody():
    study = grown(20).study
    places = places_of(study)
    left, top, width, height = box_of(places)
    assert all(left < x < left + width and top < y < top + height for x, y in places.values())
    assert len(lines_of(study, places)) == len(study.ties)


@given(scripts)
@settings(max_examples=60, deadline=None)
def test_the_same_log_gives_the_same_picture(script):
    study = played(script).study
    places = places_of(study)
    assert places == places_of(Study(study.log))
    assert places.keys() == set(study.seen.codes)
