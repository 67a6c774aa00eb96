"""What the core says when something is wrong, in another language.

Errors are raised in English by code that knows of no page. The catalogue of a language has each such sentence, with
``{0}``, ``{1}`` for what is put in; a sentence is found again by its pattern, and so is what is put in.
"""

import json
import re
from functools import cached_property
from importlib.resources import files
from typing import TypeAlias

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
        path = files(__package__) / f"troubles.{language}.json"
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
