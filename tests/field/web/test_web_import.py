"""Files as teams have them: looked at on a page that says what becomes of them, and taken."""

import re

import pytest
from desk_client import HOST, ORIGIN, PASSPHRASE

from claim.field.study.setup import Setup
from claim.io.archives import MAX_FILE_BYTES

FORM = b"name,consent,friend_1,friend_2,age\nAna,yes,Ben,Carla,31\nBen,yes,,,40\nDan,no,Eva,,22\n"


def look(browser, base, content, name="a.csv"):
    answer = browser.post(f"{base}/import", files={"files": (name, content)})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def taken(browser, desk, study, preview):
    """The people of the study after taking a preview: the state, and whom they named, by name."""
    assert browser.post(f"{preview}/take").status_code == 303
    view = desk.study(study).view
    people = view.study.people.items()
    return {view.name(code): (person.state, {view.name(each) for each in person.contacts}) for code, person in people}


def test_a_form_is_explained_and_taken(browser, desk, base, study):
    preview = look(browser, base, FORM)
    page = browser.text(preview)
    assert "4 people, 2 contacts, 3 surveys" in page
    for line in ("friend_1 : a contact", "consent : whether they consented", "age : not used"):
        assert line in page
    assert "Left out or read differently: 1 a.csv:4: 'friend_1' of a person who did not consent: left out" in page
    assert 'class="box good"' in browser.get(preview).text
    assert taken(browser, desk, study, preview) == {
        "Ana": ("surveyed", {"Ben", "Carla"}),
        "Ben": ("surveyed", set()),
        "Dan": ("refused", set()),
        "Carla": ("named", set()),
    }


SHAPES = {
    "coupons": b"name,coupon,coupon_1\nAna,,7\nBen,7,\n",
    "an empty contact": b"from,to\nAna,Ben\nBen,\n",
    "titles": b"Contacts of 2026\n\nname;friend_1\nAna;Ben\nBen;\n",
    "Windows-1252": "nombre;amigo_1;año\nAna;Ben;1\nBen;;2\n".encode("cp1252"),
    "UTF-16": "name\tfriend_1\nAna\tBen\nBen\t\n".encode("utf-16"),
    "UTF-16 without a mark": "name\tfriend_1\nAna\tBen\nBen\t\n".encode("utf-16-le"),
    "UTF-8 with a mark": "name,friend_1\nAna,Ben\nBen,\n".encode("utf-8-sig"),
    "no header": b"Ana,Ben,\nBen,,\n,,\nAna,Ben,Ben\n",
    "Spanish": "nombre,consentimiento,amigo 1\nAna,sí,Ben\nBen,sí,\n".encode(),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_files_are_taken(browser, desk, base, study, shape):
    preview = look(browser, base, SHAPES[shape])
    assert taken(browser, desk, study, preview) == {"Ana": ("surveyed", {"Ben"}), "Ben": ("surveyed", set())}


def test_two_columns_of_a_name_are_one(browser, desk, base, study):
    preview = look(browser, base, "nombre,apellidos\nAna,López\n".encode())
    assert "apellidos : the last name" in browser.text(preview)
    assert set(taken(browser, desk, study, preview)) == {"Ana López"}


@pytest.mark.parametrize("format", ["graphml", "gexf"])
def test_an_exported_graph_goes_into_another_study(browser, desk, base, study, format):
    taken(browser, desk, study, look(browser, base, FORM))
    exported = browser.post(f"{base}/export", format=format).content
    other = desk.create(Setup("Other"), PASSPHRASE)
    people = taken(browser, desk, other, look(browser, f"/s/{other}", exported, "study.zip"))
    assert people["P1"] == ("surveyed", {"P2", "P4"})
    assert people["P2"] == ("surveyed", set())


@pytest.mark.parametrize("content", [b"name\nAna\nBen\n", b"name,friend_1\nAna,\nBen,\n", b"from,to\nAna,\n"])
def test_no_contacts_are_never_shown_in_green(browser, base, content):
    preview = look(browser, base, content)
    assert 'class="box good"' not in browser.get(preview).text
    assert "no one is a contact of another" in browser.text(preview)
    assert " 0 contacts" not in browser.text(preview)


def test_all_that_is_left_out_is_listed_on_pages(browser, base):
    preview = look(browser, base, b"name,friend_1\nAna,Ben\n" + b",Ben\n" * 450)
    listed = []
    for number in (1, 2, 3):
        page = browser.text(f"{preview}?page={number}")
        assert "Left out or read differently: 450" in page
        assert f"{number} / 3" in page
        listed += re.findall(r"a\.csv:(\d+): a row without a name", page)
    assert listed == [str(line) for line in range(3, 453)]
    assert f"{preview}?page=2#left-out" in browser.get(preview).text
    assert "3 / 3" in browser.text(f"{preview}?page=99")


def test_what_the_first_row_is_can_be_changed(browser, desk, base, study):
    preview = look(browser, base, b"Blue House\nAna\nBen\n")
    assert "no header: this row is read as data" in browser.text(preview)
    fields = {"format": "roster", "was": "roster", "header": "yes", "join": "1", "map.roster.name": "name"}
    changed = browser.post(preview, fields).headers["location"]
    assert "which column holds the names?" in browser.text(changed)
    assert 'value="yes" selected' in browser.get(changed).text
    chosen = browser.post(changed, fields | {"map.roster.name": "Blue House"}).headers["location"]
    assert set(taken(browser, desk, study, chosen)) == {"Ana", "Ben"}
    named = look(browser, base, b"name\nfriend\n")
    data = browser.post(named, format="roster", was="roster", header="no", join="1").headers["location"]
    assert "2 people" in browser.text(data)


@pytest.mark.parametrize(("language", "words"), [("en", "too large: at most 32 MiB"), ("es", "32 MiB como máximo")])
@pytest.mark.parametrize("length", [True, False])
def test_a_file_that_is_too_large_is_told_the_limit(browser, base, language, words, length):
    assert "32 MiB" in browser.text(f"{base}/import")
    browser.post("/language", language=language)
    body = b"x" * (MAX_FILE_BYTES + (1 << 20) + 1)
    headers = {"Origin": ORIGIN, "Host": HOST, "Content-Type": "multipart/form-data; boundary=b"}
    content = body if length else (body[i : i + (1 << 20)] for i in range(0, len(body), 1 << 20))
    answer = browser.http.post(f"{base}/import", content=content, headers=headers)
    assert answer.status_code == 413
    assert words in answer.text


def test_an_empty_file_is_not_taken_for_no_file(browser, base):
    for name, words in (("a.csv", "a.csv: is empty"), ("", "no file was given")):
        answer = browser.post(f"{base}/import", files={"files": (name, b"")})
        assert answer.status_code == 400
        assert words in answer.text


@pytest.mark.parametrize(("consent", "unfolded"), [(b"yes", False), (b"perhaps", True)])
def test_reading_otherwise_is_unfolded_only_if_something_is_wrong(browser, base, consent, unfolded):
    page = browser.get(look(browser, base, FORM.replace(b"yes", consent)))
    assert ('<details class="box" open>' in page.text) == unfolded


def test_a_preview_comes_in_spanish(browser, base):
    browser.post("/language", language="es")
    page = browser.text(look(browser, base, FORM))
    for line in ("friend_1 : un contacto", "age : no se usa", "a.csv:4: 'friend_1' de alguien que no consintió"):
        assert line in page
    old = browser.post(f"{base}/import", files={"files": ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")})
    assert "guárdelo sin contraseña como .xlsx o CSV" in old.text
