"""A large study: a thousand people, two hundred surveys."""

import random

import pytest
from paper import Paper

from claim.field.advice.leaders import choose_leaders
from claim.field.advice.recommend import recommend
from claim.field.study import commands
from claim.field.study.study import Study


@pytest.fixture(scope="module")
def large() -> Study:
    rng, paper = random.Random(0), Paper(budget=200)

    def fill(draft):
        people = [commands.add_person(draft, f"Person {i}", is_start=i < 5) for i in range(1000)]
        for person in people[:200]:
            commands.start_survey(draft, person, consent=True)
            for contact in rng.sample(people, 10):
                if contact != person:
                    commands.name_contact(draft, person, contact)
            commands.end_survey(draft, person)

    paper.run(fill)
    return paper.study


def test_a_large_study_gets_advice_and_leaders(large):
    assert len(recommend(Study(large.log), 3).recommended) == 3
    assert len(choose_leaders(large).leaders) == 10


def test_advice_compiles_nothing():
    import subprocess
    import sys

    code = (
        "import sys\nfrom claim.field.advice.recommend import recommend\nimport claim.field.advice.leaders\n"
        "assert not {'numba', 'torch', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
