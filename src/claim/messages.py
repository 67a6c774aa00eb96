"""Messages with values: errors and reasons are written in English where they arise and translated by a catalogue.

The English text with its places, such as ``"event {number} was undone already"``, is the key in the catalogues of other
languages, as in gettext. Nothing is ever recognised by its words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Message:
    """A text with named places, and the values that belong in them."""

    text: str
    values: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, **values: object) -> "Message":
        """A message with its values."""
        return cls(text, values)

    def __str__(self) -> str:
        return self.said({})

    def said(self, catalogue: Mapping[str, str], show: Callable[[object], str] = str) -> str:
        """The message by a catalogue (English where it lacks the text); values that are messages are said too."""
        text = catalogue.get(self.text, self.text)
        if not self.values:
            return text
        return text.format(**{name: _said(value, catalogue, show) for name, value in self.values.items()})


def _said(value: object, catalogue: Mapping[str, str], show: Callable[[object], str]) -> str:
    message = getattr(value, "message", value)  # an error has one
    return message.said(catalogue, show) if isinstance(message, Message) else show(value)
