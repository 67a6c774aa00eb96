"""One catalogue: the same keys and values in both languages, and nothing said outside of it."""

import re
import string
from pathlib import Path

import pytest

import claim.field.web
from claim.field.events import BODIES
from claim.field.reasons import ENGLISH
from claim.field.web.words import chosen_language, words_in

FOLDER = Path(claim.field.web.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
ROUTES = sorted((FOLDER / "routes").glob("*.py"))


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_the_same_keys_and_places():
    english, spanish = words_in("en").texts, words_in("es").texts
    assert english.keys() == spanish.keys()
    for key, text in english.items():
        assert placeholders(text) == placeholders(spanish[key]), key
        assert text.strip(), key
        assert spanish[key].strip(), key


def test_spanish_is_translated():
    english, spanish = words_in("en").texts, words_in("es").texts
    same = {key for key, text in english.items() if spanish[key] == text}
    assert same <= {"language.en", "language.es", "no", "format.graphml", "format.gexf"}


def test_every_reason_and_event_has_words():
    for language in ("en", "es"):
        words = words_in(language)
        assert all(f"reason.{key}" in words for key in ENGLISH)
        assert all(f"event.{key}" in words for key in BODIES)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_hold_no_text_of_their_own(path):
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", "", text, flags=re.S)
    for attribute in re.findall(r'(?:aria-label|title|alt|placeholder|data-(?!api|similar)[a-z]+)="([^"]*)"', text):
        assert not re.search(r"[^\W\d_]{3,}", attribute) or re.fullmatch(r"[a-z-]+|/.*", attribute), attribute
    bare = re.sub(r"<[^>]*>", " ", text)
    assert not re.search(r"[^\W\d_]", bare), re.search(r".{0,30}[^\W\d_].{0,30}", bare)


def test_every_key_that_is_used_is_there():
    keys = words_in("en").texts
    sources = [*TEMPLATES, *ROUTES, FOLDER / "app.py"]
    for path in sources:
        used = re.findall(r"(?:\bt|words)\(['\"]([a-zA-Z_.]+)['\"][,)]", path.read_text(encoding="utf-8"))
        assert set(used) <= keys.keys(), path
        redirected = re.findall(r"\.go\([^)]*?, \"([a-z][a-z_]+)\"", path.read_text(encoding="utf-8"))
        assert {f"done.{key}" for key in redirected} <= keys.keys(), path


def test_the_script_says_nothing_of_its_own():
    script = (FOLDER / "static" / "app.js").read_text(encoding="utf-8")
    script = re.sub(r"//.*", "", script)
    for quoted in re.findall(r'"([^"]*)"', script):
        assert not re.search(r"[A-Za-z]{3,} [A-Za-z]{3,}", quoted) or quoted in ("use strict", "box ask"), quoted


def test_nothing_loads_from_elsewhere():
    for path in [*TEMPLATES, *(FOLDER / "static").iterdir()]:
        text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"https?://|//[a-z]+\.[a-z]{2,}|@import|url\(", text), path


@pytest.mark.parametrize(
    ("preferred", "accepted", "chosen"),
    [
        (None, "", "en"),
        (None, "es-MX,en;q=0.5", "es"),
        (None, "fr,es;q=0.4", "es"),
        ("en", "es", "en"),
        (None, "xx", "en"),
    ],
)
def test_the_language_follows_the_browser_until_it_is_set(preferred, accepted, chosen):
    assert chosen_language(preferred, accepted) == chosen


def test_pages_come_in_spanish_when_asked_for(browser, base):
    browser.post("/language", language="es", back=base)
    assert "Personas conocidas" in browser.text(base)
    assert '<html lang="es">' in browser.get(base).text
    assert browser.post("/language", language="xx").status_code == 400
    assert browser.post("/language", language="en", back="//evil.example").headers["location"] == "/"
