"""Tables as teams keep them: each shape goes through the preview into a study."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from exchange_files import crlf, packed, workbook

from claim.errors import InputError
from claim.field import Setup
from claim.field.exchange import EXPORTS, export_zip, preview
from claim.field.exchange.records import Bundle, PersonRecord, TieRecord
from claim.field.exchange.study import import_preview
from claim.field.store.library import Library
from claim.field.store.session import OpenStudy
from claim.io.text import Source

FORM = crlf("name,consent,friend_1,friend_2,friend_3,age", "Ana,yes,Ben,Carla,,31", "Ben,yes,,,,40", "Dan,no,Eva,,,22")
People = dict[str, tuple[str, set[str]]]  # by name: the state, and whom they named


@pytest.fixture
def study(tmp_path: Path) -> Iterator[OpenStudy]:
    with Library(tmp_path / "studies", work=10).create(Setup("Empty"), "correct horse battery staple") as opened:
        yield opened


@pytest.fixture
def brought(study: OpenStudy) -> Callable[..., People]:
    """Bring files in; the people who are in the study then."""

    def bring(content: bytes | str, **options: object) -> People:
        content = content.encode() if isinstance(content, str) else content
        looked_at = preview(Source("a.csv", content), **options)  # type: ignore[arg-type]
        assert looked_at.ready, looked_at.problems
        study.run(lambda draft: import_preview(draft, looked_at))
        name = study.view.name
        return {name(code): (each.state, set(map(name, each.contacts))) for code, each in study.study.people.items()}

    return bring


def notes(content: bytes | str, **options: object) -> list[str]:
    content = content.encode() if isinstance(content, str) else content
    return [str(each) for each in preview(Source("a.csv", content), **options).notes]  # type: ignore[arg-type]


Bring = Callable[..., People]
TWO = {"Ana": ("surveyed", {"Ben"}), "Ben": ("surveyed", set())}  # Ana named Ben, who named no one


# Forms ----------------------------------------------------------------------------------------------------------------


def test_a_form_has_a_row_a_respondent(brought: Bring, study: OpenStudy) -> None:
    people = brought(FORM)
    assert people == {
        "Ana": ("surveyed", {"Ben", "Carla"}),
        "Ben": ("surveyed", set()),
        "Dan": ("refused", set()),
        "Carla": ("named", set()),
    }
    outcomes = {study.view.name(survey.person): survey.outcome for survey in study.study.surveys}
    assert outcomes == {"Ana": "answered", "Ben": "named nobody", "Dan": "refused"}
    assert notes(FORM) == ["a.csv:4: 'friend_1' of a person who did not consent: left out"]


@pytest.mark.parametrize(
    "columns",
    [
        "name,friend1,friend2", "Name,Contact 1,Contact 2", "respondent,nominee1,nominee2", "nombre,amigo_1,amigo_2",
        "Nombre completo,Amiga 1,Amigo 2", "encuestado,contacto 1,contacto 2", "name,alter 1 name,alter 2 name",
        "your name,name of friend 1,name of friend 2", "nombre,nombre del contacto 1,nombre del contacto 2",
        "name,close friend,neighbour", "id,friend1,friend2", "your_name,group/friend_1,group/friend_2",
        "name,friend_1,colleague_1", "code,friend_1_name,friend_2_name", "Encuestada,Compañera 1,Compañera 2",
    ],
)  # fmt: skip
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_of_contacts_go_by_many_names(brought: Bring, columns: str, separator: str) -> None:
    text = crlf(columns, "Ana,Ben,Carla", "Eva,,").replace(",", separator)
    assert brought(text) == {
        "Ana": ("surveyed", {"Ben", "Carla"}),
        "Eva": ("surveyed", set()),
        "Ben": ("named", set()),
        "Carla": ("named", set()),
    }


def test_everyone_in_a_form_may_have_named_no_one(brought: Bring) -> None:
    assert brought(crlf("name,friend_1", "Ana,", "Ben,")) == {"Ana": ("surveyed", set()), "Ben": ("surveyed", set())}


def test_details_of_contacts_are_not_contacts(brought: Bring) -> None:
    header = "name,friend_1,friend_1_age,edad amigo 1,friend_1_phone,how close is friend 1,friends,partner"
    text = crlf(header, "Ana,Ben,40,40,555-0101,very close,3,married")
    assert set(brought(text)) == {"Ana", "Ben"}
    assert notes(text) == [
        "a.csv:1: the column 'how close is friend 1' may hold contacts, but is not used",
        "a.csv:1: the column 'partner' may hold contacts, but is not used",
    ]


def test_contacts_can_be_codes_of_respondents(brought: Bring) -> None:
    people = brought(crlf("id,name,friend_1", "a1,Ana,B2", "b2,Ben,Carla"))
    assert {name: contacts for name, (_, contacts) in people.items()} == {
        "Ana": {"Ben"}, "Ben": {"Carla"}, "Carla": set(),
    }  # fmt: skip


def test_columns_of_a_form_can_be_chosen(brought: Bring) -> None:
    text = crlf("q1,q2,q3", "ana,ben,carla")
    assert not preview(Source("a.csv", text.encode())).ready
    chosen = {"respondent.name": "q1", "contact.1": "q2", "contact.2": "q3"}
    assert brought(text, format="form", mapping=chosen)["ana"] == ("surveyed", {"ben", "carla"})


def test_no_contact_is_said_in_words_too(brought: Bring) -> None:
    text = crlf("name,friend_1,friend_2", "Ana,none,-", "Ben,Ana,nadie")
    assert brought(text) == {"Ana": ("surveyed", set()), "Ben": ("surveyed", {"Ana"})}
    assert notes(text) == [
        "a.csv:2: 'none' is taken as no contact: left out",
        "a.csv:2: '-' is taken as no contact: left out",
        "a.csv:3: 'nadie' is taken as no contact: left out",
    ]


def test_rows_that_are_left_out_of_a_form_are_said() -> None:
    assert notes(crlf("name,friend_1", ",Ben", "Ana,Ana", "ana,Ben", "Ana,Ben")) == [
        "a.csv:2: a row without a name: left out",
        "a.csv:4: 'ana' comes again: taken as the same person",
        "a.csv:5: 'Ana' comes again: taken as the same person",
        "a.csv:3: 'Ana' is tied to themselves: left out",
        "a.csv:5: the tie comes again: counted once",
    ]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (["Ana,yes,Ben; Carla"], "a.csv:2: 'Ben; Carla' is several people in one cell"),
        (["Ana,yes,Ben", "Ana,no,Ben"], "a.csv:3: 'Ana' consents in one row and not in another"),
        (["Ana,perhaps,Ben"], "a.csv:2: whether they consented, 'perhaps', is neither yes nor no"),
    ],
)
def test_what_a_form_contradicts_stops_it(rows: list[str], problem: str) -> None:
    looked_at = preview(Source("a.csv", crlf("name,consent,friend_1", *rows).encode()))
    assert str(looked_at.problems[0]).startswith(problem)


def test_a_form_in_a_workbook_beside_a_list(brought: Bring) -> None:
    sheets = {
        "Answers": [["Contacts of 2026"], [], ["name", "friend_1"], ["Ana", "Ben"], ["Ben"]],
        "People": [["name"], ["Carla"]],
    }
    people = brought(workbook(sheets))
    assert people == TWO | {"Carla": ("named", set())}


def test_other_sheets_beside_a_form_are_left_out_and_said_to_be(brought: Bring) -> None:
    sheets = {
        "Read me": [["About this file"], ["Made by Ana Lopez"]],
        "Answers": [["name", "friend_1"], ["Ana", "Ben"], ["Ben"]],
        "Choices": [["list", "label"], ["yesno", "Yes"]],
    }
    assert brought(workbook(sheets)) == TWO
    left = [str(note) for note in preview(Source("a.xlsx", workbook(sheets))).notes if "not needed" in str(note)]
    assert left == [f"a.xlsx [{sheet}]: not needed, left out" for sheet in ("Read me", "Choices")]


# Coupons --------------------------------------------------------------------------------------------------------------

COUPONS = crlf(
    "name,coupon,coupon_1,coupon_2,coupon_3", "Ana,,101,102,103", "Ben,101,201,,", "Carla,102,,,", "Dan,999,,,"
)


@pytest.mark.parametrize(
    "header", ["name,coupon,coupon_1,coupon_2,coupon_3", "nombre,cupón,cupón 1,cupón 2,cupón 3",
               "name,own coupon,coupon1,coupon2,coupon3", "name,coupon_in,coupon_out_1,coupon_out_2,coupon_out_3",
               "Participante,Número de cupón recibido,Cupón entregado 1,Cupón entregado 2,Cupón entregado 3"],
)  # fmt: skip
def test_who_comes_with_a_coupon_is_a_contact(brought: Bring, study: OpenStudy, header: str) -> None:
    text = COUPONS.replace("name,coupon,coupon_1,coupon_2,coupon_3", header)
    assert {name: contacts for name, (_, contacts) in brought(text).items()} == {
        "Ana": {"Ben", "Carla"}, "Ben": set(), "Carla": set(), "Dan": set(),
    }  # fmt: skip
    assert {study.view.name(each.code) for each in study.study.people.values() if each.is_start} == {"Ana", "Dan"}
    assert {tie.named_by for tie in study.study.ties} == {(study.view.find("Ana"),)}
    assert notes(text) == [
        "a.csv:5: no one in the file handed out the coupon '999': taken as a start person",
        "a.csv: coupons that no one came with: 2, left out",
    ]


def test_a_coupon_of_two_people_is_left_out() -> None:
    text = crlf("name,coupon,coupon_1", "Ana,,7", "Ben,,7", "Carla,7,")
    assert notes(text) == ["a.csv:4: the coupon '7' was handed out by several people: left out"]
    assert not preview(Source("a.csv", text.encode())).bundle.ties


# Lists of who named whom ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header", ["from,to", "person,contact", "ego,alter", "persona,contacto", "origen,destino", "De;A"]
)
def test_an_empty_contact_means_that_the_person_named_no_one(brought: Bring, study: OpenStudy, header: str) -> None:
    rows = crlf(header, "Ana,Ben", "Ben,", ",Carla").replace(",", ";" if ";" in header else ",")
    assert brought(rows) == TWO
    assert [survey.outcome for survey in study.study.surveys] == ["answered", "named nobody"]
    assert notes(rows) == ["a.csv:4: a row without a name: left out"]


def test_both_may_have_named_each_other_where_another_named_no_one(brought: Bring) -> None:
    people = brought(crlf("person,contact", "Ana,Ben", "Ben,Ana", "Carla,"))
    assert people == {"Ana": ("surveyed", {"Ben"}), "Ben": ("surveyed", {"Ana"}), "Carla": ("surveyed", set())}


# Titles, headers and names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("above", "left_out"),
    [
        (["Contacts"], [1]),
        (["Survey of contacts, March 2026"], [1]),
        (["Centre A,,", ",,", "", "Interviewer: Eva"], [1, 4]),
        (["", ""], []),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_titles_above_the_header_are_left_out(
    brought: Bring, above: list[str], left_out: list[int], separator: str
) -> None:
    rows = [row.replace(",", separator) for row in ("name,friend_1,friend_2", "Ana,Ben,", "Ben,,")]
    text = crlf(*(line if ", " in line else line.replace(",", separator) for line in above), *rows)
    assert brought(text) == TWO
    assert notes(text) == [f"a.csv:{line}: a title above the header: left out" for line in left_out]


def test_a_title_above_a_list_of_names(brought: Bring) -> None:
    assert set(brought(crlf("People of the centre", "", "name", "Ana", "Ben"))) == {"Ana", "Ben"}


def test_problems_have_the_line_of_a_header_below_titles() -> None:
    (problem,) = preview(Source("a.csv", crlf("Centre A", "age,village", "7,Old Mill").encode())).problems
    assert str(problem).startswith("a.csv:2: which column holds the names?")


@pytest.mark.parametrize(
    ("lines", "columns", "contacts"),
    [
        (["Ana López", "Ben Carter", "Carla"], "name", 0),
        (["Ana López,Ben Carter", "Carla,Dan"], "person, contact", 2),
        (["ana,ben", "ana,carla"], "person, contact", 2),
        (["1,2", "1,3"], "person, contact", 2),
        (["Ana,Ben,Carla", "Ben,Dan,", "Eva,,"], "name, contact 1, contact 2", 3),
        (["Ana,31", "Ben,40"], "name, column 2", 0),
        (["Ana,Ben,2026-03-01", "Ben,Carla,2026-03-02"], None, 0),
    ],
)
def test_lists_without_a_header(brought: Bring, lines: list[str], columns: str | None, contacts: int) -> None:
    text = crlf(*lines)
    if columns is None:  # a date is neither a name nor a number: this may be a header, so the team is asked
        assert "which column" in str(preview(Source("a.csv", text.encode())).problems[0])
        return
    called = f"a.csv:1: no header: this row is read as data, and the columns are called {columns}"
    assert notes(text) == [called]
    people = brought(text)
    assert lines[0].split(",")[0] in people
    assert sum(len(each) for _, each in people.values()) == contacts


@pytest.mark.parametrize("header", ["Who,Since", "q1,q2", "Name,2026", "your nickname?,x", "apodo,grupo"])
def test_an_unknown_header_is_no_person(header: str) -> None:
    looked_at = preview(Source("a.csv", crlf(header, "Ana,1", "Ben,2").encode()))
    assert ", ".join(looked_at.tables[0].columns).replace(", ", ",") == header


@pytest.mark.parametrize(
    "header",
    ["first name,last name", "First Name,Surname", "nombre,apellidos", "Nombres,Apellido", "given_name,family_name"],
)
@pytest.mark.parametrize("contact", ["friend_1", ""])
def test_first_and_last_names_are_joined(brought: Bring, header: str, contact: str) -> None:
    text = crlf(f"{header},{contact}", "Ana,López,Ben Carter" if contact else "Ana,López,")
    assert set(brought(text)) == {"Ana López", *(["Ben Carter"] if contact else [])}


def test_both_last_names_are_joined_unless_the_name_has_them(brought: Bring) -> None:
    header = "nombre,apellido paterno,apellido materno,contacto 1 nombre,contacto 1 apellido,contacto 2 apellido"
    text = crlf(header, "Ana,López,Ruiz,Ben,Carter,", "Eva Gil,Gil,,,,")
    assert set(brought(text)) == {"Ana López Ruiz", "Eva Gil", "Ben Carter"}


@pytest.mark.parametrize("header", ["nombre,edad", "Nombre completo,consentimiento"])
def test_lists_of_names_in_spanish(brought: Bring, header: str) -> None:
    assert set(brought(crlf(header, "Ana,sí"))) == {"Ana"}


# Encodings and files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_encodings(brought: Bring, encoding: str, separator: str) -> None:
    text = crlf("nombre,amigo_1", "José Peña,Zoë", "Núria,").replace(",", separator)
    assert brought(text.encode(encoding))["José Peña"] == ("surveyed", {"Zoë"})
    said = ["a.csv: read as Windows-1252; check the letters with accents"] if encoding == "cp1252" else []
    assert notes(text.encode(encoding)) == said


@pytest.mark.parametrize(
    "content",
    [
        "имя,друг\r\nИван,Пётр\r\n".encode("cp1251"),
        "name\nJosé\nZoë\nPeña\n".encode() + b"Jos\xe9\n",  # one damaged letter in UTF-8
        "name\nJos\x81\n".encode("latin-1"),
        b"name\nJos\xe9\x01\n",
    ],
)
def test_other_encodings_are_refused_rather_than_misread(content: bytes) -> None:
    with pytest.raises(InputError, match="not a text file in UTF-8"):
        preview(Source("a.csv", content))


@pytest.mark.parametrize("name", ["a.xls", "a.csv"])
def test_old_excel_files_are_explained(name: str) -> None:
    with pytest.raises(InputError, match=r"old Excel file \(\.xls\).*save it .* as \.xlsx or CSV"):
        preview(Source(name, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)))


@pytest.mark.parametrize("format", EXPORTS)
def test_exported_zip_files_are_brought_in_as_they_are(brought: Bring, format: str) -> None:
    people = (PersonRecord("P1", status="surveyed"), PersonRecord("P2", status="surveyed", first_named_by="P1"))
    content = export_zip(Bundle(people, (TieRecord("P1", "P2", named_by=("P1",)),)), format, "12:5f0c1a2b3c4d5e6f")
    assert brought(content) == {"P1": ("surveyed", {"P2"}), "P2": ("surveyed", set())}


def test_files_in_a_zip_file_that_are_not_read_are_said() -> None:
    files = {"people.csv": "name\r\nAna\r\n", "photo.jpg": b"\xff\xd8", "network.gexf": "<gexf/>"}
    assert notes(packed(files)) == ["a.csv [people.csv]: files in the zip file that are not tables: 2, left out"]


# What is left out -----------------------------------------------------------------------------------------------------


def test_every_row_that_is_left_out_is_said() -> None:
    found = notes(crlf("name,friend_1", *["Ana,Ben", ",Ben"] * 1000))
    rows = [each for each in found if "a row without a name" in each]
    assert [int(each.split(":")[1]) for each in rows] == list(range(3, 2003, 2))


def test_people_who_withdrew_and_names_that_come_again_are_said() -> None:
    assert notes(crlf("person_code,status", "A,named", "B,withdrawn")) == [
        "a.csv:3: a person who withdrew: left out, with what they reported"
    ]
    assert notes(crlf("name", "Ana", "ana")) == ["a.csv:3: 'ana' comes again: taken as the same person"]
    assert notes(crlf("Source,Target", "A,B", "A,B")) == ["a.csv:3: the tie comes again: counted once"]


def test_an_opendocument_file_is_told_apart_from_a_zip_file() -> None:
    with pytest.raises(InputError, match=r"OpenDocument file \(\.ods\); save it as \.xlsx or CSV"):
        preview(Source("a.ods", packed({"mimetype": "application/vnd.oasis", "content.xml": "<office/>"})))
