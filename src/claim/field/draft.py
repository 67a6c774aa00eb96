"""What a command is about to append: events that are checked as they are drafted, and the texts they commit to."""

from collections.abc import Mapping

from claim.errors import InputError
from claim.field.events import NO_HASH, Body, PersonAdded, Secret, seal
from claim.field.fold import apply
from claim.field.names import clean
from claim.field.state import State
from claim.field.study import Study


class Draft:
    """One batch: all of it is appended, or nothing. Commands of :mod:`claim.field.commands` write into it."""

    def __init__(self, study: Study, texts: Mapping[str, str] | None = None, at: str = "") -> None:
        self.study = study  # as it was before the draft
        self.state: State = study.state.copy()  # as it is after what was drafted so far
        self.texts = dict(texts or {})
        self.bodies: list[Body] = []
        self.secrets: dict[str, Secret] = {}
        self.erase: set[str] = set()
        self._at = at
        self._people = sum(isinstance(event.body, PersonAdded) for event in study.log)

    def say(self, body: Body) -> None:
        """One more event, refused if it does not fit what came before."""
        number = self.study.position + len(self.bodies) + 1
        apply(self.state, seal(body, number, self._at, number, NO_HASH))
        self.bodies.append(body)

    def commit_to(self, text: str) -> str:
        """The commitment that stands for a text in an event."""
        secret = Secret.of(text)
        self.secrets[secret.commitment] = secret
        self.texts[secret.commitment] = text
        return secret.commitment

    def new_person(self, name: str, *, is_start: bool = False, from_roster: bool = False) -> str:
        """Somebody new; codes count on and are never used twice, not even those of people whose adding was undone."""
        cleaned = clean(name)
        if not cleaned:
            raise InputError("a person needs a name")
        self._people += 1
        code = f"P{self._people}"
        self.say(PersonAdded(code, self.commit_to(cleaned), is_start, from_roster))
        return code
