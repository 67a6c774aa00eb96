"""Files as other programs write them become the network they stand for."""

from collections.abc import Callable, Mapping

import pytest
from exchange_files import (
    ANN,
    BEN,
    CLEO,
    EGO_A,
    EGO_B,
    SESSION_A,
    crlf,
    egoweb,
    kobo,
    network_canvas,
    odk,
    packed,
    read,
    workbook,
)  # fmt: skip

from claim.field.exchange import preview
from claim.field.exchange.records import Bundle
from claim.io.text import Source, shown


def uploads(members: Mapping[str, str | bytes]) -> list[Source]:
    return [Source(name, text.encode() if isinstance(text, str) else text) for name, text in members.items()]


def pairs(bundle: Bundle) -> set[frozenset[str]]:
    return {frozenset((tie.source, tie.target)) for tie in bundle.ties}


def named_pairs(bundle: Bundle) -> set[frozenset[str]]:
    names = bundle.names
    return {frozenset(names[code] for code in pair) for pair in pairs(bundle)}


def both(*each: str) -> set[frozenset[str]]:
    return {frozenset(pair.split("-", 1)) for pair in each}


def statuses(bundle: Bundle) -> dict[str | None, str]:
    return {person.name: person.status for person in bundle.people}


@pytest.mark.parametrize("zipped", [True, False])
def test_network_canvas_adds_the_ego_and_goes_by_uuid(zipped: bool) -> None:
    members = network_canvas()
    files = [Source("export.zip", packed(members))] if zipped else uploads(members)
    looked_at = preview(files)
    bundle = looked_at.bundle
    assert (looked_at.format, looked_at.ready) == ("network-canvas", True)
    assert {person.code for person in bundle.people} == {EGO_A, EGO_B, ANN, BEN, CLEO}  # not the venue
    assert named_pairs(bundle) == both("Zoe-Ann", "Zoe-Ben", "Zoe-Cleo", "Ann-Ben")
    assert all(tie.named_by == (EGO_A,) for tie in bundle.ties)
    first = bundle.surveys[0]
    assert (first.survey_id, first.person_code, first.outcome, first.n_named) == (SESSION_A, EGO_A, "answered", 3)
    assert [each.outcome for each in bundle.surveys] == ["answered", "named nobody"]
    assert statuses(bundle) == {"Zoe": "surveyed", "Yan": "surveyed", "Ann": "named", "Ben": "named", "Cleo": "named"}
    assert any("Venue" in str(note) for note in looked_at.notes)


def test_network_canvas_changed_node_ids_change_nothing() -> None:
    members = network_canvas()
    before = read(*uploads(members))
    renumbered = {name: text.replace("\r\n1,", "\r\n91,").replace("1,1,2", "1,91,2") for name, text in members.items()}
    assert read(*uploads(renumbered)) == before


def test_network_canvas_types_of_people_can_be_chosen() -> None:
    bundle = read(*uploads(network_canvas()), mapping={"alter.types": "Person, Venue"})
    assert "Bar" in bundle.names.values()


def test_network_canvas_without_its_ego_files_is_a_problem() -> None:
    members = {name: text for name, text in network_canvas().items() if "_ego" not in name}
    assert "in no ego file" in str(preview(uploads(members)).problems[0])


def test_egoweb_joins_egos_and_alters_by_name() -> None:
    looked_at = preview(uploads(egoweb()))
    bundle = looked_at.bundle
    assert (looked_at.format, looked_at.ready) == ("egoweb", True)
    assert named_pairs(bundle) == both("Zoe-Ann", "Zoe-Ben", "Zoe-Cleo", "Ann-Ben")
    assert statuses(bundle)["Yan"] == "surveyed"
    assert [(each.survey_id, each.outcome) for each in bundle.surveys] == [
        ("7", "answered"), ("8", "answered"), ("9", "named nobody"),
    ]  # fmt: skip
    zoe = next(person for person in bundle.people if person.name == "Zoe")
    assert (zoe.n_contacts, zoe.times_named) == (3, 1)


def test_egoweb_which_answer_ties_a_pair_can_be_chosen() -> None:
    bundle = read(*uploads(egoweb()), mapping={"pair.tied": "TALK"})
    assert named_pairs(bundle) == both("Zoe-Ann", "Zoe-Ben", "Zoe-Cleo", "Ann-Cleo")


