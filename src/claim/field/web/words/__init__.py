"""Everything the pages say, by key, in each language; English and Spanish have the same keys."""

import json
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files

from claim.field.reasons import ENGLISH, Reason
from claim.field.web.preferences import LANGUAGES


class Words:
    """One language."""

    def __init__(self, language: str, texts: dict[str, str]) -> None:
        self.language = language
        self.texts = texts
        self._reasons = {key.removeprefix("reason."): text for key, text in texts.items() if key.startswith("reason.")}

    def __call__(self, key: str, **values: object) -> str:
        """A text with its values put in."""
        return self.texts[key].format(**values)

    def __contains__(self, key: str) -> bool:
        return key in self.texts

    def reason(self, reason: Reason, name: Callable[[str], str]) -> str:
        """A reason in this language."""
        return reason.said(name, self._reasons, self.texts["and"])

    def listed(self, items: Iterable[str]) -> str:
        """Several things in a row."""
        return ", ".join(items)


@cache
def words_in(language: str) -> Words:
    """The catalogue of a language; reasons in English are those of :mod:`claim.field.reasons`."""
    texts: dict[str, str] = json.loads((files(__name__) / f"{language}.json").read_text(encoding="utf-8"))
    if language == "en":
        texts |= {f"reason.{key}": text for key, text in ENGLISH.items()}
    return Words(language, texts)


def chosen_language(preferred: str | None, accepted: str) -> str:
    """The language that was set, else the first of the browser's that there is, else English."""
    if preferred is not None:
        return preferred
    asked = (part.partition(";")[0].strip().lower()[:2] for part in accepted.split(","))
    return next((language for language in asked if language in LANGUAGES), LANGUAGES[0])
