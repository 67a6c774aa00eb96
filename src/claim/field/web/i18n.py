"""Languages of the pages: their own texts by key, and errors and reasons by their English text."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from claim.messages import Message, number

LANGUAGES = ("en", "es")


class Texts:
    """The texts of one language."""

    def __init__(self, language: str, pages: Mapping[str, str], messages: Mapping[str, str]) -> None:
        self.language = language
        self.pages = pages
        self.messages = messages  # English text to its translation; empty for English

    def __call__(self, key: str, **values: object) -> str:
        """A text of the pages with its values put in."""
        return self.pages[key].format(**values)

    def number(self, value: float, decimals: int = 1) -> str:
        """A number with at most so many decimals."""
        return number(round(value, decimals), self.messages)

    def __contains__(self, key: str) -> bool:
        return key in self.pages

    def message(self, message: object, name: Callable[[Any], str] = str) -> str:
        """An error, a reason or a plain text in this language; in English if there is no translation."""
        found = getattr(message, "message", message)  # an error has one
        return (found if isinstance(found, Message) else Message(str(found))).translated(self.messages, name)


@cache
def texts_in(language: str) -> Texts:
    """The texts of a language."""
    return Texts(language, _read(f"pages.{language}.json"), _read(f"messages.{language}.json"))


def chosen_language(preferred: str | None, accepted: str) -> str:
    """The language that was set, else the first of the browser's that there is, else English."""
    if preferred is not None:
        return preferred
    asked = (part.partition(";")[0].strip().lower()[:2] for part in accepted.split(","))
    return next((language for language in asked if language in LANGUAGES), LANGUAGES[0])


def _read(name: str) -> dict[str, str]:
    path = files(__package__) / "messages" / name
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found
