"""Messages of the pages, by key and language."""

import json
import re
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from importlib.resources import files
from typing import TypeAlias

from claim.field.advice.reasons import ENGLISH, Reason
from claim.field.web.app_state import LANGUAGES

Pattern: TypeAlias = tuple[re.Pattern[str], str]
_PLACE = re.compile(r"\{\d\}")
_WHERE_ENDS = re.compile(": ")  # "ties.csv:7: ..." says where, then what


class Troubles:
    """The sentences of a catalogue; an empty one leaves everything as it is."""

    def __init__(self, sentences: dict[str, str]) -> None:
        self.sentences = sentences

    @classmethod
    def in_language(cls, language: str) -> "Troubles":
        """The catalogue of a language; English needs none."""
        path = files(__package__) / "words" / f"troubles.{language}.json"
        return cls(json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {})

    def said(self, text: str) -> str:
        """A sentence in this language, or as it is where the catalogue lacks it."""
        beginnings = [0, *(where.end() for where in _WHERE_ENDS.finditer(text))]
        for translated in (self.sentences.get, self._filled):
            for begin in beginnings:
                found = translated(text[begin:])
                if found is not None:
                    return text[:begin] + found
        return text

    def _filled(self, text: str) -> str | None:
        for pattern, sentence in self._patterns:
            found = pattern.fullmatch(text)
            if found is not None:
                return sentence.format(*(self.said(part) for part in found.groups()))
        return None

    @cached_property
    def _patterns(self) -> list[Pattern]:
        """Those with something to put in; the more words a sentence has of its own, the earlier it is tried."""
        open_ones = [sentence for sentence in self.sentences if _PLACE.search(sentence)]
        ordered = sorted(open_ones, key=lambda sentence: -len(_PLACE.sub("", sentence)))
        return [(_pattern(sentence), self.sentences[sentence]) for sentence in ordered]


def _pattern(sentence: str) -> re.Pattern[str]:
    return re.compile("('[^']*'|.*?)".join(re.escape(part) for part in _PLACE.split(sentence)), re.S)


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
    """The catalogue of a language; reasons in English are those of :mod:`claim.field.advice.reasons`."""
    texts: dict[str, str] = json.loads((files(__package__) / "words" / f"{language}.json").read_text(encoding="utf-8"))
    if language == "en":
        texts |= {f"reason.{key}": text for key, text in ENGLISH.items()}
    return Words(language, texts, Troubles.in_language(language))


def chosen_language(preferred: str | None, accepted: str) -> str:
    """The language that was set, else the first of the browser's that there is, else English."""
    if preferred is not None:
        return preferred
    asked = (part.partition(";")[0].strip().lower()[:2] for part in accepted.split(","))
    return next((language for language in asked if language in LANGUAGES), LANGUAGES[0])
