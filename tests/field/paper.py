"""A study on paper: commands and their log in memory, without a file."""

from collections.abc import Callable
from typing import TypeVar

from hypothesis import strategies as st

from claim.errors import InputError
from claim.field.advice.recommend import recommend
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.events import Event
from claim.field.study.setup import Setup
from claim.field.study.study import Study

PASSPHRASE = "correct horse battery"
EASY = 10  # little work for key derivation: tests open many files
T = TypeVar("T")


class Paper:
    def __init__(self, **settings: object) -> None:
        self.study = Study()
        self.texts: dict[str, str] = {}
        self.run(lambda draft: commands.create(draft, "0" * 16, Setup("Paper", **settings)))  # type: ignore[arg-type]

    def run(self, command: Callable[[Draft], T]) -> T:
        draft = Draft(self.study, self.texts, f"2030-01-01T00:00:{self.study.position % 60:02}.000Z")
        result = command(draft)
        self.texts = {key: text for key, text in draft.texts.items() if key not in draft.erase}
        self.study = draft.after()
        return result

    def add(self, name: str, *, start: bool = False) -> str:
        return self.run(lambda draft: commands.add_person(draft, name, is_start=start))

    def survey(self, person: str, *contacts: str) -> list[str]:
        """Contacts are codes of known people or names of new ones; returns their codes."""

        def entered(draft: Draft) -> list[str]:
            commands.start_survey(draft, person, consent=True)
            found = []
            for contact in contacts:
                if contact in draft.state.people:
                    commands.name_contact(draft, person, contact)
                    found.append(contact)
                else:
                    found.append(commands.name_new_contact(draft, person, contact))
            commands.end_survey(draft, person)
            return found

        return self.run(entered)

    def step(self, what: str, one: int, two: int) -> bool:
        """A random command; False if the study did not allow it."""
        people = list(self.study.state.people) or ["P0"]
        a, b = people[one % len(people)], people[two % len(people)]
        try:
            self.run(lambda draft: STEPS[what](draft, a, b, one + two))
        except InputError:
            return False
        return True


STEPS: dict[str, Callable[[Draft, str, str, int], object]] = {
    "start person": lambda d, a, b, n: commands.add_person(d, f"start {n}", is_start=True),
    "roster person": lambda d, a, b, n: commands.add_person(d, f"roster {n}"),
    "start survey": lambda d, a, b, n: commands.start_survey(d, a, consent=True),
    "name": lambda d, a, b, n: commands.name_contact(d, a, b),
    "name new": lambda d, a, b, n: commands.name_new_contact(d, a, f"person {n}"),
    "answered": lambda d, a, b, n: commands.end_survey(d, a),
    "partial": lambda d, a, b, n: commands.end_survey(d, a, "partial"),
    "refused": lambda d, a, b, n: commands.end_survey(d, a, "refused"),
    "no-show": lambda d, a, b, n: commands.end_survey(d, a, "no-show"),
    "not found": lambda d, a, b, n: commands.end_survey(d, a, "not found"),
    "withdraw": lambda d, a, b, n: commands.withdraw(d, a),
    "merge": lambda d, a, b, n: commands.merge(d, a, b),
    "unmerge": lambda d, a, b, n: commands.unmerge(d, a),
    "apart": lambda d, a, b, n: commands.keep_apart(d, a, b),
    "group": lambda d, a, b, n: commands.say_group(d, a, b, ("north", "South", "unknown")[n % 3]),
    "rename": lambda d, a, b, n: commands.rename(d, a, f"renamed {n}"),
    "remove tie": lambda d, a, b, n: commands.remove_tie(d, a, a, b),
    "mark start": lambda d, a, b, n: commands.mark_start(d, a, bool(n % 2)),
    "mark": lambda d, a, b, n: commands.mark_contact(d, a, b),
    "unmark": lambda d, a, b, n: commands.unmark_contact(d, a),
    "met": lambda d, a, b, n: commands.meet_new_person(d, a),
    "met first": lambda d, a, b, n: commands.meet_new_person(d, d.new_person(f"met {n}" if n % 2 else None)),
    "shown": lambda d, a, b, n: commands.show_advice(d, recommend(d.study, 1 + n % 3)),
    "override": lambda d, a, b, n: commands.override(d, a, f"because {n}"),
    "offered": lambda d, a, b, n: commands.answer_of_leader(d, a, "offered"),
    "accepted": lambda d, a, b, n: commands.answer_of_leader(d, a, "accepted"),
    "declined": lambda d, a, b, n: commands.answer_of_leader(d, a, "declined"),
    "session": lambda d, a, b, n: commands.plan_session(d, f"2030-02-{1 + n % 28:02}T14:30", f"hall {n}", [a]),
    "attended": lambda d, a, b, n: commands.answer_of_leader(d, a, "attended", 1 + n % 2),
    "missed": lambda d, a, b, n: commands.answer_of_leader(d, a, "not attended", 1 + n % 2),
    "appointment": lambda d, a, b, n: commands.make_appointment(d, a, f"2030-01-{1 + n % 28:02}T09:00", f"door {n}"),
    "cancelled": lambda d, a, b, n: commands.cancel_appointment(d, a),
    "follow-up": lambda d, a, b, n: commands.answer_follow_up(d, a, ("yes", "no", "not asked")[n % 3]),  # type: ignore[arg-type]
    "wish": lambda d, a, b, n: commands.wish_for_leader(d, a, ("include", "exclude", "none")[n % 3]),  # type: ignore[arg-type]
    "undo": lambda d, a, b, n: commands.undo(d, 1 + n % d.study.position),
}

OFTEN = ["start person", "start survey", "start survey", "name", "name new", "name new", "name new", "answered", "mark"]
scripts = st.lists(
    st.tuples(st.sampled_from([*STEPS, *OFTEN]), st.integers(0, 60), st.integers(0, 60)), min_size=5, max_size=45
)


def played(script: list[tuple[str, int, int]], **more: object) -> Paper:
    paper = Paper(budget=5, leaders=3, seed=7, **more)
    paper.add("first", start=True)
    for what, one, two in script:
        paper.step(what, one, two)
    return paper


def without(log: tuple[Event, ...], numbers: tuple[int, ...]) -> list[Event]:
    return [event for event in log if event.seq not in numbers]
