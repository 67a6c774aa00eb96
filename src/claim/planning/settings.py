"""The settings of a plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

from claim.advice import check_survey_policy
from claim.discovery import only_open
from claim.errors import InputError, check_number, check_whole
from claim.registry import DEFAULT, PolicyLike, SelectorLike, find_selector, is_marked, name_of

CLOSED = "closed"  # the paper's studies: start people, then people whom the policy chooses among those named
WAYS = (CLOSED, "new", "mix:best", "scout")
SURVEYS = (0, 5, 10, 20, 30, 50)


@dataclass(frozen=True)
class PlanSettings:
    """What a plan compares, and how studies are simulated; validated on creation.

    The numbers of interviews are given as ``interviews``, which count all people asked, or as ``surveys``, which do
    not count the start people. ``ways`` are policies of open studies, or "closed": start people first, and then people
    whom the ``policy`` chooses among those named.
    """

    leaders: int = 10
    p: float = 0.1  # probability that a message passes along a contact
    policy: PolicyLike = DEFAULT
    selector: SelectorLike = "foresight"
    surveys: Sequence[int] | None = None  # without interviews either: 0, 5, 10, 20, 30 and 50
    studies: int = 100
    seed: int = 0
    worth: float = 0.2  # people that an interview must add to be worth its cost
    interviews: Sequence[int] | None = None
    ways: Sequence[PolicyLike] = WAYS
    cost_survey: float | None = None  # of an interview
    cost_leader: float | None = None

    def __post_init__(self) -> None:
        check_number(0, 1, probability=self.p)
        check_whole(1, leaders=self.leaders)
        check_whole(2, studies=self.studies)
        check_whole(seed=self.seed)
        check_number(above=True, worth=self.worth)
        _check_numbers("surveys", self.surveys)
        _check_numbers("interviews", self.interviews)
        if self.surveys is not None and self.interviews is not None:
            raise InputError("give the numbers of surveys or of interviews, not both")
        self._check_policies()
        find_selector(self.selector)
        self._check_costs()

    def _check_policies(self) -> None:
        check_survey_policy(self.policy)
        if is_marked(self.policy, only_open):
            raise InputError(f"{name_of(self.policy)} interviews new people: name it among the ways, not as the policy")
        if isinstance(self.ways, str) or len(set(map(name_of, self.ways))) < max(len(self.ways), 1):
            raise InputError(f"ways must be a list such as {list(WAYS)}, each once; got {self.ways!r}")
        for way in self.ways:
            if way != CLOSED:
                check_survey_policy(way)

    def _check_costs(self) -> None:
        missing = [name for name in ("cost_survey", "cost_leader") if getattr(self, name) is None]
        if len(missing) == 1:
            raise InputError(f"give the costs of a survey and of a leader, or neither; {missing[0]} is missing")
        if not missing:
            check_number(cost_survey=self.cost_survey, cost_leader=self.cost_leader)
            if not self.cost_survey and not self.cost_leader:
                raise InputError("the cost of a survey or that of a leader must be above 0, got 0 for both")

    def numbers(self, start: int) -> list[int]:
        """The numbers of interviews to compare, in a study that begins with so many people."""
        if self.interviews is None:
            return [start + number for number in (SURVEYS if self.surveys is None else self.surveys)]
        if self.interviews[0] < start:
            problem = f"the {start} start people count as interviews"
            raise InputError(f"{problem}: interviews must be at least {start}, got {self.interviews[0]}")
        return list(self.interviews)


def _check_numbers(name: str, given: object) -> None:
    numbers = list(given) if isinstance(given, Sequence) else []
    whole = all(isinstance(number, Integral) and int(number) >= 0 for number in numbers)
    if given is not None and (not numbers or not whole or numbers != sorted(set(numbers))):
        problem = f"numbers of {name} must be ascending whole numbers from 0, such as [0, 5, 10]"
        raise InputError(f"{problem}; got {given}")
