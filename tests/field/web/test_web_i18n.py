"""The texts of both languages: the same keys and places, every message translated, and no text outside of them."""

import ast
import re
import string
from pathlib import Path

import pytest

import claim
import claim.field.web
from claim.errors import InputError
from claim.field.study.events import BODIES
from claim.field.web.i18n import chosen_language, texts_in
from claim.messages import Message, People

FOLDER = Path(claim.field.web.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
ROUTES = sorted(FOLDER.glob("*.py"))
SOURCES = Path(claim.__file__).parent
FIELD = [path for path in sorted((SOURCES / "field").rglob("*.py")) if path.name != "guard.py"]  # it writes a log
READERS = sorted((SOURCES / "io").rglob("*.py"))
REASONS = [*sorted((SOURCES / "discovery").rglob("*.py")), *sorted((SOURCES / "selection").rglob("*.py"))]


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_the_same_keys_and_places():
    english, spanish = texts_in("en").pages, texts_in("es").pages
    assert english.keys() == spanish.keys()
    for key, text in english.items():
        assert placeholders(text) == placeholders(spanish[key]), key
        assert text.strip(), key
        assert spanish[key].strip(), key


def test_spanish_is_translated():
    english, spanish = texts_in("en").pages, texts_in("es").pages
    same = {key for key, text in english.items() if spanish[key] == text}
    assert same <= {"language.en", "language.es", "no", "answer.no", "format.graphml", "format.gexf"}


def test_every_event_has_a_text():
    assert all(f"event.{key}" in texts_in(language) for key in BODIES for language in ("en", "es"))


class Texts(ast.NodeVisitor):
    """The texts of a module's messages: of errors, reasons, findings and titles, given where they are made.

    A text may stand in a constant or a variable first, as long as it is one text and not put together.
    """

    REASONS = ("Message", "of", "Theme")
    ERRORS = (
        "InputError", "ClaimError", "Conflict", "Damaged", "NotSaved", "BrokenLog", "SelfNamed", "at", "cls",
        "Role", "Importer", "add", "problem", "note", "error", "number", "time", "_checked", "_complain", "refuse",
    )  # fmt: skip

    def __init__(self, path: Path) -> None:
        self.made_by = self.REASONS if path in REASONS else self.REASONS + self.ERRORS
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.named: dict[str, list[ast.expr]] = {}
        self.texts: set[str] = set()
        self.put_together: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        self.named.setdefault(target.id, []).append(node.value)
        for node in ast.walk(self.tree):  # for fine, problem in checks
            if isinstance(node, ast.For) and isinstance(node.target, ast.Tuple) and isinstance(node.iter, ast.Name):
                listed = [each for value in self.named.get(node.iter.id, []) for each in ast.walk(value)]
                for target in node.target.elts:
                    self.named[ast.unparse(target)] = [each for each in listed if isinstance(each, ast.Constant)]
        self.visit(self.tree)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        parent = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "super()"
        if name in self.made_by or (parent and name == "__init__"):
            for each in (*node.args, *(word.value for word in node.keywords if word.arg in ("problem", "title"))):
                self._read(each)
        self.generic_visit(node)

    def _read(self, node: ast.expr, depth: int = 0) -> None:
        if isinstance(node, ast.IfExp):
            self._read(node.body, depth)
            self._read(node.orelse, depth)
        elif isinstance(node, ast.JoinedStr):
            self.put_together.add(ast.unparse(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[a-z]{2}.* ", node.value):
            self.texts.add(node.value)
        elif isinstance(node, ast.Name) and depth == 0:
            for value in self.named.get(node.id, []):
                self._read(value, depth + 1)


@pytest.mark.parametrize("path", [*FIELD, *READERS, *REASONS], ids=lambda path: str(path.relative_to(SOURCES)))
def test_every_message_is_in_the_spanish_catalogue(path):
    found, catalogue = Texts(path), texts_in("es").messages
    assert not {text for text in found.texts if text not in catalogue}
    assert not found.put_together  # a text with its values in it is no key


def test_the_catalogue_of_messages_is_in_order():
    catalogue = texts_in("es").messages
    used = {text for path in (*FIELD, *READERS, *REASONS) for text in Texts(path).texts}
    assert len(used) > 150  # otherwise nothing is looked at
    assert {"the budget must be between 0 and 100000, not {budget}", "named by {people}"} <= used
    for english, spanish in catalogue.items():
        assert places(english) == places(spanish), english
        assert english != spanish
    assert texts_in("en").messages == {}
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES.rglob("*.py")]
    constants = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not catalogue.keys() - constants  # translations of nothing


def places(text: str) -> set[tuple[str, str | None]]:
    """Names of the places, and whether they show a value in quotes."""
    return {(name, shown) for _, name, _, shown in string.Formatter().parse(text) if name}


@pytest.mark.parametrize(
    ("error", "spanish"),
    [
        (InputError("a person needs a name"), "una persona necesita un nombre"),
        (InputError("{person} has withdrawn from the study", person="P3"), "P3 se ha retirado del estudio"),
        (InputError("no person is called {text!r}", text="{0}"), "nadie se llama '{0}'"),
        (InputError.at("a.csv", 2, InputError("is empty")), "a.csv:2: está vacío"),
        (
            InputError(
                "event {number} ({type}) builds on it: undo that first ({error})",
                number=4,
                type="TieReported",
                error=InputError("{person} was not asked to lead", person="P2"),
            ),
            "el paso 4 (TieReported) se apoya en este: deshaga primero aquel (a P2 no se le pidió liderar)",
        ),
        (InputError("something {value} not in the catalogue", value=1), "something 1 not in the catalogue"),
        ("is empty", "está vacío"),
    ],
)
def test_messages_are_shown_in_spanish(error, spanish):
    assert texts_in("es").message(error) == spanish
    assert texts_in("en").message(error) == str(error)


def test_people_in_reasons_are_named_by_the_page():
    reason = Message.of("named by {people}", people=People(("P1", "P2", "P3")))
    names = {"P1": "Ana", "P2": "Ben", "P3": "Carla"}
    assert texts_in("es").message(reason, names.__getitem__) == "nombrada por Ana, Ben y Carla"
    assert reason.translated({}, names.__getitem__) == "named by Ana, Ben and Carla"
    assert str(Message.of("reaches about {amount} people", amount=12.0)) == "reaches about 12 people"
    assert str(Message.of("reaches about {amount} people", amount=3.4)) == "reaches about 3.4 people"


def test_pages_show_reasons_in_spanish(browser, base):
    browser.post("/language", language="es")
    for name in ("Ana", "Ben"):
        browser.post(f"{base}/people", name=name, same="new", start="1")
    for code in ("P1", "P2"):
        browser.post(f"{base}/survey/{code}/start", consent="1")
        browser.post(f"{base}/survey/{code}/contact", name="Carla", same="new" if code == "P1" else "P3")
        browser.post(f"{base}/survey/{code}/end", outcome="answered")
    assert "nombrada por Ana y Ben" in browser.text(f"{base}/next")
    assert "alcanza a unas" in browser.text(f"{base}/leaders")


def test_pages_and_api_show_errors_in_spanish(browser, base, study):
    browser.post("/language", language="es")
    assert "un estudio necesita un título" in browser.post(f"{base}/settings", title=" ").text
    assert 'id="p" name="p" inputmode="decimal" value="0,1"' in browser.get(f"{base}/settings").text
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
    keys = texts_in("en").pages
    sources = [*TEMPLATES, *ROUTES]
    for path in sources:
        used = re.findall(r"(?:\bt|text)\(['\"]([a-zA-Z_.]+)['\"][,)]", path.read_text(encoding="utf-8"))
        assert set(used) <= keys.keys(), path
        redirected = re.findall(r"\.go\([^)]*?, \"([a-z][a-z_]+)\"", path.read_text(encoding="utf-8"))
        assert {f"done.{key}" for key in redirected} <= keys.keys(), path


@pytest.mark.parametrize("name", ["app.js", "network.js"])
def test_the_scripts_say_nothing_of_their_own(name):
    script = (FOLDER / "static" / name).read_text(encoding="utf-8")
    script = re.sub(r"//.*", "", script)
    for quoted in re.findall(r'"([^"]*)"', script):
        classes = ("use strict", "box ask", "box bad", "tag leads")
        assert not re.search(r"[A-Za-z]{3,} [A-Za-z]{3,}", quoted) or quoted in classes, quoted


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
