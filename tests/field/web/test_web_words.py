"""One catalogue: the same keys and values in both languages, and nothing said outside of it."""

import ast
import re
import string
from itertools import count
from pathlib import Path

import pytest

import claim.field.web
from claim.field.advice.reasons import ENGLISH, Reason
from claim.field.study.events import BODIES
from claim.field.web.i18n import Troubles, chosen_language, words_in

FOLDER = Path(claim.field.web.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
ROUTES = sorted((FOLDER / "routes").glob("*.py"))
FIELD = FOLDER.parent
UNSAID = ("xlsx_cells.py", "guard.py")  # what these say is said again in other words, or only in the log
CORE = [path for path in sorted(FIELD.rglob("*.py")) if path.name not in UNSAID]
SPEAKING = {
    "InputError", "ClaimError", "Conflict", "Damaged", "NotSaved", "BrokenLog", "SelfNamed", "at", "error", "add",
    "_check", "_require", "_complain", "Role", "Importer", "Finding",
}  # fmt: skip


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
    assert same <= {"language.en", "language.es", "no", "format.graphml", "format.gexf", "reason.rule"}


def test_every_reason_and_event_has_words():
    for language in ("en", "es"):
        words = words_in(language)
        assert all(f"reason.{key}" in words for key in ENGLISH)
        assert all(f"event.{key}" in words for key in BODIES)


def sentences(path: Path) -> set[str]:
    """What a module of the core says to people: the texts of its errors, findings, parts and formats."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and called(node) in SPEAKING:
            found |= {template(each) for each in (*node.args, *(word.value for word in node.keywords))}
        elif isinstance(node, ast.FunctionDef) and node.name.endswith("_problem"):
            found |= {template(each.value) for each in ast.walk(node) if isinstance(each, ast.Return)}
    return {text for text in found if " " in text}


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def template(node: ast.AST | None) -> str:
    """The text with ``{0}``, ``{1}`` for what is put in; empty for anything that is no text."""
    if isinstance(node, ast.Subscript):
        return template(node.value)
    if isinstance(node, ast.JoinedStr):
        places = count()
        return "".join(each.value if isinstance(each, ast.Constant) else f"{{{next(places)}}}" for each in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_what_the_core_says_is_in_the_catalogue():
    catalogue = Troubles.in_language("es").sentences
    missing = {(path.name, text) for path in CORE for text in sentences(path) if text not in catalogue}
    assert not missing


def test_the_catalogue_of_troubles_is_in_order():
    catalogue = Troubles.in_language("es").sentences
    assert len({text for path in CORE for text in sentences(path)}) > 150  # otherwise nothing is looked at
    for english, spanish in catalogue.items():
        assert placeholders(english) == placeholders(spanish), english
        assert english != spanish
    assert Troubles.in_language("en").sentences == {}


@pytest.mark.parametrize(
    ("english", "spanish"),
    [
        ("a person needs a name", "una persona necesita un nombre"),
        ("P3 has withdrawn from the study", "P3 se ha retirado del estudio"),
        ("a.csv:2: a row without a name: left out", "a.csv:2: una fila sin nombre: se dejó fuera"),
        ("a.csv:2: status 'x y' is not a number: left out", "a.csv:2: status 'x y' no es un número: se dejó fuera"),
        ("a.csv:1: the column 'a b' comes twice", "a.csv:1: la columna 'a b' aparece dos veces"),
        (
            "a.csv:1: which column holds the names? there are 'x', 'y'",
            "a.csv:1: ¿qué columna contiene los nombres? hay 'x', 'y'",
        ),
        (
            "event 4 (TieReported) builds on it: undo that first (P2 was not asked to lead)",
            "el paso 4 (TieReported) se apoya en este: deshaga primero aquel (a P2 no se le pidió liderar)",
        ),
        ("something {0} nobody thought of", "something {0} nobody thought of"),
        ("nobody is called '{0}'", "nadie se llama '{0}'"),
    ],
)
def test_troubles_are_said_in_spanish(english, spanish):
    assert words_in("es").trouble(english) == spanish
    assert words_in("en").trouble(english) == english


def test_what_rules_go_by_is_said_in_spanish():
    from claim.discovery.policies.change import IN_TURN
    from claim.discovery.policies.scout import THEMES
    from claim.discovery.policies.simple import BY_CHANCE, WAVE_BY_WAVE

    catalogue = Troubles.in_language("es").sentences
    assert {says for theme in THEMES for says in (theme.high, theme.low)} <= catalogue.keys()
    assert {IN_TURN, BY_CHANCE, WAVE_BY_WAVE} <= catalogue.keys()
    assert words_in("es").reason(Reason.of("rule", says=THEMES[0].high), str) == catalogue[THEMES[0].high]


def test_pages_and_api_say_troubles_in_spanish(browser, base, study):
    browser.post("/language", language="es")
    assert "un estudio necesita un título" in browser.post(f"{base}/settings", title=" ").text
    assert "no hay nadie con el código" in browser.get(f"{base}/people/P99").text
    answer = browser.api(f"{study}/surveys/P99/contacts", {"name": "Ana", "nonce": "1"})
    assert answer.json()["message"] == "no hay nadie con el código 'P99'"
    file = {"files": ("people.csv", b"person_code,n_contacts\nA,many\n")}
    look = browser.post(f"{base}/import", files=file)
    page = browser.text(look.headers["location"])
    assert "'many' no es un número entero" in page
    assert "los códigos de las personas" in page


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
