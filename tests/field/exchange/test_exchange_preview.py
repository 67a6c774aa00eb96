"""Looking before taking: what is detected and suggested, what can be overridden, what is reported."""

from pathlib import Path

import pytest
from exchange_files import crlf, egoweb, kobo, network_canvas, packed, read_or_refused, workbook

from claim.errors import InputError
from claim.field.exchange import IMPORTERS, preview, take
from claim.field.exchange.builder import Importer
from claim.field.exchange.preview import MAX_COMPARED
from claim.io.text import Source


def csv(*lines: str, name: str = "a.csv") -> Source:
    return Source(name, crlf(*lines).encode())


def test_counts_columns_and_first_rows() -> None:
    looked_at = preview(csv("name,age", *(f"Person {i},{i}" for i in range(20)), name="roster.csv"))
    (table,) = looked_at.tables
    assert (table.where, table.columns, len(table.rows)) == ("roster.csv", ("name", "age"), 20)
    assert table.rows[0].cells == ("Person 0", "0")
    assert looked_at.mapping["roster.name"] == "name"
    assert (looked_at.choices[0].role.needed, looked_at.choices[0].columns) == (True, ("name", "age"))


def test_files_are_read_from_disk_too(tmp_path: Path) -> None:
    for name, text in egoweb().items():
        (tmp_path / name).write_text(text, newline="")
    assert preview(sorted(tmp_path.iterdir())).format == "egoweb"
    assert preview(str(tmp_path / "study-ego-alter.csv")).ready


def test_the_digest_stands_for_the_content_alone() -> None:
    one, two = csv("name", "Ann"), csv("name", "Ben")
    assert preview([one, two]).digest == preview([two, Source("other.csv", one.content)]).digest
    assert preview(one).digest != preview(two).digest


def test_format_and_columns_can_be_chosen() -> None:
    file = csv("name,friend,id", "Ann,Ben,1", "Ben,Cleo,2")
    assert preview(file).format == "form"
    assert preview(file, format="roster").format == "roster"
    chosen = preview(file, format="csv", mapping={"people.code": "id", "people.name": "friend"})
    assert chosen.bundle.names == {"1": "Ben", "2": "Cleo"}
    without = preview(file, format="csv", mapping={"people.name": ""})
    assert without.bundle.names == {}


def test_wrong_choices_are_refused() -> None:
    file = csv("name", "Ann")
    with pytest.raises(InputError, match="there is no format 'fax'"):
        preview(file, format="fax")
    with pytest.raises(InputError, match=r"a\.csv:1: there is no column 'nome'"):
        preview(file, mapping={"roster.name": "nome"})
    with pytest.raises(InputError, match="no person in the file"):
        take(preview(file), merges={"new-1": "new-9"})


def test_a_missing_column_is_asked_for() -> None:
    sheet = workbook(
        {"main": [["q1", "_uuid", "_index"], ["Zoe", "u", 1]], "reps": [["q2", "_parent_index"], ["Ann", 1]]}
    )
    file = Source("k.xlsx", sheet)
    looked_at = preview(file)
    assert [str(problem) for problem in looked_at.problems] == [
        "k.xlsx [main]:1: which column holds the name of the person surveyed? there are 'q1', '_uuid', '_index'",
        "k.xlsx [reps]:1: which column holds the name of the contact? there are 'q2', '_parent_index'",
    ]
    chosen = preview(file, mapping={"respondent.name": "q1", "contact.name": "q2"})
    assert set(chosen.bundle.names.values()) == {"Zoe", "Ann"}


def test_marks_are_of_one_contact() -> None:
    people, ties = "person_code,marked", csv("Source,Target", "A,B", "A,C", name="ties.csv")
    fine = preview([csv(people, "A,B", "B,", "C,A"), ties])
    assert {person.code: person.marked for person in take(fine).people} == {"A": "B", "B": None, "C": "A"}
    for line, contact in (("A,D", "'D'"), ("B,C", "'C'"), ("A,A", "'A'")):
        wrong = preview([csv(people, line, *(f"{code}," for code in "ABC" if code != line[0])), ties])
        assert [str(each) for each in wrong.problems] == [
            f"a.csv:2: '{line[0]}' marks {contact}, who is not a contact of theirs"
        ]
    foreign = preview([csv("Id,marked", "A,yes", "B,", "C,"), ties])  # the column of another program
    assert [str(each) for each in foreign.notes] == [
        "a.csv:2: 'A' marks 'yes', who is not a contact of theirs: left out"
    ]
    assert foreign.ready


