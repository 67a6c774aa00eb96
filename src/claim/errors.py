"""Errors a person can act on: one line that says what is wrong, where, and what would be right."""

from collections.abc import Iterable
from dataclasses import fields

from claim.messages import Message


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


def check_settings(function: str, settings: type, given: Iterable[str]) -> None:
    """Refuse a keyword that is no field of the dataclass ``settings``."""
    known = [each.name for each in fields(settings)]
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise InputError(f"{function} has no setting {unknown!r} (known: {', '.join(known)})")
