"""Errors a person can act on: one line that says what is wrong, where, and what would be right."""

from collections.abc import Iterable
from dataclasses import fields
from math import inf
from numbers import Integral, Real

from claim.messages import Message

DISTRIBUTION = "claim-network"  # what pip calls the package; `claim` on the package index is another project


class ClaimError(Exception):
    """An error the user can correct; shown as one line, without a traceback.

    ``text`` may have places for ``values``: ``InputError("event {number} was undone already", number=3)``. Errors that
    the assistant's pages can show are written so, because the text with its places is their key in the translations.
    """

    def __init__(self, text: object = "", /, **values: object) -> None:
        self.message = text if isinstance(text, Message) else Message(str(text), values)
        super().__init__(str(self.message))


class InputError(ClaimError):
    """A file or a value that cannot be used as given."""

    @classmethod
    def at(cls, path: object, line: int | None, problem: object) -> "InputError":
        """An error located in a file: ``ties.csv:7: ...`` (or ``ties.csv: ...`` without a line)."""
        where = f"{path}:{line}" if line is not None else f"{path}"
        return cls("{where}: {problem}", where=where, problem=problem)


def install_command(extra: str) -> str:
    """The command that adds the libraries of an extra; in double quotes, which the shells of all systems take."""
    return f'pip install "{DISTRIBUTION}[{extra}]"'


def check_settings(function: str, settings: type, given: Iterable[str]) -> None:
    """Refuse a keyword that is no field of the dataclass ``settings``."""
    known = [each.name for each in fields(settings)]
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise InputError(f"{function} has no setting {unknown!r} (known: {', '.join(known)})")


def check_whole(least: int = 0, **given: object) -> None:
    """Refuse a value that is no whole number of at least ``least``: ``check_whole(1, runs=runs)``."""
    for name, value in given.items():
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise InputError(f"{name} must be a whole number, got {value!r}")
        if value < least:
            raise InputError(f"{name} must be at least {least}, got {value}")


def check_number(low: float = 0.0, high: float = inf, *, above: bool = False, **given: object) -> None:
    """Refuse a value that is no finite number from ``low`` (or only ``above`` it) to ``high``."""
    for name, value in given.items():
        if not isinstance(value, Real):
            raise InputError(f"{name} must be a number, got {value!r}")
        number = float(value)
        if not (low < number if above else low <= number) or not number <= high or number == inf:
            allowed = f"above {low:g}" if above else f"at least {low:g}"
            if high < inf:
                allowed = f"above {low:g} and at most {high:g}" if above else f"between {low:g} and {high:g}"
            raise InputError(f"{name} must be {allowed}, got {value}")
