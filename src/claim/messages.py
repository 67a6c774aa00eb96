"""Messages with values: errors and reasons are written in English where they arise and translated by a catalogue.

The English text with its places, such as ``"event {number} was undone already"``, is the key in the catalogues of other
languages, as in gettext. Nothing is ever recognised by its words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

AND = " and "  # its translation joins the last two of several people
POINT = "."  # its translation stands between whole numbers and tenths
COMMA = ","  # its translation stands between thousands


@dataclass(frozen=True)
class People:
    """People in a message, by index or code; who shows the message says what they are called."""

    people: tuple[Any, ...]


class Count(int):
    """A large number in a message, written with separators between thousands."""


@dataclass(frozen=True)
class Message:
    """A text with named places, and the values that belong in them: texts, numbers, people or other messages."""

    text: str
    values: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, **values: object) -> "Message":
        """A message with its values."""
        return cls(text, values)

    def __str__(self) -> str:
        return self.translated({})

    def translated(self, catalogue: Mapping[str, str], name: Callable[[Any], str] = str) -> str:
        """The message by a catalogue (English where it lacks the text); ``name`` gives the name of a person."""
        text = catalogue.get(self.text, self.text)
        if not self.values:
            return text
        return text.format(**{place: _said(value, catalogue, name) for place, value in self.values.items()})

    def with_people(self, key: Callable[[Any], Any]) -> "Message":
        """The same message about the same people under other keys, such as codes instead of indices."""
        found = {
            place: People(tuple(map(key, value.people))) if isinstance(value, People) else value
            for place, value in self.values.items()
        }
        return Message(self.text, found)


def _said(value: object, catalogue: Mapping[str, str], name: Callable[[Any], str]) -> str:
    value = getattr(value, "message", value)  # an error has one
    if isinstance(value, Message):
        return value.translated(catalogue, name)
    if isinstance(value, People):
        *others, last = map(name, value.people)
        return f"{', '.join(others)}{catalogue.get(AND, AND)}{last}" if others else last
    if isinstance(value, Count):
        return f"{value:,}".replace(COMMA, catalogue.get(COMMA, COMMA))
    return number(value, catalogue) if isinstance(value, float) else str(value)


def number(value: float, catalogue: Mapping[str, str]) -> str:
    """A number as the language of a catalogue writes it."""
    return str(value).removesuffix(".0").replace(".", catalogue.get(POINT, POINT))