def test_egoweb_names_need_not_be_joined() -> None:
    bundle = read(*uploads(egoweb()), join_names=False)
    assert sum(name.casefold() == "zoe" for name in bundle.names.values()) > 1


@pytest.mark.parametrize("shared", [False, True])
def test_kobo_workbook(shared: bool) -> None:
    looked_at = preview(Source("survey.xlsx", kobo(shared)))
    bundle = looked_at.bundle
    assert (looked_at.format, looked_at.problems) == ("kobo", ())
    assert looked_at.mapping["respondent.name"] == "group_a/your_name"
    assert looked_at.mapping["contact.name"] == "contacts/contact_name"
    assert named_pairs(bundle) == both("Zoe-Ann", "Zoe-Yan", "Zoe-42")
    assert statuses(bundle)["Xia"] == "refused"
    first = bundle.surveys[0]
    assert (first.survey_id, first.started_at, first.ended_at) == (
        "root-1",
        "2026-03-01T12:00:00",
        "2026-03-01T18:00:00",
    )
    assert [each.outcome for each in bundle.surveys] == ["answered", "named nobody", "refused"]


CONSENT = {
    "yes": "surveyed", "Yes, I agree": "surveyed", "Sí": "surveyed", "No, thank you": "refused", "": "refused",
    "disagree": "refused", "do_not_consent": "refused", "maybe": None,
}  # fmt: skip


@pytest.mark.parametrize("said", CONSENT)
def test_only_a_yes_is_consent(said: str) -> None:
    members = odk()
    members["census.csv"] = str(members["census.csv"]).replace("Zoe,yes", f'Zoe,"{said}"')
    looked_at = preview(uploads({"export.zip": packed(members)}))
    problems = [str(each) for each in looked_at.problems]
    if CONSENT[said] is None:
        assert "neither yes nor no" in problems[0]
    else:
        assert not problems
        assert next(each.status for each in looked_at.bundle.people if each.name == "Zoe") == CONSENT[said]


def test_odk_zip_leaves_photos_alone_and_contacts_of_refusals_out() -> None:
    members = odk()
    members["census-contacts.csv"] = str(members["census-contacts.csv"]) + "Wu,uuid:3,uuid:3/contacts[1]\r\n"
    looked_at = preview(Source("export.zip", packed(members)))
    assert (looked_at.format, looked_at.problems) == ("odk", ())
    assert named_pairs(looked_at.bundle) == both("Zoe-Ann", "Zoe-Yan")
    assert "Wu" not in looked_at.bundle.names.values()
    assert [each.survey_id for each in looked_at.bundle.surveys] == ["1", "2", "3"]


def test_rds_start_people_share_a_recruiter() -> None:
    text = crlf("id,recruiter.id,network.size,time", "1,seed,5,0", "2,1,3,1", "3,1,,2", "4,seed,0,0")
    looked_at = preview(Source("rds.csv", text.encode()))
    bundle = looked_at.bundle
    assert (looked_at.format, looked_at.ready) == ("rds", True)
    assert {person.code for person in bundle.people if person.is_start} == {"1", "4"}
    assert pairs(bundle) == both("1-2", "1-3")
    assert bundle.people[0].n_contacts == 5


def test_roster() -> None:
    text = crlf("name,house", "Ann Lee,1", "Ben,2", "ann  lee,1", ",3")
    looked_at = preview(Source("roster.csv", text.encode()))
    assert (looked_at.format, looked_at.ready) == ("roster", True)
    assert list(looked_at.bundle.names.values()) == ["Ann Lee", "Ben"]


def test_roster_in_a_workbook_or_with_other_columns() -> None:
    sheet = workbook({"People": [["name", "since"], ["Ann", ("46082", 's="1"')], ["Ben", ("12", 's="3"')]]})
    assert list(read(Source("people.xlsx", sheet)).names.values()) == ["Ann", "Ben"]
    unknown = preview(Source("people.csv", crlf("Who,Since", "Ann,1", "Ben,2").encode()))
    assert not unknown.ready
    assert "which column holds the names" in str(unknown.problems[0])
    chosen = preview(Source("people.csv", crlf("Who,Since", "Ann,1").encode()), mapping={"roster.name": "Who"})
    assert list(chosen.bundle.names.values()) == ["Ann"]