@pytest.mark.parametrize("importer", IMPORTERS)
@pytest.mark.parametrize(
    "file", [csv("name", "Ann"), Source("k.xlsx", kobo()), Source("n.zip", packed(network_canvas()))]
)
def test_any_format_can_be_forced_on_any_file(importer: Importer, file: Source) -> None:
    read_or_refused(file.content, format=importer.name)


def test_problems_are_collected_with_their_lines() -> None:
    rows = [f"A{i},{'named' if i % 2 else 'odd'}" for i in range(400)]
    problems = preview(csv("person_code,status", *rows)).problems
    assert [str(problem).partition(" ")[0] for problem in problems[:2]] == ["a.csv:2:", "a.csv:4:"]
    assert len(problems) == 101
    assert str(problems[-1]) == "and: 100 more like these"


def test_people_are_not_tied_to_themselves_and_a_tie_counts_once() -> None:
    looked_at = preview(csv("person,contact", "Ann,Ben", "Ben,Ann", "Ann,Ann"))
    assert looked_at.ready
    assert "tied to themselves" in str(looked_at.notes[0])
    assert len(looked_at.bundle.ties) == 1


def test_similar_names_are_reported_and_can_be_merged() -> None:
    looked_at = preview(
        Source("n.zip", packed(network_canvas())), existing=[("P1", "Benn"), ("P2", "Zoë"), ("P3", "Xavier")]
    )
    in_study = {each.name: (each.other_code, each.in_study) for each in looked_at.duplicates}
    assert in_study == {"Ben": ("P1", True), "Zoe": ("P2", True)}
    roster = preview(csv("name", "María Ángeles", "Angeles Maria", "Maria Angelez", "Tom"))
    codes = {(each.code, each.other_code) for each in roster.duplicates}
    assert ("new-2", "new-1") in codes or ("new-1", "new-2") in codes
    bundle = take(roster, merges={"new-2": "new-1", "new-3": "new-2"})
    assert list(bundle.names.values()) == ["María Ángeles", "Tom"]


def test_merging_joins_ties_and_statuses() -> None:
    looked_at = preview(csv("Source,Target,named_by", "A,B,A", "C,B,C", "A,C,A"))
    bundle = take(looked_at, merges={"C": "A"})
    assert [person.code for person in bundle.people] == ["A", "B"]
    assert [(tie.source, tie.target, tie.named_by) for tie in bundle.ties] == [("A", "B", ("A",))]
    with pytest.raises(InputError, match="circle"):
        take(looked_at, merges={"A": "B", "B": "A"})


def test_large_files_are_compared_quickly() -> None:
    names = [f"Person{i} Family{i * 7}" for i in range(MAX_COMPARED + 1)]
    looked_at = preview(csv("name", *names), existing=[("P1", "family7 PERSON1"), ("P2", "Somebody Else")])
    assert [(each.name, each.other_code) for each in looked_at.duplicates] == [("Person1 Family7", "P1")]


def test_people_need_not_be_listed_if_there_are_ties() -> None:
    bundle = take(preview(csv("Source;Target;Type;Weight", "A;B;Directed;2", "B;C;Undirected;")))
    assert [tie.named_by for tie in bundle.ties] == [("A",), ()]
    assert [tie.weight for tie in bundle.ties] == [2.0, 1.0]


def test_suggestions_do_not_fall_for_look_alikes() -> None:
    main = ["category", "enumerator_name", "phone_of_contact", "full_name", "_uuid", "_index"]
    pets, friends = ["pet", "_parent_index"], ["friend_phone_number", "friends_first_name", "_parent_index"]
    sheets = {
        "main": [main, ["x", "Eve", "1", "Zoe", "u", 1]],
        "pets": [pets, ["Rex", 1]],
        "friends": [friends, ["555", "Ann", 1]],
    }
    looked_at = preview(Source("k.xlsx", workbook(sheets)))
    assert looked_at.mapping["respondent.name"] == "full_name"
    assert looked_at.mapping["contact.name"] == "friends_first_name"
    assert set(looked_at.bundle.names.values()) == {"Zoe", "Ann"}
    assert [str(note) for note in looked_at.notes] == ["k.xlsx [pets]: not needed, left out"]
    chosen = preview(Source("k.xlsx", workbook(sheets)), mapping={"contact.table": "pets", "contact.name": "pet"})
    assert set(chosen.bundle.names.values()) == {"Zoe", "Rex"}


