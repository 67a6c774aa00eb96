"""Everything the pages say, by key, in each language; English and Spanish have the same keys."""

import json
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files

from claim.field.reasons import ENGLISH, Reason
from claim.field.web.preferences import LANGUAGES
from claim.field.web.words.troubles import Troubles


class Words:
    """One language."""

    def __init__(self, language: str, texts: dict[str, str], troubles: Troubles) -> None:
        self.language = language
        self.texts = texts
        self._troubles = troubles
        self._reasons = {key.removeprefix("reason."): text for key, text in texts.items() if key.startswith("reason.")}

    def __call__(self, key: str, **values: object) -> str:
        """A text with its values put in."""
        return self.texts[key].format(**values)

    def __contains__(self, key: str) -> bool:
        return key in self.texts

    def reason(self, reason: Reason, name: Callable[[str], str]) -> str:
        """A reason in this language; what a rule says for itself is found by its sentence, like errors."""
        return self.trouble(reason.said(name, self._reasons, self.texts["and"]))

    def trouble(self, problem: object) -> str:
        """An error or finding of the core in this language."""
        return self._troubles.said(str(problem))

    def listed(self, items: Iterable[str]) -> str:
        """Several things in a row."""
        return ", ".join(items)


@cache
def words_in(language: str) -> Words:
    """The catalogue of a language; reasons in English are those of :mod:`claim.field.reasons`."""
    texts: dict[str, str] = json.loads((files(__name__) / f"{language}.json").read_text(encoding="utf-8"))
    if language == "en":
        texts |= {f"reason.{key}": text for key, text in ENGLISH.items()}
    return Words(language, texts, Troubles.in_language(language))


def chosen_language(preferred: str | None, accepted: str) -> str:
    """The language that was set, else the first of the browser's that there is, else English."""
    if preferred is not None:
        return preferred
    asked = (part.partition(";")[0].strip().lower()[:2] for part in accepted.split(","))
    return next((language for language in asked if language in LANGUAGES), LANGUAGES[0])
