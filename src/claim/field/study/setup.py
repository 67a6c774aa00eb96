"""The settings of a study."""

from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from claim.errors import InputError
from claim.registry import OPEN_DEFAULT

DEFAULT_POLICY = "scout"  # what measures best on networks of any kind, see docs/notes/record.md
LONGEST_TEXT = 20_000

RefusalRule = Literal["attempts", "answers"]
LeaderRule = Literal["foresight", "greedy"]
FairRule = Literal["none", "welfare:-2"]
LONGEST_GROUP = 100  # characters, of the word for the groups and of each group


@dataclass(frozen=True)
class Setup:
    """The settings of a study; none of them is about a person.

    ``refusal_rule`` says what the budget counts: ``attempts`` (a refusal uses up one survey) or ``answers`` (it does
    not). A person who is not there uses up nothing, and start people are surveyed on top of the budget. ``selector``
    says how leaders are chosen: ``foresight`` counts people who were not named yet too, ``greedy`` known contacts only.

    ``group`` is the word for the groups that people are asked about, such as ethnicity; empty, no one is asked.
    ``fair`` says how leaders are balanced between groups, see :mod:`claim.selection.fair`.

    In an ``open`` study new people may be interviewed, whom no one has named. Its plan is a number of ``interviews`` in
    all, start people included, in place of the budget.
    """

    title: str
    question: str = "Whom do you talk to?"
    budget: int = 20
    leaders: int = 10
    size_low: int | None = None  # how many people there may be in all
    size_high: int | None = None
    consent_text: str = ""
    consent_version: str = "1"
    refusal_rule: RefusalRule = "attempts"
    retention: str | None = None  # the day by which the study is to be closed, YYYY-MM-DD
    seed: int = 0
    p: float = 0.1
    policy: str = DEFAULT_POLICY
    rehearsal: bool = False
    selector: LeaderRule = "foresight"
    attendance: float = 1.0  # the chance that a leader comes
    open: bool = False
    interviews: int = 25
    hub_question: bool = False  # whether people are asked which of their contacts knows the most people
    group: str = ""
    groups_of_contacts: bool = False  # whether people are asked for the groups of the contacts they name, too
    fair: FairRule = "none"

    def __post_init__(self) -> None:
        texts = (self.title, self.question, self.consent_text, self.consent_version, self.policy)
        low, high = self.size_low, self.size_high
        checks = (
            (bool(self.title.strip()), "a study needs a title"),
            (max(map(len, texts)) <= LONGEST_TEXT, "a text is longer than 20000 characters"),
            (0 <= self.budget <= 100_000, "the budget must be between 0 and 100000, not {budget}"),
            (
                1 <= self.interviews <= 100_000,
                "the number of interviews must be between 1 and 100000, not {interviews}",
            ),
            (1 <= self.leaders <= 10_000, "the number of leaders must be between 1 and 10000, not {leaders}"),
            (0 <= self.p <= 1, "the probability p must be between 0 and 1, not {p}"),
            (0 <= self.seed < 2**63, "the seed must be between 0 and 2^63 - 1, not {seed}"),
            (self.refusal_rule in get_args(RefusalRule), "the refusal rule is 'attempts' or 'answers'"),
            (len(self.group) <= LONGEST_GROUP, "a group has at most 100 characters"),
            (self.fair in get_args(FairRule), "leaders are balanced by 'none' or 'welfare:-2'"),
            (self.selector in get_args(LeaderRule), "leaders are chosen by 'foresight' or 'greedy'"),
            (0 < self.attendance <= 1, "attendance is a share above 0 and at most 1, not {attendance}"),
            (all(size is None or size >= 1 for size in (low, high)), "a size estimate is at least 1"),
            (low is None or high is None or low <= high, "the low size estimate is above the high one"),
            (_is_day(self.retention), "the retention date must look like 2027-01-31, not {retention!r}"),
        )
        for fine, problem in checks:
            if not fine:
                raise InputError(problem, **vars(self))

    @property
    def planned(self) -> int:
        """How many surveys are planned: all interviews of an open study, else the budget."""
        return self.interviews if self.open else self.budget

    @property
    def rule(self) -> str:
        """The policy that advises: the default one of open or closed studies, unless another is named."""
        return OPEN_DEFAULT if self.open and self.policy == DEFAULT_POLICY else self.policy

    def overdue(self, today: date) -> bool:
        """Whether the study should have been closed by now."""
        return self.retention is not None and date.fromisoformat(self.retention) < today


def _is_day(text: str | None) -> bool:
    try:
        return text is None or bool(date.fromisoformat(text))
    except ValueError:
        return False