@pytest.mark.parametrize(
    ("columns", "left_out"),
    [
        ("name,contact", "'contact'"),
        ("name,coupon1,coupon2", "'coupon1', 'coupon2'"),
        ("name,recruiter", "'recruiter'"),
        ("person_code,friend1", "'friend1'"),
        ("person_code,name,referred_by", "'referred_by'"),
        ("person,contact,contact2", "'contact2'"),
        ("person1,person2,person3", "'person3'"),
        ("person,contact,friend", "'friend'"),
        ("id,recruiter.id,friend1", "'friend1'"),
    ],
)
def test_contacts_are_refused_rather_than_left_out(columns: str, left_out: str) -> None:
    row = ["Ann", *(chr(66 + i) * 3 for i in range(columns.count(",")))]
    phones = ["Bob,555-0101", "Dan,555-0102"] if columns == "name,contact" else []  # most are no names
    looked_at = preview(csv(columns, ",".join(row), *phones))
    assert not looked_at.ready
    (problem,) = (str(each) for each in looked_at.problems if "not understood" in str(each))
    assert problem.startswith(f"a.csv:1: contacts in the columns {left_out} are not understood; a list of ties has")
    with pytest.raises(InputError, match="are not understood"):
        take(looked_at)


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("name,contact", "Ann,555-0101"),
        ("name,contact", "Ann,ann@example.org"),
        ("name,contact details", "Ann,Mill Road"),
        ("name,friend", "Ann,yes"),
        ("name,friends", "Ann,3"),
        ("name,friend1,friend2", "Ann,,"),
        ("name,contact_2024", "Ann,by letter"),
        ("id,recruiter.id,coupon1,coupon2", "1,seed,17,18"),
        ("source,target,named_by", "A,B,A"),
        ("source,target,recruiter", "A,B,Eve"),
        ("person_code,status,first_named_by", "A,named,"),
    ],
)
def test_other_columns_are_left_out(columns: str, row: str) -> None:
    assert preview(csv(columns, row)).ready


def test_several_people_in_a_cell_are_refused() -> None:
    looked_at = preview(csv("person,contact", "Ann,Ben; Cleo"))
    assert [str(each) for each in looked_at.problems] == [
        "a.csv:2: 'Ben; Cleo' is several people in one cell; write one contact a line"
    ]


def test_contacts_in_a_form_are_refused_beside_a_repeat_too() -> None:
    main = ["your_name", "partner", "friend_1", "_uuid", "_index"]
    sheets = {
        "main": [main, ["Zoe", "married", "Ben", "u", 1]],
        "contacts": [["contact_name", "_parent_index"], ["Ann", 1]],
    }
    (problem,) = preview(Source("k.xlsx", workbook(sheets))).problems
    assert "contacts in the columns 'friend_1' are not understood" in str(problem)


def test_findings_are_worded_by_a_catalogue() -> None:
    """Also the part a column plays, and an error that quotes a finding."""
    looked_at = preview(csv("person_code,n_contacts", "A,many", "B,-1"))
    catalogue = {
        "{title} {value} is not a whole number": "{title} {value} no es un número entero",
        "{problem} (and {more} more problems)": "{problem} (y {more} problemas más)",
    }
    spanish = "a.csv:2: n_contacts 'many' no es un número entero"
    assert looked_at.problems[0].translated(catalogue) == spanish
    with pytest.raises(InputError) as refused:
        take(looked_at)
    assert refused.value.message.translated(catalogue) == f"{spanish} (y 1 problemas más)"
    (missing,) = preview(csv("age", "7")).problems
    asked = {"which column holds {role}? there are {columns}": "¿{role}? {columns}", "the names": "los nombres"}
    assert missing.translated(asked) == "a.csv:1: ¿los nombres? 'age'"