GEPHI_GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="label" attr.type="string" for="node" id="label"/>
<key attr.name="x" attr.type="float" for="node" id="x"/>
<key attr.name="y" attr.type="float" for="node" id="y"/>
<key attr.name="status" attr.type="string" for="node" id="status"/>
<key attr.name="weight" attr.type="double" for="edge" id="weight"/>
<graph edgedefault="undirected">
<node id="1"><data key="label">Ann</data><data key="x">1.5</data><data key="y">-2</data>
<data key="status">married</data></node>
<node id="2"><data key="label">2</data></node>
<edge source="1" target="2"><data key="weight">2.0</data></edge>
</graph></graphml>"""
GEPHI_GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">
<graph defaultedgetype="directed">
<nodes><node id="1" label="Ann"><viz:position x="1.5" y="-2"/></node><node id="2" label="2"/></nodes>
<edges><edge id="0" source="1" target="2" weight="2.0"/></edges></graph></gexf>"""


@pytest.mark.parametrize(("name", "text"), [("net.graphml", GEPHI_GRAPHML), ("net.gexf", GEPHI_GEXF)])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_gephi_files(name: str, text: str, encoding: str) -> None:
    content = text.replace('encoding="UTF-8"', "" if "16" in encoding else 'encoding="UTF-8"').encode(encoding)
    bundle = read(Source(name, content))
    ann, two = bundle.people
    assert (ann.code, ann.name, ann.x, ann.y, ann.status) == ("1", "Ann", 1.5, -2.0, "named")
    assert (two.code, two.name) == ("2", None)
    assert (bundle.ties[0].weight, bundle.ties[0].named_by) == (2.0, ("1",) if "gexf" in name else ())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_encodings_and_separators(encoding: str, separator: str) -> None:
    text = crlf(separator.join(["person", "contact"]), separator.join(["Añá", "Ben"]))
    content = b"\xff\xfe" + text.encode("utf-16-le") if encoding.endswith("bom") else text.encode(encoding)
    assert pairs(read(Source("ties.csv", content))) == both("Añá-Ben")


def test_cells_of_a_workbook() -> None:
    rows = [
        ["name", "date", "day", "time", "number", "truth", "formula", "error", "escaped"],
        ["Ann", ("46082.5", 's="2"'), ("46082", 's="1"'), ("0.5", 's="2"'), 2.5, True, ("x", 't="str"'),
         ("#N/A", 't="e"'), "a_x0001_b_x005F_"],
    ]  # fmt: skip
    sample = preview(Source("a.xlsx", workbook({"S": rows}))).tables[0]
    assert sample.rows[0].cells == (
        "Ann", "2026-03-01T12:00:00", "2026-03-01", "12:00:00", "2.5", "true", "x", "", "a\x01b_",
    )  # fmt: skip


def with_column(text: str, column: str, *cells: str) -> str:
    """A table with one more column."""
    lines = text.split("\r\n")[:-1]
    return crlf(*(f"{line},{cell}" for line, cell in zip(lines, (column, *cells), strict=True)))


@pytest.mark.parametrize("program", [network_canvas, egoweb, odk])
def test_interviews_say_who_knows_the_most_people(program: Callable[[], dict[str, str]]) -> None:
    members, row = program(), ("no", "yes", "")
    name = next(each for each in members if each.endswith(("_Person.csv", "ego-alter.csv", "-contacts.csv")))
    rows = members[name].count("\r\n") - 1
    members[name] = with_column(members[name], "knows_the_most", *(*row, "", "", "")[:rows])
    bundle = read(Source("interviews.zip", packed(members)))
    marked = {person.name: bundle.names[person.marked] for person in bundle.people if person.marked}
    assert marked == {"Zoe": "Yan" if program is odk else "Ben"}
    members[name] = members[name].replace(",no\r\n", ",yes\r\n")
    again = preview(Source("interviews.zip", packed(members)))
    assert [str(each).partition(":3: ")[2] for each in again.notes if "marks" in str(each)] == [
        f"{shown(next(p.code for p in bundle.people if p.name == 'Zoe'))} marks more than one contact: left out"
    ]


def test_a_workbook_says_who_knows_the_most_people() -> None:
    sheets = {
        "main": [["your_name", "_uuid", "_index"], ["Zoe", "u", 1]],
        "contacts": [["contact_name", "hub", "_parent_index"], ["Ann", 0, 1], ["Ben", 1, 1]],
    }
    bundle = read(Source("k.xlsx", workbook(sheets)))
    assert {person.name: bundle.names.get(person.marked or "") for person in bundle.people} == {
        "Zoe": "Ben", "Ann": None, "Ben": None
    }  # fmt: skip
