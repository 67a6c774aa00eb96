"""What was found while files were read: counts, what stops the import, what is only worth knowing."""

from dataclasses import dataclass, field

from claim.errors import InputError
from claim.field.exchange.files.limits import MAX_PROBLEMS


@dataclass(frozen=True)
class Finding:
    """Something about a place in a file."""

    where: str
    line: int | None
    text: str

    def __str__(self) -> str:
        return str(InputError.at(self.where, self.line, self.text))


@dataclass(frozen=True)
class Duplicate:
    """Two that may be one person: somebody in the file, and somebody in the study or elsewhere in the file."""

    code: str
    name: str
    other_code: str
    other_name: str
    score: float  # 1: the same but for case, accents and order
    in_study: bool


@dataclass(frozen=True)
class Report:
    """All findings of one reading."""

    rows: dict[str, int] = field(default_factory=dict)  # read, by table
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)  # found, by table
    problems: tuple[Finding, ...] = ()  # any of them stops the import
    notes: tuple[Finding, ...] = ()
    repeated_ties: int = 0  # the same pair again
    repeated_people: int = 0  # the same name or code again
    duplicates: tuple[Duplicate, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether nothing stops the import."""
        return not self.problems


class Findings:
    """Collects findings; beyond the cap they are only counted."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._more = 0

    def add(self, where: str, line: int | None, text: str) -> None:
        """One more finding."""
        if len(self._found) < MAX_PROBLEMS:
            self._found.append(Finding(where, line, text))
        else:
            self._more += 1

    def all(self) -> tuple[Finding, ...]:
        """The findings, and how many more there are."""
        more = [Finding("and", None, f"{self._more:,} more like these")] if self._more else []
        return (*self._found, *more)
